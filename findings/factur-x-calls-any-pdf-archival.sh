#!/usr/bin/env bash
# factur-x 7.8 (PyPI), an invoice's XML put into a PDF (Factur-X, ZUGFeRD).
#
# Seen: a PDF whose font isn't embedded and that has no output intent is taken without a word. The
# result says of itself in its metadata that it is PDF/A-3B, with the font still missing and still
# no output intent. Its own reader finds the XML in it.
#
# Most expect: an error, or a file that doesn't claim what it isn't, as PDF/A needs both.
#
# Why it matters: receivers and archives that check the claim (veraPDF) turn the invoice away, after
# the sender's tools have called it fine. The PDF has to be made as PDF/A-3 before.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet factur-x==7.8 drafthorse==2025.2.0 reportlab==5.0.0 \
    pypdf==7.1.0 2>/dev/null
"$folder/venv/bin/pip" list 2>/dev/null | grep -i -E '^(factur-x|reportlab)'
cat >"$folder/put.py" <<'PY'
import io
import logging
from datetime import date
from decimal import Decimal

import facturx
from drafthorse.models.document import Document
from pypdf import PdfReader
from reportlab.pdfgen import canvas

logging.disable(logging.CRITICAL)
bill = Document()
bill.context.guideline_parameter.id = "urn:factur-x.eu:1p0:minimum"
bill.header.id, bill.header.type_code = "1", "380"
bill.header.issue_date_time = date(2026, 12, 1)
for party, name in ((bill.trade.agreement.seller, "Shop"), (bill.trade.agreement.buyer, "Buyer")):
    party.name = name
    party.address.country_id = "DE"
bill.trade.settlement.currency_code = "EUR"
sums = bill.trade.settlement.monetary_summation
sums.tax_basis_total = sums.grand_total = sums.due_amount = Decimal("10.00")
sums.tax_total = (Decimal("0.00"), "EUR")
xml = bill.serialize(schema=None)
page = io.BytesIO()
drawing = canvas.Canvas(page)
drawing.drawString(50, 700, "Invoice 1")
drawing.save()
made = facturx.generate_from_binary(page.getvalue(), xml, check_xsd=False)
read = PdfReader(io.BytesIO(made))
root = read.trailer["/Root"]
metadata = root["/Metadata"].get_data().decode()
claim = "part>3<" in metadata and "conformance>B<" in metadata
fonts = read.pages[0]["/Resources"]["/Font"].values()
embedded = all("/FontDescriptor" in font.get_object() for font in fonts)
print(f"claims PDF/A-3B: {claim}; output intent: {'/OutputIntents' in root}; fonts: {embedded}")
print("its reader finds:", facturx.get_xml_from_pdf(made, check_xsd=False)[0])
PY
seen=$("$folder/venv/bin/python" "$folder/put.py")
echo "$seen"
[ "$seen" = "claims PDF/A-3B: True; output intent: False; fonts: False
its reader finds: factur-x.xml" ] || { echo "no longer as described"; exit 1; }
echo "as described"
