"""Credit of customers: what came beyond what is owed, used by the next invoice or paid back."""

import html
import re
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.billing.invoices import customer_credit
from apps.billing.invoices.counted_payments import with_refunds
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import CreditNote, CustomerCreditLine, Invoice, InvoicePayment
from tests import auditing, make
from tests.billing import records as r
from tests.billing.test_paid_twice import paid_twice
from tests.cast import Api, Shop
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.django_db


def lines_of(customer_id: str) -> list[tuple[str, int]]:
    rows = CustomerCreditLine.objects.filter(customer=customer_id)
    return sorted(rows.values_list("kind", "amount_cents"))


def taxed(api: Api) -> None:
    """Sets up what makes credit notes of voids and refunds."""
    r.tax_rate(api)


def refund(shop: Shop, payment_id: str, **fields: Any) -> None:
    """Sends coins of a payment back, and waits until that is counted."""
    make.paid(shop.test, amount="500.00")  # which bears the fees
    body = {"refund": {"destination_address": make.fresh_address(), **fields}}
    r.ok(shop.test.post(f"/payments/{payment_id}/refunds", body, key=payment_id), 201)
    for _ in range(2):
        make.advance(shop.test, 61)
    update_paid_amounts()


def payment_of(invoice_id: str) -> str:
    return str(Invoice.objects.get(pk=invoice_id).payments.order_by("id").last().payment_id)


def test_the_next_invoice_uses_what_was_paid_too_much_and_never_more_than_its_total(
    bakery: Shop,
) -> None:
    api = bakery.test
    sent, _ = paid_twice(bakery)
    owner = str(sent["customer_id"])
    assert lines_of(owner) == [("overpaid", 1000)]

    first = r.opened(api, customer_id=owner, line_items=[r.line(400)])
    assert (first["status"], first["amount_paid_cents"], first["credit_applied_cents"]) == (
        "paid",
        400,
        400,
    )
    other = r.opened(api, customer_id=owner, currency="USD")
    assert (other["status"], other["credit_applied_cents"]) == ("open", 0)
    second = r.opened(api, customer_id=owner)
    assert (second["status"], second["amount_paid_cents"], second["credit_applied_cents"]) == (
        "open",
        600,
        600,
    )
    assert r.invoice(api, str(sent["id"]))["needs_attention"] is None
    started = r.start_payment(second["public_token"]).json()
    assert started["payment"]["settlement_amount_cents"] == 400
    assert r.pay(api, second)["status"] == "paid"
    assert lines_of(owner) == [("applied", -600), ("applied", -400), ("overpaid", 1000)]
    assert r.opened(api, customer_id=owner)["credit_applied_cents"] == 0
    assert auditing.breaches() == []


def test_an_invoice_that_is_voided_gives_the_credit_back(bakery: Shop) -> None:
    api = bakery.test
    sent, _ = paid_twice(bakery)
    owner = str(sent["customer_id"])
    partly = r.opened(api, customer_id=owner, line_items=[r.line(3000)])
    assert partly["credit_applied_cents"] == 1000
    r.ok(r.act(api, partly["id"], "void"))
    assert lines_of(owner) == [("applied", -1000), ("overpaid", 1000), ("overpaid", 1000)]
    assert r.opened(api, customer_id=owner)["status"] == "paid"
    assert auditing.breaches() == []


def test_credit_that_is_refunded_is_gone_and_makes_no_credit_note(bakery: Shop) -> None:
    api = bakery.test
    taxed(api)
    sent, late_id = paid_twice(bakery)
    owner = str(sent["customer_id"])
    refund(bakery, late_id)
    assert lines_of(owner) == [("overpaid", 1000), ("refunded", -1000)]
    assert not CreditNote.objects.filter(invoice=str(sent["id"])).exists()
    assert r.opened(api, customer_id=owner)["status"] == "open"
    assert auditing.breaches() == []


def test_a_refund_under_way_keeps_the_credit_from_the_next_invoice(bakery: Shop) -> None:
    api = bakery.test
    sent, late_id = paid_twice(bakery)
    make.paid(api, amount="500.00")
    body = {"refund": {"destination_address": make.fresh_address()}}
    r.ok(api.post(f"/payments/{late_id}/refunds", body, key="back"), 201)
    assert r.opened(api, customer_id=str(sent["customer_id"]))["credit_applied_cents"] == 0


