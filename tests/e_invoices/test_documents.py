"""Two hundred generated invoices and credit notes before the rules of those who receive them.

`python -m tests.e_invoices --rules DIR` runs them against the official rules of XRechnung and
Peppol as well, which are in no package.
"""

import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from apps.billing.e_invoices.formats import COMMON_FORMATS
from apps.billing.invoices import e_invoice
from apps.billing.models import CreditNote, Invoice, TaxCategory
from tests.billing import records as r
from tests.cast import Shop
from tests.e_invoices import checking
from tests.e_invoices.generated import (
    CURRENCIES,
    OUTSIDE,
    TAXED,
    bought,
    check,
    check_note,
    give_back_part,
    is_half,
    pay_twice,
    rates,
    row,
    seller,
)

pytestmark = pytest.mark.django_db
COUNT = int(os.environ.get("TILLGATE_E_INVOICE_COUNT", "200"))
# Of each ten documents: invoices of one rate, and of several; a round of credit is three invoices
# and at least two notes; an invoice that is taken back in parts has two notes.
ONE_RATE = COUNT * 7 // 20
SEVERAL = COUNT * 6 // 20
ROUNDS = COUNT // 20
IN_PARTS = COUNT // 20
EVERY = list(COMMON_FORMATS)
# Formats that have documents outside VAT.
NOT_XRECHNUNG = [key for key in EVERY if not key.startswith("xrechnung")]


def folder() -> Path | None:
    named = os.environ.get("TILLGATE_E_INVOICE_RULES")
    return Path(named) if named else None


def keys(n: int) -> list[str]:
    """One format after the other; before official rules each document in all."""
    return EVERY if folder() is not None else [EVERY[n % len(EVERY)]]


def test_the_documents_here_are_two_hundred() -> None:
    assert ONE_RATE + SEVERAL + ROUNDS * 5 + IN_PARTS * 2 >= COUNT


def test_invoices_of_one_rate_pass_all_rules_and_both_readers(bakery: Shop) -> None:
    seller(bakery)
    dice = random.Random(4242)
    counted: Counter[str] = Counter()
    currencies, halves = set(), 0
    found = []
    for n in range(ONE_RATE):
        made = row(bought(dice, bakery.test))
        found += check(made, counted, keys(n), folder())
        currencies.add(made.currency)
        halves += is_half(made)
    print(f"documents by format: {dict(counted)}, rules from {folder() or 'packages'}")
    assert not found, "\n".join(found[:20])
    assert min(counted[key] for key in COMMON_FORMATS) >= ONE_RATE // len(EVERY), counted
    assert currencies == set(CURRENCIES) and halves > ONE_RATE // 10


def test_invoices_of_several_rates_pass_them_too(bakery: Shop) -> None:
    """Prices that hold their tax, reasons, categories without tax, and periods of supply."""
    seller(bakery)
    dice = random.Random(77)
    ids = rates(bakery.test, *TAXED)
    outside = rates(bakery.test, OUTSIDE)
    counted: Counter[str] = Counter()
    of_several, halves, categories = 0, 0, set()
    period = {"supplied_from": "2026-03-01", "supplied_until": "2026-03-31"}
    for n in range(SEVERAL):
        terms = period if n % 2 else {}
        made = row(bought(dice, bakery.test, ids if n % 10 else outside, **terms))
        found = check(made, counted, keys(n) if n % 10 else NOT_XRECHNUNG, folder())
        assert not found, "\n".join(found)
        of_several += len(made.charged_taxes) > 1
        halves += is_half(made)
        categories |= {tax.category for tax in made.charged_taxes}
        xml = e_invoice.e_invoice_xml(made)
        assert xml is not None
        read = checking.read(xml)
        assert len(read["BG-23"]) == len(made.charged_taxes)
        if n % 2:
            assert [str(read[name]) for name in ("BT-73", "BT-74")] == list(period.values())
    print(f"documents of several rates by format: {dict(counted)}")
    assert of_several > SEVERAL // 2 and halves and categories == set(TaxCategory.values)


