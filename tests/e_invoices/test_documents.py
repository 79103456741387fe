"""Generated invoices in every format, before the rules of those who receive them.

`python -m tests.e_invoices --rules DIR` runs them against the official rules of XRechnung and
Peppol as well, which are in no package.
"""

import os
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apps.billing.e_invoices.formats import FORMATS
from apps.billing.invoices import e_invoice
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import CreditNote, Invoice
from apps.core.money import text_from_cents
from apps.payments.models import Payment
from apps.payments.services.late import accept_late_deposit
from apps.stores.services import change_store
from tests import make
from tests.billing import records as r
from tests.billing.sellers import verify
from tests.cast import Shop
from tests.e_invoices import checking

pytestmark = pytest.mark.django_db
RULES = "TILLGATE_E_INVOICE_RULES"
COUNT = int(os.environ.get("TILLGATE_E_INVOICE_COUNT", "200"))
CURRENCIES = ("EUR", "USD", "GBP", "CHF", "HKD", "SGD", "SEK", "DKK", "NOK", "JPY")
RATES = (0, 550, 700, 1900, 1950, 2000, 2550)
BUYERS = (
    ("DE", "10115", "Berlin", "9930:DE136695976"),
    ("FR", "75001", "Paris", "9957:FR40303265045"),
    ("NL", "1011AB", "Amsterdam", "9944:NL004495445B01"),
    ("AT", "1010", "Wien", "9914:ATU13585627"),
)


def folder() -> Path | None:
    named = os.environ.get(RULES)
    return Path(named) if named else None


def seller(shop: Shop, country: str = "DE", tax_id: str = "DE136695976") -> None:
    register = "303265045" if country == "FR" else "HRB 1234"
    verify(shop.store, country=country, tax_id=tax_id, registration=register)
    change_store(
        shop.store,
        support_phone="+49 30 1234567",
        support_email="billing@shop.example",
        street="Hauptstr. 1",
        postal_code="10117",
        city="Berlin",
    )


# Rates of a store, as its owner sets them up; the last may not stand beside others.
TAXED = (
    {"category": "S", "rate_bps": 1900},
    {"category": "S", "rate_bps": 1950, "inclusive": True},
    {"category": "S", "rate_bps": 700, "inclusive": True},
    {"category": "S", "rate_bps": 550},
    {"category": "Z", "rate_bps": 0},
    {"category": "E", "rate_bps": 0, "reason": "§ 4 Nr. 21 UStG"},
    {"category": "AE", "rate_bps": 0, "reason": "Reverse charge", "reason_code": "VATEX-EU-AE"},
    {"category": "K", "rate_bps": 0, "reason": "Goods", "reason_code": "VATEX-EU-IC"},
    {"category": "G", "rate_bps": 0, "reason_code": "VATEX-EU-G"},
    {"category": "L", "rate_bps": 700},
    {"category": "M", "rate_bps": 400},
)
OUTSIDE = {"category": "O", "rate_bps": 0, "reason": "Taxed there", "reason_code": "VATEX-EU-O"}


def rates(api: Any, *of: dict[str, Any]) -> list[str]:
    """The IDs of new rates."""
    return [
        r.ok(api.post("/billing/tax_rates", {"tax_rate": {"name": "Tax", **item}}), 201)["id"]
        for item in of
    ]


