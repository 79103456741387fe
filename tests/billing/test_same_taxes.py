"""The tax of an invoice, by category and rate, is the same to the cent wherever it is said: API,
pages, PDF, XML in every format, tax report, and the lines and notes of the books."""

import io
import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags
from pypdf import PdfReader

from apps.billing.e_invoices.formats import COMMON_FORMATS
from apps.billing.invoices import e_invoice
from apps.billing.models import Invoice
from apps.core import clock
from apps.core.money import text_from_cents
from apps.reports.models import Report
from tests import make
from tests.billing import records as r
from tests.cast import Shop
from tests.dashboard.browse import Browser, text
from tests.e_invoices import checking
from tests.e_invoices.generated import rates, seller
from tests.reports.reading import every_row_of, made

pytestmark = pytest.mark.django_db
# Category, rate, base and tax: each group is rounded once.
Taxes = set[tuple[str, str, str, str]]
RATES = (
    {"category": "S", "rate_bps": 1900},
    {"category": "S", "rate_bps": 550},
    {"category": "E", "rate_bps": 0, "reason": "§ 4 Nr. 21 UStG"},
)
EXPECTED: Taxes = {
    ("S", "19", "72.63", "13.80"),
    ("S", "5.5", "27.11", "1.49"),
    ("E", "0", "9.68", "0.00"),
}


def billed(shop: Shop) -> dict[str, Any]:
    """74.87 at 19%, 27.95 at 5.5% and 9.98 without tax, less 3%: 3.38 of 112.80."""
    seller(shop)
    standard, reduced, exempt = rates(shop.test, *RATES)
    owner = r.customer(
        shop.test,
        name="Boulangerie",
        address={"line1": "Rue 1", "postal_code": "75001", "city": "Paris", "country": "FR"},
        electronic_address="9957:FR40303265045",
        buyer_reference="04011000-12345-34",
    )
    lines = [
        {**r.line(2497), "tax_rate_id": standard},
        {**r.line(4990), "tax_rate_id": standard},
        {**r.line(559, 5), "tax_rate_id": reduced},
        {**r.line(998), "tax_rate_id": exempt},
    ]
    terms = {"discount_type": "percent", "discount_value": 3}
    opened = r.opened(shop.test, customer_id=owner["id"], line_items=lines, **terms)
    return r.pay(shop.test, opened)


def percent(rate: str) -> str:
    return f"{Decimal(rate).normalize():f}"


def in_words(taxes: Taxes) -> set[str]:
    return {f"{category} {rate}%: {tax} of {base} EUR" for category, rate, base, tax in taxes}


def test_each_place_says_the_same_tax(bakery: Shop) -> None:
    sent = billed(bakery)
    invoice = Invoice.objects.select_related("store", "customer").get(pk=sent["id"])
    assert {
        (
            tax["category"],
            percent(str(tax["rate_bps"] / 100)),
            text_from_cents(tax["base_cents"]),
            text_from_cents(tax["tax_cents"]),
        )
        for tax in sent["taxes"]
    } == EXPECTED

    for key in COMMON_FORMATS:
        xml = e_invoice.e_invoice_xml(invoice, key)
        assert xml is not None, key
        assert {
            (tax["BT-118"], percent(tax.get("BT-119") or "0"), tax["BT-116"], tax["BT-117"])
            for tax in checking.read(xml)["BG-23"]
        } == EXPECTED, key

    public = f"/invoice/{sent['public_token']}"
    pdf = PdfReader(io.BytesIO(Client().get(f"{public}/invoice.pdf").content))
    shown = {
        "customer's page": Client().get(public).content.decode(),
        "merchant's page": text(Browser(bakery.owner).get(f"invoices/{sent['id']}")),
        "PDF": "\n".join(page.extract_text() for page in pdf.pages),
    }
    for place, words in shown.items():
        for _, _, _, tax in EXPECTED - {("E", "0", "9.68", "0.00")}:
            assert f"€{tax}" in words, (place, tax)

    make.advance(bakery.test, 2 * r.DAY)
    access = bakery.access()
    today = clock.now(access.store, access.mode).date()
    days = (today.replace(day=1) if today.day > 3 else f"{today.year}-01-01"), invoice.issued_on
    report = every_row_of(made(access, *days, Report.Type.TAX_REPORT))
    assert {
        (row["category"], percent(row["rate"]), row["base"], row["tax"])
        for row in report
        if row["category"]
    } == EXPECTED

    statement = every_row_of(made(access, *days, Report.Type.MERCHANT_STATEMENT))
    assert {
        (row["kind"], percent(row["tax_rate"]), row["base"], row["tax"])
        for row in statement
        if row["section"] == "invoice_tax"
    } == EXPECTED
    drawn = made(access, *days, Report.Type.MERCHANT_STATEMENT, format="pdf")
    drawn_words = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(drawn)).pages)
    period = f"?from={days[0]}&to={invoice.issued_on}"
    page = strip_tags(text(Browser(bakery.owner).get(f"statement{period}")))
    for category, rate, base, tax in EXPECTED:
        assert re.search(rf"{category}\s+{rate}%\s+1\s+0\s+€{base}\s+€{tax}", drawn_words), tax
        assert re.search(rf"{rate}%\s+{category}\s+\S+\s+1\s+0\s+€{base}\s+€{tax}", page), tax

    rows = [row for row in every_row_of(made(access, *days)) if row["invoice"]]
    assert {row["invoice"] for row in rows} == {sent["formatted_number"]}
    assert {part for row in rows for part in row["invoice_tax"].split("; ")} == in_words(EXPECTED)
    for form in ("hledger", "ledger", "beancount"):
        journal = made(access, *days, format=form).decode()
        notes = re.findall(r"tax: (.*)", journal)
        assert notes and all(
            f"{tax} of {base} EUR" in note for note in notes for _, _, base, tax in EXPECTED
        ), form
