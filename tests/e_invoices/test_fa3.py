"""Generated invoices and credit notes of a Polish seller before the official schema of FA(3), and
read by a library of other hands: to the cent."""

import random
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from apps.billing.e_invoices.bills import Bill
from apps.billing.invoices import e_invoice
from apps.billing.models import CreditNote
from apps.core.money import text_from_cents
from tests.billing import records as r
from tests.cast import Shop
from tests.e_invoices import fa3
from tests.e_invoices.generated import CURRENCIES, bought, rates, row, seller
from tests.reports.programs import read_by

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not fa3.is_there(), reason="no schema of FA(3)"),
]
POLISH = (
    {"category": "S", "rate_bps": 2300},
    {"category": "S", "rate_bps": 800, "inclusive": True},
    {"category": "S", "rate_bps": 500},
    {"category": "Z", "rate_bps": 0},
    {"category": "E", "rate_bps": 0, "reason": "art. 43 ust. 1 pkt 26 ustawy"},
    {"category": "AE", "rate_bps": 0, "reason": "Reverse charge", "reason_code": "VATEX-EU-AE"},
    {"category": "K", "rate_bps": 0, "reason": "Goods", "reason_code": "VATEX-EU-IC"},
    {"category": "G", "rate_bps": 0, "reason_code": "VATEX-EU-G"},
)
OUTSIDE = {"category": "O", "rate_bps": 0, "reason": "Taxed there", "reason_code": "VATEX-EU-O"}
COUNT, READ = 40, 6


def in_zloty(bill: Bill) -> Bill:
    return replace(bill, zloty_rate=Decimal("4.2537"))


def read(xml: bytes, path: Path, kind: str, net_cents: int) -> None:
    path.write_bytes(xml)
    found = read_by("fa3", path)
    assert not found["complaints"] and found["kind"] == kind
    assert found["net"] == text_from_cents(net_cents)
    assert abs(Decimal(found["products"]) - Decimal(found["net"])) < Decimal("0.01")


def test_invoices_and_credit_notes_of_every_polish_rate_are_valid(
    bakery: Shop, tmp_path: Path
) -> None:
    seller(bakery, "PL", "PL5260250274")
    dice = random.Random(31)
    ids = rates(bakery.test, *POLISH)
    outside = rates(bakery.test, OUTSIDE)
    words: Counter[str] = Counter()
    for n in range(COUNT):
        chosen = ids if n % 10 else outside
        made = bought(dice, bakery.test, chosen, CURRENCIES[n % len(CURRENCIES)])
        bill, xml = e_invoice.required_bill(row(made), "fa-3", in_zloty)
        assert fa3.complaints(xml) == [], made
        words.update(line.tax.category for line in bill.lines)
        if n < READ:
            read(xml, tmp_path / "invoice.xml", "BASIC", bill.basis_cents)
        if not made["total_cents"]:
            continue
        r.ok(r.act(bakery.test, made["id"], "mark_uncollectible"))
        path = f"/billing/invoices/{made['id']}/credit_notes"
        r.ok(bakery.test.post(path, {"credit_note": {"memo": "Zwrot"}}), 201)
        note = CreditNote.objects.get(invoice=made["id"])
        billed, xml = e_invoice.required_credit_note_bill(note, "fa-3", in_zloty)
        assert fa3.complaints(xml) == [], made
        if n < READ:
            read(xml, tmp_path / "note.xml", "CORRECTION", -billed.basis_cents)
    assert set(words) == {str(rate["category"]) for rate in (*POLISH, OUTSIDE)}


def test_the_schema_refuses_what_is_broken(bakery: Shop) -> None:
    seller(bakery, "PL", "PL5260250274")
    made = row(bought(random.Random(1), bakery.test, rates(bakery.test, POLISH[0])))
    _, xml = e_invoice.required_bill(made, "fa-3", in_zloty)
    for old, new in (
        (b">5260250274<", b">0260250274<"),
        (b"<P_12>23<", b"<P_12>19<"),
        (b"<P_15>", b"<P_15>1,"),
        (b"<RodzajFaktury>VAT</RodzajFaktury>", b""),
    ):
        assert old in xml and fa3.complaints(xml.replace(old, new)), old