def bought(
    dice: random.Random, api: Any, tax_rates: Sequence[str] = (), **terms: Any
) -> dict[str, Any]:
    """A finalized invoice whose figures were thrown; of these rates, one for each line."""
    currency = dice.choice(CURRENCIES)
    step = 100 if currency == "JPY" else 1
    country, code, city, endpoint = dice.choice(BUYERS[1:] if tax_rates else BUYERS)
    owner = r.customer(
        api,
        name="Bäcker & Söhne <GmbH>",
        address={"line1": "Rue 1", "postal_code": code, "city": city, "country": country},
        buyer_reference="04011000-12345-34",
        electronic_address=endpoint,
        country=country,
        vat_number=endpoint.partition(":")[2] if tax_rates and country != "DE" else None,
    )
    lines = [
        r.line(dice.randrange(0, 50_000) * step, dice.choice((1, 2, 3, 7, 100)), f"Item {n}")
        for n in range(dice.randrange(1, 6))
    ]
    kind = dice.choice((None, "percent", "amount"))
    fields: dict[str, Any] = {"tax_rate_bps": dice.choice(RATES)}
    if tax_rates:
        fields = dict(terms)
        lines = [{**item, "tax_rate_id": dice.choice(tax_rates)} for item in lines]
    if kind is not None:
        value = dice.choice((3, 15, 33, 100)) if kind == "percent" else 12345 * step
        fields |= {"discount_type": kind, "discount_value": value}
    if dice.random() < 0.5:
        fields["due_at"] = "2099-12-01T00:00:00Z"
    if dice.random() < 0.5:
        fields["notes"] = "Thank you <3"
    made: dict[str, Any] = r.opened(
        api, customer_id=owner["id"], currency=currency, line_items=lines, **fields
    )
    return made


def row(made: dict[str, Any]) -> Invoice:
    return Invoice.objects.select_related("store", "customer").get(pk=made["id"])


def check(invoice: Invoice, counted: Counter[str], keys: Iterable[str]) -> list[str]:
    """The problems of one document in those of these formats that it can have."""
    found = []
    told = [
        Decimal(text_from_cents(cents))
        for cents in (
            invoice.subtotal_cents,
            invoice.subtotal_cents - invoice.discount_cents,
            invoice.total_cents,
            invoice.left_cents,
        )
    ]
    for key in keys:
        xml = e_invoice.e_invoice_xml(invoice, key)
        if xml is None:
            continue
        counted[key] += 1
        wrong = checking.problems(xml, key, folder())
        wrong += checking.off_by_the_line(
            xml, is_tax_held=invoice.taxes.filter(inclusive=True).exists()
        )
        if checking.sums_by_factur_x(xml) != told:
            wrong.append("factur-x reads other sums")
        if b"CrossIndustryInvoice" in xml and checking.sums_by_drafthorse(xml) != told:
            wrong.append("drafthorse reads other sums")
        found += [f"{invoice.pk} {key}: {problem}" for problem in wrong]
    return found


def test_every_generated_document_passes_all_rules_and_both_readers(bakery: Shop) -> None:
    seller(bakery)
    dice = random.Random(4242)
    counted: Counter[str] = Counter()
    every = list(FORMATS)
    found = [
        problem
        for n in range(COUNT)
        for problem in check(
            row(bought(dice, bakery.test)),
            counted,
            every if folder() is not None else [every[n % len(every)]],
        )
    ]
    print(f"documents by format: {dict(counted)}, rules from {folder() or 'packages'}")
    assert not found, "\n".join(found[:20])
    assert min(counted[key] for key in FORMATS) >= COUNT / len(every), counted


