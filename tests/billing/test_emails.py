"""Emails to customers: which ones, when, once each, in text and HTML, and none where nobody wants
one."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as outbox

from apps.billing.invoices.reminders import send_reminders
from apps.billing.models import Invoice
from apps.billing.periods import next_reminder
from apps.core import clock, mail
from apps.core.models import OutgoingMail
from apps.stores.services import change_store
from tests import make
from tests.billing import records as r
from tests.cast import Api, Shop

DAY = r.DAY
SOON = "invoice_due_soon"
LATE = "invoice_overdue"
RECEIPT = "invoice_receipt"
OPEN = "invoice_open"
PAST_DUE = "subscription_past_due"
CANCELED = "subscription_canceled"


def emails_to(email: str) -> list[str]:
    """The emails to a customer in their order."""
    return list(
        OutgoingMail.objects.filter(to=email)
        .order_by("created_at")
        .values_list("template", flat=True)
    )


def sent_invoice(api: Api, days: int = 10, **fields: Any) -> dict[str, Any]:
    """Open, due in so many days by the store's time, and sent by the merchant."""
    now = datetime.fromisoformat(r.ok(api.get("/test_clock"))["now"])
    made = r.opened(api, due_at=clock.iso(now + timedelta(days=days)), **fields)
    r.ok(r.act(api, made["id"], "send"))
    return made


def email_of(made: dict[str, Any]) -> str:
    return str(made["customer"]["email"])


def test_an_invoice_is_reminded_of_three_days_before_and_after_it_is_due(bakery: Shop) -> None:
    api = bakery.test
    made = sent_invoice(api)
    steps = [
        (6, [OPEN]),
        (2, [OPEN, SOON]),
        (4, [OPEN, SOON]),
        (2, [OPEN, SOON, LATE]),
        (400, [OPEN, SOON, LATE]),
    ]
    for days, expected in steps:
        make.advance(api, days * DAY)
        assert emails_to(email_of(made)) == expected


def test_who_is_written_to_in_forty_days(bakery: Shop) -> None:
    """Customers of one store, each in a case of their own: what has become of the invoice decides
    which emails they get."""
    api = bakery.test
    now = datetime.fromisoformat(r.ok(api.get("/test_clock"))["now"])
    paid, void, written_off, deleted, at_once = (
        sent_invoice(api, days) for days in (10, 10, 10, 10, 3)
    )
    r.pay(api, paid)
    r.ok(r.act(api, void["id"], "void"))
    r.ok(r.act(api, written_off["id"], "mark_uncollectible"))
    never_sent = r.opened(api, due_at=clock.iso(now + timedelta(days=10)))
    without_date = r.opened(api)
    r.ok(r.act(api, without_date["id"], "send"))
    subscribed, paused, ending = (
        r.subscribe(api),
        r.subscribe(api),
        r.subscribe(api, trial_period_days=5),
    )
    r.ok(r.change(api, paused["id"], "pause"))
    r.ok(r.change(api, ending["id"], "cancel", at_period_end=True))
    assert emails_to(email_of(ending)) == []
    for item in (subscribed, deleted):
        assert api.delete(f"/billing/customers/{item['customer_id']}").status_code == 204

    make.advance(api, 40 * DAY)
    r.pay(api, deleted)

    expected = {
        "paid: a receipt ends the reminders": (paid, [OPEN, RECEIPT]),
        "void": (void, [OPEN]),
        "written off": (written_off, [OPEN]),
        "never sent by the merchant": (never_sent, []),
        "due at once: reminded of only afterwards": (at_once, [OPEN, LATE]),
        "without a date: never reminded of": (without_date, [OPEN]),
        "a paused subscription": (paused, [OPEN]),
        "an end that was asked for": (ending, [CANCELED]),
        "a deleted customer who had subscribed": (subscribed, [OPEN]),
        "a deleted customer with an invoice": (deleted, [OPEN]),
    }
    for case, (made, templates) in expected.items():
        assert emails_to(email_of(made)) == templates, case


def test_nothing_is_asked_for_and_nothing_is_said_of_an_invoice_of_nothing(bakery: Shop) -> None:
    free = r.opened(bakery.test, line_items=[r.line(0)])
    assert (free["status"], emails_to(email_of(free))) == ("paid", [])


