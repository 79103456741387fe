"""A payment that is enough and waits for its confirmations: nobody is judged, reminded or notified
of an unpaid invoice meanwhile, and time goes on as documented if it comes to nothing."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from apps.access.access import Access
from apps.assets.rates import refresh
from apps.billing.invoices import files
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import Invoice, InvoicePayment
from apps.billing.selectors import owed, past_due_invoices
from apps.billing.services.portal import portal_url
from apps.billing.subscriptions.cycle import run_cycles
from apps.chain.models import AddressLook, Head
from apps.chain.selectors import BLOCK_ON_ITS_WAY
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.payments.models import Payment, PaymentAddress
from apps.stores.models import Notification
from apps.stores.services import change_store
from apps.webhooks.models import Event
from tests import auditing, make
from tests.billing import records as r
from tests.billing.test_emails import CANCELED, LATE, OPEN, PAST_DUE, RECEIPT, SOON, emails_to
from tests.cast import Api, Shop
from tests.dashboard.browse import Browser, text

DAY = r.DAY
MINUTE = 60
RECOVERED = "subscription_recovered"


def state(api: Api, made: dict[str, Any]) -> tuple[str, int]:
    now = r.subscription(api, made["id"])
    return now["status"], now["failed_cycle_count"]


def emails(made: dict[str, Any]) -> list[str]:
    return emails_to(str(made["customer"]["email"]))


def pay_unconfirmed(api: Api, bill: dict[str, Any], **fields: Any) -> str:
    """Everything has been seen and nothing has its confirmations; the payment's id."""
    started = r.start_payment(bill["public_token"])
    payment_id = str(started.json()["payment"]["payment_intent_id"])
    make.simulated(api, payment_id, "unconfirmed", reference="deposit", **fields)
    return payment_id


def confirm(api: Api, payment_id: str) -> None:
    """And what is woken by it runs."""
    make.simulated(api, payment_id, reference="deposit")
    update_paid_amounts([payment_id])


def come_to_nothing(api: Api, payment_id: str) -> None:
    make.simulated(api, payment_id, "failed", reference="deposit")


