"""Credit notes that a void or a refund makes by itself, once for each."""

import pytest
from django.db import DatabaseError, transaction

from apps.billing.invoices.credit_notes import credit_refund
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import CreditNote, Invoice
from tests import auditing
from tests.billing import records as r
from tests.billing.test_customer_credit import payment_of, refund, taxed
from tests.cast import Shop

pytestmark = pytest.mark.django_db


def test_a_void_of_a_finalized_invoice_takes_it_back(bakery: Shop) -> None:
    api = bakery.test
    plain = r.opened(api)
    r.ok(r.act(api, plain["id"], "void"))
    assert not CreditNote.objects.exists()  # of a store without taxes
    taxed(api)
    made = r.opened(api, tax_rate_bps=1900)
    for _ in range(2):
        r.ok(r.act(api, made["id"], "void"))
    [note] = CreditNote.objects.all()
    assert (note.reason, note.total_cents, note.tax_cents) == ("void", 1190, 190)
    r.ok(r.act(api, r.draft(api)["id"], "void"))
    r.ok(r.act(api, r.opened(api, line_items=[r.line(0)])["id"], "void"), 422)
    assert CreditNote.objects.count() == 1
    assert auditing.breaches() == []


def test_a_part_that_is_refunded_is_taken_back_once(bakery: Shop) -> None:
    api = bakery.test
    taxed(api)
    made = r.opened(api, line_items=[r.line(10_000)], tax_rate_bps=1900)
    assert r.pay(api, made)["status"] == "paid"
    payment_id = payment_of(made["id"])
    refund(bakery, payment_id, settlement_amount="59.50")
    after = r.invoice(api, made["id"])
    assert after["refunded_cents"] == 5950
    [note] = CreditNote.objects.all()
    assert (note.reason, note.total_cents, note.tax_cents) == ("refund", 5950, 950)
    update_paid_amounts()
    row = Invoice.objects.get(pk=made["id"])
    with transaction.atomic():
        credit_refund(row, bakery.access().now())
    assert CreditNote.objects.count() == 1
    with pytest.raises(DatabaseError), transaction.atomic():
        CreditNote.objects.create(
            store=row.store,
            mode=row.mode,
            created_at=note.created_at,
            invoice=row,
            number=2,
            reason="refund",
            refunded_cents=note.refunded_cents,
            currency=row.currency,
            net_cents=100,
            tax_cents=0,
            total_cents=100,
            issued_on=note.issued_on,
        )
    asked = api.post(
        f"/billing/invoices/{made['id']}/credit_notes", {"credit_note": {"reason": "refund"}}
    )
    assert asked.status_code == 422 and "credited before" in asked.json()["error"]
    assert auditing.breaches() == []


def test_what_a_person_credited_before_the_refund_isnt_credited_again(bakery: Shop) -> None:
    api = bakery.test
    taxed(api)
    made = r.opened(api, line_items=[r.line(10_000)])
    r.pay(api, made)
    path = f"/billing/invoices/{made['id']}/credit_notes"
    r.ok(api.post(path, {"credit_note": {"amount_cents": 4000}}), 201)
    refund(bakery, payment_of(made["id"]))
    assert r.invoice(api, made["id"])["refunded_cents"] == 10_000
    totals = CreditNote.objects.order_by("number").values_list("total_cents", flat=True)
    assert list(totals) == [4000, 6000]
    assert auditing.breaches() == []


def test_more_than_was_refunded_is_refused_with_its_field(bakery: Shop) -> None:
    api = bakery.test
    made = r.opened(api, line_items=[r.line(10_000)])
    r.pay(api, made)
    refund(bakery, payment_of(made["id"]), settlement_amount="40.00")
    assert not CreditNote.objects.exists()
    path = f"/billing/invoices/{made['id']}/credit_notes"
    answer = api.post(path, {"credit_note": {"reason": "refund", "amount_cents": 4001}})
    assert (answer.status_code, answer.json()) == (
        422,
        {"errors": ["amount_cents must be at most 4000"]},
    )
    note = r.ok(api.post(path, {"credit_note": {"reason": "refund"}}), 201)
    assert note["total_cents"] == 4000
