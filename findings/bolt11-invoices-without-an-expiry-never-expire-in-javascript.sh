#!/usr/bin/env bash
# bolt11 1.4.1 and light-bolt11-decoder 3.2.0 (npm), bolt11 2.2.0 with bitstring 4.3.1 (PyPI): when a
# Lightning invoice expires.
#
# Seen: of an invoice that names no expiry, both JavaScript libraries say none; the Python one says 3600
# seconds. Of one that names 60 seconds, all three say 60. (Two invoices of BOLT 11's own examples.)
#
# Most expect: 3600 from all, the default that BOLT 11 gives to the field ("Default is 3600 (1 hour) if
# not specified"). Most wallets leave the field out when it is an hour.
#
# Why it matters: a page that counts down, or a server that stops to wait, by `timeExpireDate` or
# `expiry` treats the usual invoice as one that is good forever.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund bolt11@1.4.1 light-bolt11-decoder@3.2.0 >/dev/null
python3 -m venv venv
venv/bin/pip install --quiet bolt11==2.2.0 bitstring==4.3.1 2>/dev/null
cat >invoices.txt <<'TXT'
lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql
lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh
TXT
cat >ask.js <<'JS'
const full = require("bolt11");
const light = require("light-bolt11-decoder");
for (const text of require("fs").readFileSync("invoices.txt", "utf8").trim().split("\n")) {
  const one = full.decode(text);
  const seconds = one.timeExpireDate ? one.timeExpireDate - one.timestamp : "none";
  console.log("bolt11 (npm):", seconds, "| light-bolt11-decoder:", light.decode(text).expiry ?? "none");
}
JS
cat >ask.py <<'PY'
import bolt11
for text in open("invoices.txt").read().split():
    print("bolt11 (PyPI):", bolt11.decode(text).expiry)
PY
seen=$(node ask.js; venv/bin/python ask.py)
echo "$seen"
[ "$seen" = "bolt11 (npm): none | light-bolt11-decoder: none
bolt11 (npm): 60 | light-bolt11-decoder: 60
bolt11 (PyPI): 3600
bolt11 (PyPI): 60" ] || { echo "no longer as described"; exit 1; }
echo "as described"
