#!/usr/bin/env bash
# eth-url-parser 1.0.4 (npm), payment links of Ethereum (EIP-681).
#
# Seen: amounts in a link are expanded to plain digits, 1.5e18 as well, up to 21 digits. From 10^21 on,
# a thousand units of a token with eighteen decimals, the parsed amount has a point and an exponent,
# even where the link had plain digits. BigInt refuses it.
#
# Most expect: whole atomic units as plain digits, however many.
#
# Why it matters: a wallet's payment screen works with every test amount and fails from a thousand
# DAI on. The text has to go through a decimal library.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund eth-url-parser@1.0.4 >/dev/null
npm ls --depth=0 | tail -n +2
cat >read.cjs <<'JS'
const { parse } = require("eth-url-parser");
const token = "0x6B175474E89094C44Da98b954EedeAC495271d0F";
const to = "0x8e23ee67d1332ad560396262c48ffbb01f93d052";
for (const amount of ["999000000000000000000", "1000000000000000000001", "1.5e18", "1.5e21"]) {
  const link = `ethereum:${token}@1/transfer?address=${to}&uint256=${amount}`;
  const read = parse(link).parameters.uint256;
  let whole;
  try {
    whole = BigInt(read) > 0n;
  } catch (error) {
    whole = error.name;
  }
  console.log(amount, read, whole);
}
JS
seen=$(node read.cjs)
echo "$seen"
[ "$seen" = '999000000000000000000 999000000000000000000 true
1000000000000000000001 1.000000000000000000001e+21 SyntaxError
1.5e18 1500000000000000000 true
1.5e21 1.5e+21 SyntaxError' ] || { echo "no longer as described"; exit 1; }
echo "as described"