def test_what_is_prepaid_overpaid_and_refunded_passes_them_too(bakery: Shop) -> None:
    """Invoices that took a customer's credit in part or in whole, one that was paid twice, and the
    credit notes that refunds and voids make of several rates: in every currency."""
    seller(bakery)
    api = bakery.test
    dice = random.Random(11)
    ids = rates(api, *TAXED)
    counted: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for n in range(max(2, ROUNDS)):
        made = sold(dice, api, ids, CURRENCIES[n % len(CURRENCIES)])
        pay_twice(bakery, made)
        terms = {"customer_id": made["customer_id"], "currency": made["currency"]}
        step = 100 if made["currency"] == "JPY" else 1
        part = made["total_cents"] // step // 3 * step
        whole = r.opened(api, **terms, line_items=[{**r.line(part), "tax_rate_id": ids[0]}])
        prepaid = r.opened(
            api, **terms, line_items=[{**r.line(made["total_cents"]), "tax_rate_id": ids[1]}]
        )
        assert whole["status"] == "paid" and prepaid["credit_applied_cents"] > 0
        for one in (made, whole, prepaid):
            found = check(row(one), counted, keys(n), folder())
            assert not found, "\n".join(found)
        r.ok(r.act(api, prepaid["id"], "void"))
        give_back_part(bakery, made)
        for note in CreditNote.objects.filter(invoice__in=[made["id"], prepaid["id"]]):
            reasons[note.reason] += 1
            found = check_note(note, counted, keys(n), folder())
            assert not found, "\n".join(found)
    print(f"documents with credit by format: {dict(counted)}")
    assert min(reasons["refund"], reasons["void"]) >= ROUNDS


def sold(dice: random.Random, api: Any, ids: list[str], currency: str) -> dict[str, Any]:
    """One that isn't free."""
    while not (made := bought(dice, api, ids, currency))["total_cents"]:
        pass
    return made


