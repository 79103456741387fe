"""Documents whose figures are thrown by a dice of a fixed seed: the same ones in every run."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from apps.billing.invoices import e_invoice
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import CreditNote, Invoice
from apps.core.money import text_from_cents
from apps.payments.models import Payment
from apps.payments.services.late import accept_late_deposit
from apps.payments.units import WHOLE_UNIT_CURRENCIES
from apps.stores.services import change_store
from tests import make
from tests.billing import records as r
from tests.billing.sellers import verify
from tests.cast import Shop
from tests.e_invoices import checking

CURRENCIES = ("EUR", "USD", "GBP", "CHF", "HKD", "SGD", "SEK", "DKK", "NOK", "JPY")
RATES = (0, 550, 700, 1900, 1950, 2000, 2550)
PERCENT = (3, 15, 33, 100)
BUYERS = (
    ("DE", "10115", "Berlin", "9930:DE136695976"),
    ("FR", "75001", "Paris", "9957:FR40303265045"),
    ("NL", "1011AB", "Amsterdam", "9944:NL123456782B90"),
    ("AT", "1010", "Wien", "9914:ATU13585627"),
)


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
    dice: random.Random,
    api: Any,
    tax_rates: Sequence[str] = (),
    currency: str | None = None,
    **terms: Any,
) -> dict[str, Any]:
    """A finalized invoice whose figures were thrown; of these rates, one for each line. A percent
    discount comes to half a cent."""
    currency = currency or dice.choice(CURRENCIES)
    step = 100 if currency in WHOLE_UNIT_CURRENCIES else 1
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
    if kind is not None:
        value = dice.choice(PERCENT) if kind == "percent" else 12345 * step
        fields |= {"discount_type": kind, "discount_value": value}
        if kind == "percent" and value != 100:
            lines += [r.line(cents_to_half(lines, value, step), 1, "Freight")]
    if tax_rates:
        del fields["tax_rate_bps"]
        fields |= terms
        lines = [{**item, "tax_rate_id": dice.choice(tax_rates)} for item in lines]
    if dice.random() < 0.5:
        fields["due_at"] = "2099-12-01T00:00:00Z"
    if dice.random() < 0.5:
        fields["notes"] = "Thank you <3"
    made: dict[str, Any] = r.opened(
        api, customer_id=owner["id"], currency=currency, line_items=lines, **fields
    )
    return made


def cents_to_half(lines: Sequence[dict[str, Any]], percent: int, step: int) -> int:
    """The price of another line with which this part of all is half of a smallest unit."""
    units = sum(line["quantity"] * line["unit_amount_cents"] for line in lines) // step
    return next(more for more in range(100) if (units + more) * percent % 100 == 50) * step


def row(made: dict[str, Any]) -> Invoice:
    found: Invoice = Invoice.objects.select_related("store", "customer").get(pk=made["id"])
    return found


def check(
    invoice: Invoice, counted: Counter[str], keys: Iterable[str], folder: Path | None = None
) -> list[str]:
    """The problems of one invoice in those of these formats that it can have."""
    sums = (
        invoice.subtotal_cents,
        invoice.subtotal_cents - invoice.discount_cents,
        invoice.total_cents,
        invoice.left_cents,
    )
    is_held = invoice.taxes.filter(inclusive=True).exists()
    found = _discount(invoice, is_tax_held=is_held)
    for key in keys:
        xml = e_invoice.e_invoice_xml(invoice, key)
        if xml is not None:
            counted[key] += 1
            found += [
                f"{invoice.pk} {key}: {problem}"
                for problem in _problems(xml, key, sums, folder, is_tax_held=is_held)
            ]
    return found


def check_note(
    note: CreditNote, counted: Counter[str], keys: Iterable[str], folder: Path | None = None
) -> list[str]:
    """The problems of one credit note, whose amount is split into base and tax to the cent."""
    sums = (note.net_cents, note.net_cents, note.total_cents, note.total_cents)
    found = []
    for key in keys:
        xml = e_invoice.credit_note_xml(note, key)
        if xml is not None:
            counted[f"credit note, {key}"] += 1
            found += [
                f"{note.pk} {key}: {problem}"
                for problem in _problems(xml, key, sums, folder, is_tax_held=True)
            ]
    return found


def _problems(
    xml: bytes, key: str, cents: Sequence[int], folder: Path | None, *, is_tax_held: bool
) -> list[str]:
    sums = [Decimal(text_from_cents(item)) for item in cents]
    found = checking.problems(xml, key, folder)
    found += checking.off_by_the_line(xml, is_tax_held=is_tax_held)
    if checking.sums_by_factur_x(xml) != sums:
        found.append("factur-x reads other sums")
    if b"CrossIndustryInvoice" in xml and checking.sums_by_drafthorse(xml) != sums:
        found.append("drafthorse reads other sums")
    return found


def _discount(invoice: Invoice, *, is_tax_held: bool) -> list[str]:
    """A percentage of all lines is rounded once, half up."""
    if invoice.discount_type != "percent" or is_tax_held:
        return []
    step = Decimal(100 if invoice.currency in WHOLE_UNIT_CURRENCIES else 1)
    exact = Decimal(invoice.subtotal_cents) * (invoice.discount_value or 0) / 100
    wanted = (exact / step).quantize(Decimal(1), ROUND_HALF_UP) * step
    return [] if invoice.discount_cents == wanted else [f"{invoice.pk}: discount isn't {wanted}"]


def is_half(invoice: Invoice) -> bool:
    """The discount before rounding was half of a smallest unit."""
    step = 100 if invoice.currency in WHOLE_UNIT_CURRENCIES else 1
    value = invoice.discount_value or 0
    return (
        invoice.discount_type == "percent"
        and sum(line.amount_cents for line in invoice.lines.all()) // step * value % 100 == 50
    )


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