def test_what_is_charged_by_several_rates_passes_them_too(bakery: Shop) -> None:
    """Prices that hold their tax, reasons, categories without tax, and periods of supply."""
    seller(bakery)
    dice = random.Random(77)
    ids = rates(bakery.test, *TAXED)
    counted: Counter[str] = Counter()
    of_several, categories = 0, set()
    period = {"supplied_from": "2026-03-01", "supplied_until": "2026-03-31"}
    every = list(FORMATS)
    for n in range(COUNT // 2):
        made = row(bought(dice, bakery.test, ids, **(period if n % 2 else {})))
        found = check(made, counted, every if folder() is not None else [every[n % len(every)]])
        assert not found, "\n".join(found)
        of_several += len(made.charged_taxes) > 1
        categories |= {tax.category for tax in made.charged_taxes}
        xml = e_invoice.e_invoice_xml(made)
        assert xml is not None
        read = checking.read(xml)
        assert len(read["BG-23"]) == len(made.charged_taxes)
        if n % 2:
            assert [str(read[name]) for name in ("BT-73", "BT-74")] == list(period.values())
    print(f"documents of several rates by format: {dict(counted)}")
    assert of_several > COUNT // 4 and categories == {item["category"] for item in TAXED}


def test_what_is_prepaid_overpaid_and_refunded_passes_them_too(bakery: Shop) -> None:
    """Invoices that took a customer's credit in part or in whole, one that was paid twice, and the
    credit notes that refunds and voids make of several rates."""
    seller(bakery)
    api = bakery.test
    dice = random.Random(11)
    ids = rates(api, *TAXED)
    every = list(FORMATS)
    counted: Counter[str] = Counter()
    of_refunds = 0
    for n in range(max(2, COUNT // 50)):
        made = bought(dice, api, ids)
        while not made["total_cents"]:
            made = bought(dice, api, ids)
        pay_twice(bakery, made)
        terms = {"customer_id": made["customer_id"], "currency": made["currency"]}
        step = 100 if made["currency"] == "JPY" else 1
        part = made["total_cents"] // step // 3 * step
        whole = r.opened(api, **terms, line_items=[{**r.line(part), "tax_rate_id": ids[0]}])
        prepaid = r.opened(
            api, **terms, line_items=[{**r.line(made["total_cents"]), "tax_rate_id": ids[1]}]
        )
        assert prepaid["credit_applied_cents"] > 0 or whole["credit_applied_cents"] > 0
        for one in (made, whole, prepaid):
            found = check(row(one), counted, [every[n % len(every)]])
            assert not found, "\n".join(found)
        r.ok(r.act(api, prepaid["id"], "void"))
        give_back_part(bakery, made)
        for note in CreditNote.objects.filter(invoice__in=[made["id"], prepaid["id"]]):
            of_refunds += note.reason == "refund"
            for key in every:
                xml = e_invoice.credit_note_xml(note, key)
                assert xml is not None
                counted[f"credit note, {key}"] += 1
                wrong = checking.problems(xml, key, folder())
                total = Decimal(text_from_cents(note.total_cents))
                if checking.sums_by_factur_x(xml)[2:] != [total, total]:
                    wrong.append("factur-x reads other sums")
                assert not wrong, (note.pk, key, wrong)
    print(f"documents with credit by format: {dict(counted)}")
    assert of_refunds


def pay_twice(shop: Shop, made: dict[str, Any]) -> None:
    """By a payment in time, and by a late one that is accepted afterward."""
    first = str(r.start_payment(made["public_token"]).json()["payment"]["payment_intent_id"])
    make.advance(shop.test, 3601)
    r.pay(shop.test, made)
    deposit_id = make.late_deposit(first)
    accept_late_deposit(Payment.objects.get(pk=first), deposit_id, shop.access().now())
    update_paid_amounts()


def give_back_part(shop: Shop, made: dict[str, Any]) -> None:
    """More than the credit that is left of it, so that what was billed is taken back."""
    make.paid(shop.test, amount="1000000.00")  # which bears the fees
    for link in row(made).payments.order_by("id"):
        body = {"refund": {"destination_address": make.fresh_address()}}
        path = f"/payments/{link.payment_id}/refunds"
        r.ok(shop.test.post(path, body, key=str(link.payment_id)), 201)
    for _ in range(2):
        make.advance(shop.test, 61)
    update_paid_amounts()


def test_what_is_outside_vat_names_no_vat_number(bakery: Shop) -> None:
    seller(bakery)
    ids = rates(bakery.test, OUTSIDE, TAXED[0])
    counted: Counter[str] = Counter()
    for _ in range(5):
        made = row(bought(random.Random(3), bakery.test, ids[:1]))
        assert not check(made, counted, FORMATS)
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
        assert not check(made, Counter(), FORMATS), code
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
        assert not check(row(made), counted, FORMATS)
    assert counted["factur-x"] == 3


def test_the_same_rules_refuse_what_is_broken(bakery: Shop) -> None:
    """A rule that refuses nothing would pass everything above."""
    seller(bakery)
    made = row(bought(random.Random(1), bakery.test))
    for key in FORMATS:
        xml = e_invoice.e_invoice_xml(made, key)
        assert xml is not None
        for old, new in ((b">DE<", b">XX<"), (b"2017", b"2016")):
            if old == b">DE<":
                assert checking.problems(xml.replace(old, new), key), key
        broken = xml.replace(b"C62", b"C6Z")
        assert checking.problems(broken, key), key
        half = xml.replace(b">VAT<", b">VAX<")
        assert checking.problems(half, key), key
