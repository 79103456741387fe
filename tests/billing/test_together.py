"""Subscriptions in live mode whose periods are due are billed as a set, each as it would be
alone."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.billing.models import Customer, CustomerCreditLine, Invoice, Subscription
from apps.billing.subscriptions.cycle import advance_subscription, run_cycles
from apps.core import clock
from apps.core.models import OutgoingMail, RowFailure
from apps.webhooks.models import Delivery, Event
from tests import auditing
from tests.billing import records as r
from tests.billing.test_numbers import choose
from tests.cast import Api, Cast, Shop

_PERIOD = timedelta(days=30)


def due(*made: dict[str, Any]) -> list[Subscription]:
    """Rows whose period has ended a minute ago, the first one longest ago."""
    now = clock.real_now()
    rows = []
    for number, one in enumerate(made):
        end = now - timedelta(minutes=1) + timedelta(milliseconds=number)
        row = Subscription.objects.get(pk=one["id"])
        # The invoice of before stays out of what is judged.
        Invoice.objects.filter(subscription=row).update(due_judged_at=now)
        row.current_period_start, row.current_period_end = end - _PERIOD, end
        row.next_billing_at = row.next_step_at = end
        row.anchor_day = end.day
        row.save()
        rows.append(row)
    return rows


def bills(rows: list[Subscription]) -> list[Invoice]:
    """The newest invoice of each."""
    return [
        Invoice.objects.filter(subscription=row).order_by("-number", "-created_at")[0]
        for row in rows
    ]


def statements() -> int:
    with CaptureQueriesContext(connection) as captured:
        run_cycles()
    return len(captured)


def told(api: Api, invoice: Invoice) -> dict[str, Any]:
    """Everything about an invoice but its own names and moments."""
    event = Event.objects.get(type="invoice.finalized", object__id=str(invoice.pk))
    letters = OutgoingMail.objects.filter(key=f"invoice_opened:{invoice.pk}")
    row = Subscription.objects.get(pk=invoice.subscription_id)
    shown = r.invoice(api, str(invoice.pk))
    assert event.object == shown
    varies = ("id", "number", "token", "url", "_at", "period_key", "customer")
    return {
        **{name: value for name, value in shown.items() if not name.endswith(varies)},
        "lines": [line["net_cents"] for line in shown["line_items"]],
        "line_items": None,
        "subscription_id": None,
        "history": list(invoice.changes.values_list("change", "from_status", "to_status")),
        "seller": invoice.seller,
        "reminder": invoice.next_letter_at is not None,
        "deliveries": Delivery.objects.filter(event=event).count(),
        "letters": list(letters.values_list("status", "lane", "template")),
        "status": row.status,
        "next": row.next_step_at == invoice.due_at,
        "billed": row.next_billing_at == row.current_period_end,
    }


def test_many_take_no_more_statements_than_few(bakery: Shop) -> None:
    made = [r.subscribe(bakery.live) for _ in range(12)]
    due(*made[:2])
    few = statements()
    rows = due(*made[2:])
    assert statements() <= few + 2
    numbers = [bill.number for bill in bills(rows)]
    assert numbers == list(range(15, 25))
    assert auditing.breaches() == []


def test_an_invoice_of_a_set_is_as_one_that_was_billed_alone(bakery: Shop) -> None:
    events = ["invoice.finalized"]
    address = {"url": "https://1.1.1.1/hook", "subscribed_events": events}
    r.ok(bakery.live.post("/webhook_endpoints", {"webhook_endpoint": address}), 201)
    price = r.price(bakery.live)
    made = [r.subscribe(bakery.live, price_id=price["id"], quantity=2) for _ in range(3)]
    rows = due(*made)
    advance_subscription(rows[0].pk)
    run_cycles()
    alone, *together = (told(bakery.live, bill) for bill in bills(rows))
    assert alone["deliveries"] == 1 and alone["letters"][0][0] == "queued"
    assert together == [alone, alone]


def test_one_that_cannot_be_billed_is_the_only_one_that_waits(bakery: Shop) -> None:
    made = [r.subscribe(bakery.live) for _ in range(3)]
    rows = due(*made)
    Invoice.objects.create(
        store=bakery.store,
        mode="live",
        customer_id=rows[1].customer_id,
        currency="EUR",
        created_at=clock.real_now(),
        updated_at=clock.real_now(),
        subscription=rows[1],
        period_key=f"{rows[1].pk}:{clock.iso(rows[1].next_billing_at)}",
    )
    assert run_cycles() == 3
    assert [bill.number for bill in bills([rows[0], rows[2]])] == [4, 5]
    assert RowFailure.objects.get().row_id == str(rows[1].pk)
    # One that failed is tried apart from the set, which stays one.
    RowFailure.objects.update(not_before=clock.real_now())
    again = due(made[0], made[2])
    assert run_cycles() == 3
    assert [bill.number for bill in bills(again)] == [6, 7]
    assert RowFailure.objects.get().tries == 2


def test_what_is_not_plain_takes_its_steps_alone(bakery: Shop) -> None:
    made = [r.subscribe(bakery.live) for _ in range(4)]
    plain, late, leaving, rich = due(*made)
    Subscription.objects.filter(pk=late.pk).update(
        next_billing_at=late.next_billing_at - 2 * _PERIOD, next_step_at=late.next_step_at - _PERIOD
    )
    Subscription.objects.filter(pk=leaving.pk).update(
        cancel_at_period_end=True, cancel_at=leaving.current_period_end
    )
    customer = Customer.objects.get(pk=rich.customer_id)
    paid = Invoice.objects.filter(subscription=rich)
    paid.update(status="paid", amount_paid_cents=1100, paid_at=clock.real_now())
    CustomerCreditLine.objects.create(
        store=bakery.store,
        mode="live",
        created_at=clock.real_now(),
        customer=customer,
        invoice=paid.get(),
        currency="EUR",
        kind=CustomerCreditLine.Kind.OVERPAID,
        amount_cents=100,
    )
    run_cycles()
    assert Invoice.objects.filter(subscription=plain).count() == 2
    assert Invoice.objects.filter(subscription=late).count() > 2
    assert Subscription.objects.get(pk=leaving.pk).status == "canceled"
    assert bills([rich])[0].credit_applied_cents == 100


def test_stores_have_their_own_numbers_series_and_rates(cast: Cast) -> None:
    bakery, strangers = cast.bakery, cast.strangers
    choose(bakery.live, invoice_prefix="RE-")
    made = [r.subscribe(shop.live) for shop in (bakery, strangers, bakery, strangers)]
    rows = due(*made)
    run_cycles()
    assert [
        (bill.store_id, bill.number, bill.series, bill.series_number) for bill in bills(rows)
    ] == [
        (bakery.store.pk, 3, "RE-", 3),
        (strangers.store.pk, 3, None, None),
        (bakery.store.pk, 4, "RE-", 4),
        (strangers.store.pk, 4, None, None),
    ]
    assert auditing.breaches() == []
