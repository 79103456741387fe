"""Many calls at the same moment, by callers with a connection of their own."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

from django.db import connection

from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import (
    CreditNote,
    CustomerCreditLine,
    Invoice,
    InvoicePayment,
    Subscription,
)
from apps.billing.subscriptions.cycle import advance_subscription
from apps.core import clock
from apps.webhooks.models import Event
from tests import auditing, make
from tests.billing import records as r
from tests.billing.test_customer_credit import payment_of, taxed
from tests.billing.test_paid_twice import paid_twice
from tests.cast import Api, Cast

CALLERS = 4


def together(work: Callable[[int], Any], times: int) -> list[Any]:
    """So many calls, by callers who take turns at their numbers."""
    gate = threading.Barrier(CALLERS)

    def run(caller: int) -> list[Any]:
        try:
            gate.wait(60)
            return [work(number) for number in range(caller, times, CALLERS)]
        finally:
            connection.close()

    with ThreadPoolExecutor(CALLERS) as pool:
        return list(chain.from_iterable(pool.map(run, range(CALLERS))))


def test_of_twenty_customers_with_one_email_one_is_made(committed: Cast) -> None:
    secret = committed.bakery.secrets["test"]
    answers = together(
        lambda _: (
            Api(secret)
            .post("/billing/customers", {"customer": {"email": "one@example.com"}})
            .status_code
        ),
        20,
    )
    assert Counter(answers) == {201: 1, 409: 19}


def test_a_draft_finalized_by_many_has_one_number_and_one_event(committed: Cast) -> None:
    secret = committed.bakery.secrets["test"]
    made = r.draft(committed.bakery.test)
    answers = together(lambda _: r.act(Api(secret), made["id"], "finalize").status_code, 12)
    assert Counter(answers) == {200: 1, 422: 11}
    assert Event.objects.filter(store=committed.bakery.store, type="invoice.finalized").count() == 1
    assert r.invoice(committed.bakery.test, made["id"])["number"] == 1


def test_numbers_given_at_once_have_no_gaps(committed: Cast) -> None:
    secret = committed.bakery.secrets["test"]
    drafts = [r.draft(committed.bakery.test)["id"] for _ in range(12)]
    together(lambda n: r.act(Api(secret), drafts[n], "finalize"), len(drafts))
    numbers = Invoice.objects.filter(store=committed.bakery.store).values_list("number", flat=True)
    assert sorted(number or 0 for number in numbers) == list(range(1, len(drafts) + 1))


def test_an_invoice_asked_for_by_many_has_one_intent(committed: Cast) -> None:
    made = r.opened(committed.bakery.test)
    answers = together(lambda _: r.start_payment(made["public_token"]).status_code, 20)
    assert Counter(answers) == {201: 1, 200: 19}
    assert InvoicePayment.objects.filter(invoice_id=made["id"]).count() == 1


def test_a_cycle_run_by_many_is_billed_once(committed: Cast) -> None:
    made = r.subscribe(committed.bakery.test, trial_period_days=1)
    committed.bakery.store.test_offset_seconds = 2 * r.DAY
    committed.bakery.store.save(update_fields=["test_offset_seconds"])
    row = Subscription.objects.get(pk=made["id"])
    together(lambda _: advance_subscription(row.pk), 8)
    [bill] = Invoice.objects.filter(subscription=row)
    assert bill.finalized_at is not None
    assert abs((bill.finalized_at - clock.now(committed.bakery.store, "test")).total_seconds()) < 60


def test_credit_notes_asked_for_at_once_take_back_no_more_than_was_billed(committed: Cast) -> None:
    secret = committed.bakery.secrets["test"]
    made = r.opened(committed.bakery.test)
    r.ok(r.act(committed.bakery.test, made["id"], "void"))
    body = {"credit_note": {"amount_cents": made["total_cents"] * 2 // 5}}
    path = f"/billing/invoices/{made['id']}/credit_notes"
    answers = together(lambda _: Api(secret).post(path, body).status_code, 8)
    assert Counter(answers) == {201: 2, 422: 6}
    numbers = CreditNote.objects.filter(invoice=made["id"]).values_list("number", flat=True)
    assert sorted(numbers) == [1, 2]


def test_credit_that_many_finalized_invoices_want_is_used_once(committed: Cast) -> None:
    sent, _ = paid_twice(committed.bakery)
    secret, owner = committed.bakery.secrets["test"], str(sent["customer_id"])
    lines = [r.line(600)]
    drafts = [
        r.draft(committed.bakery.test, customer_id=owner, line_items=lines)["id"] for _ in range(5)
    ]
    answers = together(lambda n: r.ok(r.act(Api(secret), drafts[n], "finalize")), len(drafts))
    assert sorted(made["credit_applied_cents"] for made in answers) == [0, 0, 0, 400, 600]
    assert sorted(made["status"] for made in answers) == ["open"] * 4 + ["paid"]
    lines_of = CustomerCreditLine.objects.filter(customer=owner)
    assert sum(lines_of.values_list("amount_cents", flat=True)) == 0


def test_a_refund_that_many_count_makes_one_credit_note(committed: Cast) -> None:
    api = committed.bakery.test
    taxed(api)
    made = r.opened(api, line_items=[r.line(10_000)])
    r.pay(api, made)
    make.paid(api, amount="500.00")
    payment_id = payment_of(made["id"])
    body = {"refund": {"destination_address": make.fresh_address(), "settlement_amount": "40.00"}}
    r.ok(api.post(f"/payments/{payment_id}/refunds", body, key="back"), 201)
    for _ in range(2):
        make.advance(api, 61)
    together(lambda _: update_paid_amounts([payment_id]), 8)
    totals = CreditNote.objects.filter(invoice=made["id"]).values_list("total_cents", flat=True)
    assert list(totals) == [4000]
    assert auditing.breaches() == []


def test_series_numbers_taken_at_once_have_no_gap(committed: Cast) -> None:
    secret = committed.bakery.secrets["test"]
    wanted = {"document_settings": {"invoice_prefix": "RE-", "restarts_yearly": True}}
    r.ok(committed.bakery.test.patch("/billing/document_settings", wanted))
    drafts = [r.draft(committed.bakery.test)["id"] for _ in range(8)]
    together(lambda n: r.act(Api(secret), drafts[n], "finalize"), len(drafts))
    rows = Invoice.objects.filter(store=committed.bakery.store, series__startswith="RE-2")
    assert sorted(rows.values_list("series_number", flat=True)) == list(range(1, 9))
