#!/usr/bin/env bash
# x402 2.25.0 (PyPI) and @x402/evm 2.27.0 (npm), prices of a seller in dollars.
#
# Seen: what a price has beyond a token's smallest unit is cut off. "$0.0000001" becomes an amount of
# 0 without an error, in Python and in TypeScript, and the offer asks for nothing. Of a price with a
# comma or an exponent both say that it is no price.
#
# Most expect: an error, or at least one unit, as for any other price that can't be paid.
#
# Why it matters: prices by the token, the byte or the second are that small. A seller who writes one
# gives the thing away and hears nothing of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
./venv/bin/pip install --quiet 'x402[evm]==2.25.0' 2>/dev/null
./venv/bin/pip list 2>/dev/null | grep -i '^x402'
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @x402/evm@2.27.0 @x402/core@2.27.0 >/dev/null
npm ls --depth=0 | grep '@x402/evm'
cat >price.py <<'PY'
from x402.mechanisms.evm.exact import ExactEvmServerScheme

for price in ("$0.000001", "$0.0000015", "$0.0000001"):
    print(price, ExactEvmServerScheme().parse_price(price, "eip155:8453").amount)
PY
cat >price.mjs <<'JS'
import { ExactEvmScheme } from "@x402/evm/exact/server";

for (const price of ["$0.000001", "$0.0000015", "$0.0000001"]) {
  console.log(price, (await new ExactEvmScheme().parsePrice(price, "eip155:8453")).amount);
}
JS
expected='$0.000001 1
$0.0000015 1
$0.0000001 0'
for seen in "$(./venv/bin/python price.py)" "$(node price.mjs)"; do
    echo "$seen"
    [ "$seen" = "$expected" ] || { echo "no longer as described"; exit 1; }
done
echo "as described"
