#!/usr/bin/env bash
# multicoin-address-validator 0.5.26 (npm) and coinaddrvalidator 1.2.3 (PyPI): the same addresses.
#
# Seen: a Litecoin script address in its older form (3...) is refused by the first and taken by the
# second. A Bitcoin taproot address (bc1p...) is taken by the first and refused by the second. Each
# calls the refused one plainly invalid.
#
# Most expect: both to take both. Litecoin's own node reads 3... and M... as one script, and taproot
# addresses are in use since 2021.
#
# Why it matters: a shop that checks refund addresses in its page with one and on its server with the
# other refuses customers of ordinary wallets, at one of the two places.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund multicoin-address-validator@0.5.26 >/dev/null
python3 -m venv venv
venv/bin/pip install --quiet coinaddrvalidator==1.2.3 2>/dev/null
cat >list.txt <<'TXT'
ltc 3CDJNfdWX8m2NwuGUV3nhXHXEeLygMXoAj
ltc MGxNPPB7eBoWPUaprtX9v9CXJZoD2465zN
ltc ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9
btc bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0
btc bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
TXT
cat >npm.js <<'JS'
const { validate } = require("multicoin-address-validator");
for (const line of require("fs").readFileSync("list.txt", "utf8").trim().split("\n")) {
  const [coin, address] = line.split(" ");
  console.log(validate(address, coin) ? "yes" : "no");
}
JS
cat >pypi.py <<'PY'
from coinaddrvalidator import validate
for line in open("list.txt"):
    coin, address = line.split()
    print("yes" if validate(coin, address).valid else "no")
PY
echo "multicoin-address-validator 0.5.26, coinaddrvalidator 1.2.3"
seen=$(paste -d' ' <(cut -c1-8 list.txt) <(node npm.js) <(venv/bin/python pypi.py))
echo "$seen"
[ "$seen" = "ltc 3CDJ no yes
ltc MGxN yes yes
ltc ltc1 yes yes
btc bc1p yes no
btc bc1q yes yes" ] || { echo "no longer as described"; exit 1; }
echo "as described"
