#!/usr/bin/env bash
# bip21 3.0.0 (npm), payment links of Bitcoin (BIP-21).
#
# Seen: amounts below 0.000001 are written as JavaScript writes numbers: one satoshi becomes
# amount=1e-8. Its own decoder takes that back without a word. An amount that is handed over as text
# is written as it is.
#
# Most expect: a decimal number, as BIP-21's grammar has digits and a point alone.
#
# Why it matters: wallets that keep to the grammar refuse the link or read 1; small amounts are what
# fees, dust tests and assets with eight decimals are made of. Amounts have to be handed over as text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund bip21@3.0.0 >/dev/null
npm ls --depth=0 | tail -n +2
cat >write.mjs <<'JS'
import { decode, encode } from "bip21";
const address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
for (const amount of [0.00001, 0.0000001, 0.00000001, "0.00000001"]) {
  const link = encode(address, { amount });
  console.log(JSON.stringify(amount), link.split("?")[1], decode(link).options.amount);
}
JS
seen=$(node write.mjs)
echo "$seen"
[ "$seen" = '0.00001 amount=0.00001 0.00001
1e-7 amount=1e-7 1e-7
1e-8 amount=1e-8 1e-8
"0.00000001" amount=0.00000001 1e-8' ] || { echo "no longer as described"; exit 1; }
echo "as described"