def test_a_refund_of_credit_that_was_used_takes_back_what_was_billed(bakery: Shop) -> None:
    api = bakery.test
    taxed(api)
    sent, late_id = paid_twice(bakery)
    owner = str(sent["customer_id"])
    assert r.opened(api, customer_id=owner)["status"] == "paid"
    refund(bakery, late_id)
    assert lines_of(owner) == [("applied", -1000), ("overpaid", 1000)]
    [note] = CreditNote.objects.filter(invoice=str(sent["id"]))
    assert (note.reason, note.total_cents) == ("refund", 1000)
    assert auditing.breaches() == []


def test_a_cycle_is_paid_by_credit(bakery: Shop) -> None:
    api = bakery.test
    sent, _ = paid_twice(bakery)
    made = r.subscribe(api, customer_id=str(sent["customer_id"]))
    [bill] = r.invoices_of(api, made["id"])
    assert (bill["status"], bill["credit_applied_cents"]) == ("paid", 1000)
    assert r.subscription(api, made["id"])["status"] == "active"
    assert auditing.breaches() == []


def test_the_database_keeps_credit_final_of_its_customer_and_never_below_zero(bakery: Shop) -> None:
    sent, _ = paid_twice(bakery)
    row = CustomerCreditLine.objects.get()
    stranger = r.opened(bakery.test)
    same = {
        "store": row.store,
        "mode": row.mode,
        "created_at": row.created_at,
        "customer": row.customer,
        "invoice": row.invoice,
        "currency": row.currency,
    }
    for fields in (
        {"kind": "refunded", "amount_cents": -1001},
        {"kind": "overpaid", "amount_cents": 1},
        {"kind": "applied", "amount_cents": -1},
        {"kind": "refunded", "amount_cents": 5},
        {"kind": "overpaid", "amount_cents": 1, "invoice_id": stranger["id"]},
        {"kind": "refunded", "amount_cents": -1, "currency": "USD"},
    ):
        chosen = {**same, **fields}
        if "invoice_id" in fields:
            chosen.pop("invoice")
        with pytest.raises(DatabaseError), transaction.atomic():
            CustomerCreditLine.objects.create(**chosen)
    with pytest.raises(DatabaseError), transaction.atomic():
        CustomerCreditLine.objects.update(amount_cents=2000)
    with pytest.raises(DatabaseError), transaction.atomic():
        CustomerCreditLine.objects.filter(pk=row.pk).delete()
    assert lines_of(str(sent["customer_id"])) == [("overpaid", 1000)]


def test_the_customers_page_leads_to_the_refund_that_pays_credit_back(bakery: Shop) -> None:
    sent, _ = paid_twice(bakery)
    browser = Browser(bakery.owner)
    page = browser.get(f"customers/{sent['customer_id']}")
    found = re.search(r'href="/dashboard/(payments/[^"]*/refund\?[^"]*)"', page.content.decode())
    assert found is not None and "Pay back" in text(page)
    form = browser.get(html.unescape(found[1]))
    assert 'value="10.00"' in form.content.decode()
    r.opened(bakery.test, customer_id=str(sent["customer_id"]))  # which uses it all
    assert "Pay back" not in text(browser.get(f"customers/{sent['customer_id']}"))


def test_finalizing_asks_once_for_refunds_of_whatever_brought_credit(bakery: Shop) -> None:
    sent, _ = paid_twice(bakery)
    invoice = Invoice.objects.get(
        pk=r.draft(bakery.test, customer_id=str(sent["customer_id"]))["id"]
    )
    links = list(InvoicePayment.objects.filter(invoice=sent["id"]).select_related("payment"))
    assert len(links) == 2
    with CaptureQueriesContext(connection) as one:
        assert with_refunds(links[:1]) == []
    with CaptureQueriesContext(connection) as many:
        assert with_refunds(links * 20) == []
    assert len(one) == len(many) == 1
    assert customer_credit.usable_cents(invoice) == 1000
