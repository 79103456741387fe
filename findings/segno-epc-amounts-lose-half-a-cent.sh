#!/usr/bin/env bash
# segno 1.6.6 (PyPI), `segno.helpers.make_epc_qr`: the amount of a bank transfer by QR code (EPC069-12).
#
# Seen: an amount with three decimals is taken without a word: 12.345 becomes EUR12.34 and 0.014
# becomes EUR0.01, while 12.355 becomes EUR12.36: halves go to the even cent. The read-back is by
# another library (zxing-cpp).
#
# Most expect: an error, since the code has cents only and the function refuses amounts below a cent
# and above 999999999.99; or halves that go up, as invoices and banks round.
#
# Why it matters: a price times a tax rate often ends in half a cent. The code then asks for a cent
# less than the invoice beside it, and the transfer is short.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet segno==1.6.6 zxing-cpp==2.3.0 pillow==11.3.0 numpy==2.2.6 2>/dev/null
cat >ask.py <<'PY'
from io import BytesIO
import segno
import zxingcpp
from PIL import Image
from segno.helpers import make_epc_qr

print("segno", segno.__version__)
for amount in ("12.345", "12.355", "0.014", "12.34"):
    out = BytesIO()
    code = make_epc_qr(name="A", iban="DE89370400440532013000", amount=amount, text="x")
    code.save(out, kind="png", scale=4)
    [read] = zxingcpp.read_barcodes(Image.open(out).convert("L"))
    print(amount, read.text.split("\n")[7])
PY
seen=$(venv/bin/python ask.py)
echo "$seen"
[ "$seen" = "segno 1.6.6
12.345 EUR12.34
12.355 EUR12.36
0.014 EUR0.01
12.34 EUR12.34" ] || { echo "no longer as described"; exit 1; }
echo "as described"