def test_a_subscription_is_told_past_due_and_canceled_and_its_invoices_reminded_of(
    bakery: Shop,
) -> None:
    """In emails of text and HTML that lead to the invoice and the portal."""
    change_store(bakery.store, brand_name="Brot & Büchse", support_email="hello@bakery.example")
    made = r.subscribe(bakery.test, grace_cycles=0)
    patient = r.subscribe(bakery.test, grace_cycles=1)
    make.advance(bakery.test, 11 * DAY)
    assert emails_to(email_of(made)) == [OPEN, SOON, CANCELED, LATE]
    assert emails_to(email_of(patient)) == [OPEN, SOON, PAST_DUE, LATE]
    make.advance(bakery.test, 31 * DAY)
    assert emails_to(email_of(patient)) == [OPEN, SOON, PAST_DUE, LATE, OPEN, SOON, CANCELED, LATE]

    r.pay(bakery.test, r.opened(bakery.test))
    mail.send_due()
    found = {row.template for row in OutgoingMail.objects.all()}
    assert found == {OPEN, SOON, LATE, PAST_DUE, CANCELED, RECEIPT}
    assert OutgoingMail.objects.exclude(status="sent").count() == 0
    for message in outbox.outbox:
        is_well_written(message)


def is_well_written(message: Any) -> None:
    html, kind = message.alternatives[0]
    assert kind == "text/html" and "/portal/" in html and "/portal/" in message.body
    assert (
        ("/invoice/" in html)
        == ("/invoice/" in message.body)
        == ("has ended" not in message.subject)
    )
    assert "Brot & Büchse" in message.body and "Brot &amp; Büchse" in html
    assert message.reply_to == ["hello@bakery.example"]
    assert "{" not in message.body and message.subject and "\n" not in message.subject
    assert message.subject.startswith("[TEST] ")
    assert "no real money" in message.body and "no real money" in html


def test_the_periodic_run_reminds_by_real_time_in_live_mode_and_once(bakery: Shop) -> None:
    now = clock.real_now()
    made = r.opened(bakery.live, due_at=clock.iso(now + timedelta(days=10)))
    r.ok(r.act(bakery.live, made["id"], "send"))
    with time_machine.travel(now + timedelta(days=7, seconds=5), tick=True):
        assert [send_reminders(), send_reminders()] == [1, 0]
    with time_machine.travel(
        now + timedelta(days=30), tick=True
    ):  # after an outage there is one email, not all that were missed
        assert [send_reminders(), send_reminders()] == [1, 0]
    assert emails_to(email_of(made)) == [OPEN, SOON, LATE]
    assert Invoice.objects.get(pk=made["id"]).next_letter_at is None


def test_a_payment_that_has_just_completed_is_thanked_for_and_not_dunned(bakery: Shop) -> None:
    made = sent_invoice(bakery.test)
    make.simulated(
        bakery.test, r.start_payment(made["public_token"]).json()["payment"]["payment_intent_id"]
    )
    Invoice.objects.filter(pk=made["id"]).update(next_letter_at=clock.real_now())
    send_reminders()
    assert emails_to(email_of(made)) == [OPEN, RECEIPT]


def test_a_mailbox_that_refuses_stops_nothing(bakery: Shop, settings: Any) -> None:
    settings.EMAIL_BACKEND = "tests.core.test_mail.Refusing"
    made = r.subscribe(bakery.test)
    mail.send_due()
    assert OutgoingMail.objects.get(to=email_of(made)).status == "failed"
    make.advance(bakery.test, 31 * DAY)
    assert len(r.invoices_of(bakery.test, made["id"])) == 2


START = datetime.fromisoformat("2026-03-01T12:00:00+00:00")
MOMENTS = [
    (None, 0, None),
    (10, 0, 7),
    (10, 7, 13),
    (10, 13, None),
    (4, 0, 1),
    (3.9, 0, 6.9),
    (1, 0, 4),
    (-5, 0, None),
    (10, 500, None),
]


@pytest.mark.parametrize(("due", "now", "expected"), MOMENTS)
def test_when_a_customer_is_reminded(due: float | None, now: float, expected: float | None) -> None:
    found = next_reminder(
        START, None if due is None else START + timedelta(days=due), START + timedelta(days=now)
    )
    assert found == (None if expected is None else START + timedelta(days=expected))