def just_before_due(shop: Shop, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A subscription and its invoice, a minute before it is due."""
    made = r.subscribe(shop.test, **fields)
    make.advance(shop.test, 7 * DAY - MINUTE)
    [bill] = r.invoices_of(shop.test, made["id"])
    return made, bill


@pytest.mark.parametrize("grace", [0, 1])
def test_a_subscriber_whose_payment_is_confirming_at_the_due_moment_is_not_judged(
    bakery: Shop, grace: int
) -> None:
    api = bakery.test
    made, bill = just_before_due(bakery, grace_cycles=grace)
    payment_id = pay_unconfirmed(api, bill)
    make.advance(api, 2 * MINUTE)
    assert state(api, made) == ("active", 0)
    make.advance(api, 3 * DAY + 600)  # long after the payment's deadline, and after the reminder
    assert state(api, made) == ("active", 0)
    confirm(api, payment_id)
    make.advance(api, MINUTE)
    assert r.invoice(api, bill["id"])["status"] == "paid"
    assert state(api, made) == ("active", 0)
    assert emails(made) == [OPEN, SOON, RECEIPT]
    assert not Event.objects.filter(store=bakery.store, type="subscription.past_due").exists()
    make.advance(api, 31 * DAY - 10 * DAY)
    assert len(r.invoices_of(api, made["id"])) == 2  # the next period, billed once
    assert auditing.breaches() == []


def test_too_little_first_and_then_the_rest_is_enough(bakery: Shop) -> None:
    api = bakery.test
    made, bill = just_before_due(bakery, grace_cycles=0)
    started = r.start_payment(bill["public_token"]).json()["payment"]["payment_intent_id"]
    make.simulated(api, started, None, settlement_amount="4.00")
    make.simulated(api, started, "unconfirmed", reference="deposit")
    make.advance(api, 2 * MINUTE)
    assert state(api, made) == ("active", 0)
    confirm(api, started)
    make.advance(api, MINUTE)
    assert (state(api, made), r.invoice(api, bill["id"])["status"]) == (("active", 0), "paid")


def test_what_is_within_the_tolerance_is_enough_and_less_is_not(bakery: Shop) -> None:
    api = bakery.test
    change_store(bakery.store, underpayment_tolerance_bps=100)
    enough, bill = just_before_due(bakery, grace_cycles=0)
    other = r.subscribe(api, grace_cycles=0)
    pay_unconfirmed(api, bill, settlement_amount="9.91")
    make.advance(api, 2 * MINUTE)
    assert state(api, enough) == ("active", 0)
    make.advance(api, 7 * DAY - 3 * MINUTE)
    [unpaid] = r.invoices_of(api, other["id"])
    pay_unconfirmed(api, unpaid, settlement_amount="9.80")
    make.advance(api, 2 * MINUTE)
    assert state(api, other) == ("canceled", 1)


@pytest.mark.parametrize(("grace", "judged"), [(0, ("canceled", 1)), (1, ("past_due", 1))])
def test_one_that_comes_to_nothing_is_judged_then(
    bakery: Shop, grace: int, judged: tuple[str, int]
) -> None:
    api = bakery.test
    made, bill = just_before_due(bakery, grace_cycles=grace)
    payment_id = pay_unconfirmed(api, bill)
    make.advance(api, 10 * MINUTE)
    assert state(api, made) == ("active", 0)
    come_to_nothing(api, payment_id)  # which is usually mined again, until the deadline
    make.advance(api, 5 * MINUTE)
    assert state(api, made) == ("active", 0)
    make.advance(api, 60 * MINUTE)
    assert state(api, made) == judged
    assert emails(made) == [OPEN, SOON, CANCELED if grace == 0 else PAST_DUE]
    make.advance(api, 60 * DAY)
    keys = [bill["period_key"] for bill in r.invoices_of(api, made["id"])]
    assert len(keys) == len(set(keys)) == (1 if grace == 0 else 2)
    assert auditing.breaches() == []


def test_the_deadline_of_the_payment_is_a_moment_of_judgment(bakery: Shop) -> None:
    """The deposit that was seen is lost; the cycle is judged with the payment."""
    api = bakery.test
    made, bill = just_before_due(bakery, grace_cycles=0)
    payment_id = pay_unconfirmed(api, bill)
    deadline = Payment.objects.get(pk=payment_id).expires_at
    make.advance(api, 50 * MINUTE)
    come_to_nothing(api, payment_id)
    r.ok(api.post("/test_clock/advance", {"to": deadline.isoformat()}))
    assert Payment.objects.get(pk=payment_id).status == "expired"
    assert state(api, made) == ("canceled", 1)


def test_periods_are_billed_while_an_earlier_one_is_confirming(bakery: Shop) -> None:
    api = bakery.test
    weekly = r.price(api, interval="weekly")["id"]
    made, first = just_before_due(bakery, price_id=weekly, grace_cycles=0)
    payment_id = pay_unconfirmed(api, first)
    make.advance(api, 3 * DAY)
    bills = r.invoices_of(api, made["id"])
    assert [bill["status"] for bill in bills] == ["open", "open"]
    assert state(api, made) == ("active", 0)
    come_to_nothing(api, payment_id)
    make.advance(api, DAY)
    assert state(api, made) == ("canceled", 1)
    assert len(r.invoices_of(api, made["id"])) == 2


def test_a_pause_and_an_end_that_were_asked_for_wait_for_nothing(bakery: Shop) -> None:
    api = bakery.test
    weekly = r.price(api, interval="weekly")["id"]
    ending, bill = just_before_due(bakery, price_id=weekly, grace_cycles=0)
    r.ok(r.change(api, ending["id"], "cancel", at_period_end=True))
    payment_id = pay_unconfirmed(api, bill)
    make.advance(api, 2 * MINUTE)
    assert state(api, ending) == ("canceled", 0)
    confirm(api, payment_id)
    make.advance(api, MINUTE)
    assert r.invoice(api, bill["id"])["status"] == "paid"

    paused, bill = just_before_due(bakery, grace_cycles=0)
    payment_id = pay_unconfirmed(api, bill)
    make.advance(api, 2 * MINUTE)
    r.ok(r.change(api, paused["id"], "pause"))
    come_to_nothing(api, payment_id)
    make.advance(api, DAY)
    r.ok(r.change(api, paused["id"], "resume"))
    make.advance(api, DAY)
    assert state(api, paused) == ("active", 0)


def test_the_grace_of_one_that_is_past_due_waits_as_well(bakery: Shop) -> None:
    """The second cycle is being paid when it is due: it isn't one failure too many."""
    api = bakery.test
    made = r.subscribe(api)
    make.advance(api, 36 * DAY)
    assert state(api, made) == ("past_due", 1)
    first, second = r.invoices_of(api, made["id"])
    payment_id = pay_unconfirmed(api, second)
    make.advance(api, 2 * DAY)
    assert state(api, made) == ("past_due", 1)
    confirm(api, payment_id)
    r.pay(api, first)
    make.advance(api, MINUTE)
    assert state(api, made) == ("active", 0)


def test_recovery_is_told_to_programs_to_the_customer_and_to_the_store(bakery: Shop) -> None:
    api = bakery.test
    made = r.subscribe(api)
    make.advance(api, 8 * DAY)
    [bill] = r.invoices_of(api, made["id"])
    payment_id = pay_unconfirmed(api, bill)
    assert state(api, made) == ("past_due", 1)  # it was paid after it was due
    before = Event.objects.filter(store=bakery.store, type="subscription.updated").count()
    confirm(api, payment_id)
    make.advance(api, MINUTE)
    assert state(api, made) == ("active", 0)
    told = Event.objects.filter(store=bakery.store, type="subscription.updated").order_by("id")
    assert told.count() == before + 1
    last = told.last()
    assert last is not None and (last.object["id"], last.object["status"]) == (made["id"], "active")
    assert emails(made) == [OPEN, SOON, PAST_DUE, RECEIPT, RECOVERED]
    titles = Notification.objects.filter(store=bakery.store).values_list("title", flat=True)
    assert {"A subscription is past due", "A subscription is active again"} <= set(titles)


def test_reminders_wait_for_a_payment_and_go_on_as_planned_without_it(bakery: Shop) -> None:
    api = bakery.test
    ids = {}
    for name in ("paid", "failed before", "failed between"):
        now = r.ok(api.get("/test_clock"))["now"]
        made = r.opened(api, due_at=_days_later(now, 10))
        r.ok(r.act(api, made["id"], "send"))
        ids[name] = made
    make.advance(api, 7 * DAY - 10 * MINUTE)
    payments = {name: pay_unconfirmed(api, made) for name, made in ids.items()}
    make.advance(api, 20 * MINUTE)
    assert {name: emails(made) for name, made in ids.items()} == {name: [OPEN] for name in ids}

    confirm(api, payments["paid"])
    come_to_nothing(api, payments["failed before"])
    make.advance(api, DAY)
    assert emails(ids["paid"]) == [OPEN, RECEIPT]
    assert emails(ids["failed before"]) == [OPEN, SOON]
    assert emails(ids["failed between"]) == [OPEN]

    make.advance(api, 3 * DAY)  # it is past due, though not for as long as the reminder waits
    come_to_nothing(api, payments["failed between"])
    make.advance(api, DAY)
    assert emails(ids["failed between"]) == [OPEN]
    make.advance(api, 2 * DAY)
    assert emails(ids["failed between"]) == [OPEN, LATE]
    assert emails(ids["failed before"]) == [OPEN, SOON, LATE]
    assert OutgoingMail.objects.filter(template=SOON).count() == 1


def _days_later(now: str, days: int) -> str:
    return (datetime.fromisoformat(now) + timedelta(days=days)).isoformat()


def test_a_deposit_that_nobody_has_acted_upon_yet_is_seen_before_the_judgment(
    bakery: Shop,
) -> None:
    """The watcher has written it, and the job that settles it hasn't run."""
    api = bakery.test
    made, bill = just_before_due(bakery, grace_cycles=0)
    payment_id = pay_unconfirmed(api, bill)
    Payment.objects.filter(pk=payment_id).update(status="pending", state_reason=None)
    make.advance(api, 2 * MINUTE)
    assert state(api, made) == ("active", 0)
    assert Invoice.objects.get(pk=bill["id"]).due_waits_until is not None


def test_blocks_that_nobody_has_read_yet_may_have_paid_it(bakery: Shop, settings: Any) -> None:
    """In live mode, by real time: the watcher is behind the moment at which it was due."""
    settings.CHAIN_URLS = {"ethereum": ["http://127.0.0.1:9"]}
    api = bakery.live
    made = r.subscribe(api, grace_cycles=0)
    [bill] = r.invoices_of(api, made["id"])
    now = clock.real_now()
    with time_machine.travel(now + timedelta(days=7, minutes=-1), tick=True):
        refresh()
        r.ok(r.start_payment(bill["public_token"]), 201)
    due = datetime.fromisoformat(bill["due_at"])
    head = {"number": 1, "hash": "0xb", "block_time": now, "synced_at": now}
    Head.objects.update_or_create(chain_id="ethereum", defaults=head)
    with time_machine.travel(due + timedelta(minutes=2), tick=True):
        run_cycles()
        assert state(api, made) == ("active", 0)
        Head.objects.update(synced_at=due + BLOCK_ON_ITS_WAY)
    with time_machine.travel(due + timedelta(minutes=5), tick=True):
        run_cycles()  # the node doesn't say what the address holds
        assert state(api, made) == ("active", 0)
    link = InvoicePayment.objects.get(invoice=bill["id"])
    for address in PaymentAddress.objects.filter(payment=link.payment):
        AddressLook.objects.create(
            address=address.address, chain_id="ethereum", block_number=1, looked_until=due
        )
    with time_machine.travel(due + timedelta(minutes=9), tick=True):
        run_cycles()
        assert state(api, made) == ("canceled", 1)


def test_pages_and_files_say_that_it_is_confirming_and_not_that_it_is_past_due(
    bakery: Shop,
) -> None:
    api = bakery.test
    now = r.ok(api.get("/test_clock"))["now"]
    bill = r.opened(api, due_at=_days_later(now, 2))
    late = r.opened(api, due_at=_days_later(now, 2), customer_id=bill["customer_id"])
    make.advance(api, 2 * DAY - MINUTE)
    payment_id = pay_unconfirmed(api, bill)
    make.advance(api, 2 * MINUTE)
    row = Invoice.objects.select_related("store", "customer").get(pk=bill["id"])
    at = clock.now(row.store, row.mode)
    access = Access.for_public(row.store, row.mode)
    assert files.words_for(row, at) == "Confirming"
    assert [invoice.pk for invoice in past_due_invoices(Invoice.objects.all(), at)] == [
        uuid.UUID(late["id"])
    ]
    [total] = owed(access, at)
    assert (total.count, total.left_cents, total.late_count, total.late_cents) == (2, 2000, 1, 1000)
    assert owed(access, at, row.customer) == [total]

    page = Client().get(f"/invoice/{bill['public_token']}").content.decode()
    assert "Confirming" in page and "Past due" not in page
    link = portal_url(row.customer).removeprefix(settings.PUBLIC_URL)
    portal = Client().get(link).content.decode()
    assert portal.count("Confirming") == 1 and portal.count("Past due") == 1
    assert f"/invoice/{bill['public_token']}" in portal and portal.count(">Pay<") == 1

    browser = Browser(bakery.owner)
    for path in ("invoices", f"customers/{row.customer_id}"):
        shown = text(browser.get(path))
        assert shown.count("Confirming") == 1 and "Past due" in shown, path
    filtered = text(browser.get("invoices?status=past_due"))
    assert "INV-0002" in filtered and "INV-0001" not in filtered
    assert "Confirming" in text(browser.get(f"invoices/{bill['id']}"))
    refused = browser.post(f"invoices/{bill['id']}/write-off")
    assert refused.status_code == 422 and "has a payment in progress" in text(refused)
    come_to_nothing(api, payment_id)
    make.advance(api, 61 * MINUTE)
    assert browser.post(f"invoices/{bill['id']}/write-off").status_code in (302, 303)
    assert r.invoice(api, bill["id"])["status"] == "uncollectible"