def test_what_is_taken_back_in_parts_passes_them_and_comes_to_the_whole(bakery: Shop) -> None:
    """By hand, of invoices that were written off: each part in base and tax, and all parts the
    invoice's taxes to the cent."""
    seller(bakery)
    api = bakery.test
    dice = random.Random(5)
    ids = rates(api, *TAXED)
    counted: Counter[str] = Counter()
    for n in range(max(4, IN_PARTS)):
        made = sold(dice, api, ids, CURRENCIES[n % len(CURRENCIES)])
        r.ok(r.act(api, made["id"], "mark_uncollectible"))
        step = 100 if made["currency"] == "JPY" else 1
        units = dice.randrange(1, max(2, made["total_cents"] // step))
        for amount in (units * step, None):
            asked = {} if amount is None else {"amount_cents": amount}
            path = f"/billing/invoices/{made['id']}/credit_notes"
            if amount != made["total_cents"]:
                r.ok(api.post(path, {"credit_note": asked}), 201)
        notes = list(CreditNote.objects.filter(invoice=made["id"]).order_by("number"))
        found = [
            problem
            for m, note in enumerate(notes)
            for problem in check_note(note, counted, keys(n + m), folder())
        ]
        assert not found, "\n".join(found)
        assert back_by_tax(notes) == charged_by_tax(row(made))
    print(f"documents taken back in parts by format: {dict(counted)}")
    assert sum(counted.values()) >= IN_PARTS * 2


def charged_by_tax(invoice: Invoice) -> Counter[tuple[str, int, str]]:
    sums: Counter[tuple[str, int, str]] = Counter()
    for tax in invoice.charged_taxes:
        sums[tax.category, tax.rate_bps, "base"] += tax.base_cents
        sums[tax.category, tax.rate_bps, "tax"] += tax.tax_cents
    return +sums


def back_by_tax(notes: list[CreditNote]) -> Counter[tuple[str, int, str]]:
    sums: Counter[tuple[str, int, str]] = Counter()
    for line in (line for note in notes for line in note.lines.all()):
        sums[line.category, line.rate_bps, "base"] += line.net_cents
        sums[line.category, line.rate_bps, "tax"] += line.tax_cents
    return +sums


def test_what_is_outside_vat_names_no_vat_number(bakery: Shop) -> None:
    seller(bakery)
    ids = rates(bakery.test, OUTSIDE, TAXED[0])
    counted: Counter[str] = Counter()
    for _ in range(5):
        made = row(bought(random.Random(3), bakery.test, ids[:1]))
        assert not check(made, counted, COMMON_FORMATS)
        assert b"DE136695976</" not in (e_invoice.e_invoice_xml(made) or b"DE136695976</")
    assert counted["factur-x"] == 5 and "xrechnung" not in counted
    lines = [{**r.line(), "tax_rate_id": id} for id in ids]
    mixed = row(r.opened(bakery.test, customer_id=str(made.customer_id), line_items=lines))
    assert "with others" in e_invoice.refusal(mixed)


def test_a_reason_code_that_isnt_listed_is_told_as_text(bakery: Shop) -> None:
    seller(bakery)
    for code, told in (("VATEX-EU-132-1I", ""), ("PAR-4", "PAR-4"), ("VATEX-EU-AE", "VATEX-EU-AE")):
        ids = rates(bakery.test, {"category": "E", "rate_bps": 0, "reason_code": code})
        made = row(bought(random.Random(5), bakery.test, ids))
        assert not check(made, Counter(), COMMON_FORMATS), code
        xml = e_invoice.e_invoice_xml(made) or b""
        assert (f"ExemptionReason>{told}</".encode() in xml) == bool(told), code
        assert (f"ExemptionReasonCode>{code}</".encode() in xml) == (not told), code


def of_before(made: Invoice) -> Invoice:
    """As an invoice from before its parties were kept, which has those of today."""
    made.seller = made.buyer = None
    return made


def test_what_the_categories_ask_for_is_said_when_it_is_missing(bakery: Shop) -> None:
    seller(bakery)
    exempt, reverse, export = rates(bakery.test, *(TAXED[n] for n in (5, 6, 8)))
    dice = random.Random(9)
    made = row(bought(dice, bakery.test, [reverse]))
    type(made.customer).objects.filter(pk=made.customer_id).update(vat_number=None)
    assert "The customer’s VAT number" in e_invoice.refusal(of_before(row({"id": made.pk})))
    abroad = row(bought(dice, bakery.test, [export]))
    taught = row(bought(dice, bakery.test, [exempt]))
    seller(bakery, tax_id="12/345/67890")
    assert "Your VAT number" in e_invoice.refusal(of_before(abroad))
    assert not e_invoice.refusal(of_before(taught))
    seller(bakery, tax_id="")
    assert "VAT or tax number" in e_invoice.refusal(taught)
    seller(bakery)
    lines = [{**r.line(), "tax_rate_id": exempt}, r.line()]
    half = row(r.opened(bakery.test, customer_id=str(taught.customer_id), line_items=lines))
    assert "Some lines" in e_invoice.refusal(half)


def test_what_a_french_seller_bills_passes_the_french_rules(bakery: Shop) -> None:
    seller(bakery, "FR", "FR40303265045")
    owner = r.customer(
        bakery.test,
        name="Boulangerie",
        address={"line1": "Rue 1", "postal_code": "75001", "city": "Paris", "country": "FR"},
        electronic_address="0225:303265045",
    )
    counted: Counter[str] = Counter()
    for rate in (550, 1000, 2000):
        made = r.opened(bakery.test, customer_id=owner["id"], tax_rate_bps=rate, notes="Merci")
        assert not check(row(made), counted, COMMON_FORMATS)
    assert counted["factur-x"] == 3


def test_the_same_rules_refuse_what_is_broken(bakery: Shop) -> None:
    """A rule that refuses nothing would pass everything above."""
    seller(bakery)
    made = row(bought(random.Random(1), bakery.test))
    for key in COMMON_FORMATS:
        xml = e_invoice.e_invoice_xml(made, key)
        assert xml is not None
        for old, new in ((b">DE<", b">XX<"), (b"2017", b"2016")):
            if old == b">DE<":
                assert checking.problems(xml.replace(old, new), key), key
        broken = xml.replace(b"C62", b"C6Z")
        assert checking.problems(broken, key), key
        half = xml.replace(b">VAT<", b">VAX<")
        assert checking.problems(half, key), key
