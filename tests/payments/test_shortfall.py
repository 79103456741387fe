"""A merchant takes less than was due, or gives more time: through the API and the dashboard, once,
within its limits, and with what follows from it."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from apps.assets.models import AcceptedAsset
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.chain.addresses import ZERO_ADDRESS
from apps.chain.models import Address, Deposit
from apps.core import clock
from apps.payments import seals
from apps.payments.models import HeldRefund, Payment, Refund
from apps.payments.services.reconcile import FINAL, reconcile
from apps.payments.services.settle import settle_payment
from apps.stores.models import AuditEntry
from apps.webhooks.models import Event
from tests import auditing, make
from tests.billing import records as r
from tests.cast import Cast, Shop
from tests.dashboard.attention.makers import arrives, told
from tests.dashboard.browse import Browser, text
from tests.payments.test_late_money import accept_late, late_on_open
from tests.payments.test_losing import in_thread, until_somebody_waits_for_us
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "committed"]

pytestmark = pytest.mark.django_db
UNKNOWN = "01a223dd-13ed-7689-b837-8fdaa99ce45b"


def short(shop: Shop, **fields: Any) -> str:
    """A payment of which half has come."""
    made = make.payment(shop.test, **fields)
    make.simulated(shop.test, made["id"], "underpaid")
    return str(made["id"])


def ask(shop: Shop, payment_id: str, action: str, body: dict[str, Any] | None = None) -> Any:
    return shop.test.post(f"/payments/{payment_id}/{action}", body or {})


def refused(answer: Any) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


def types(shop: Shop) -> list[str]:
    """The types of the store's events, oldest first (committed tests leave events of theirs)."""
    events = Event.objects.filter(store=shop.store).order_by("created_at", "id")
    return list(events.values_list("type", flat=True))


def test_an_open_one_completes_with_what_has_come(bakery: Shop) -> None:
    payment_id = short(bakery)
    answer = ask(bakery, payment_id, "accept_shortfall")
    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "completed")
    assert (body["state_reason"], body["amount_paid"]) == ("completed_underpaid", "5.00")
    assert types(bakery)[-1] == "payment_intent.completed"
    told = [entry["event_type"] for entry in body["payment_events"]]
    assert told[-2:] == ["payment_intent.completed", "payment.shortfall_accepted"]
    assert AuditEntry.objects.filter(action="payment.shortfall_accepted").count() == 1
    again = ask(bakery, payment_id, "accept_shortfall")
    assert (again.status_code, again.json()["status"]) == (200, "completed")
    assert types(bakery).count("payment_intent.completed") == 1
    assert reconcile(Payment.objects.get(pk=payment_id).pk) == FINAL
    assert auditing.breaches() == []


def test_two_at_once_accept_once(committed: Cast) -> None:
    shop = committed.bakery
    payment_id = short(shop)
    answers: list[Any] = []

    def press() -> None:
        answers.append(ask(shop, payment_id, "accept_shortfall"))

    with transaction.atomic():
        press()
        other = in_thread(press)
        until_somebody_waits_for_us()
    other.join(30)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert types(shop).count("payment_intent.completed") == 1
    entries = AuditEntry.objects.filter(action="payment.shortfall_accepted")
    assert entries.filter(store_id=shop.store.pk).count() == 1


def test_after_the_deadline_what_is_still_held_is_accepted(cast: Cast) -> None:
    bakery, owner = cast.bakery, cast.alice
    made = make.payment(bakery.test)
    payment_id = made["id"]
    # Nobody knows whom to send it back to, so it is held.
    arrives(made, sender=ZERO_ADDRESS, part=2)
    make.advance(bakery.test, 3601)
    assert make.detail(bakery.test, payment_id)["state_reason"] == "failed_underpaid"
    assert not Refund.objects.exists()
    assert HeldRefund.objects.get().status == "waiting"
    for _ in range(2):
        body = ask(bakery, payment_id, "accept_shortfall").json()
        assert (body["status"], body["state_reason"]) == ("failed", "failed_underpaid")
        assert body["accepted_late_amount"] == "5.00"
    (deposit,) = body["transactions"]
    assert deposit["accepted_at"] is not None and deposit["late"] is False
    assert types(bakery).count("transaction.confirmed") == 2
    # Nobody is asked for an address any more, nor told that something goes back.
    assert HeldRefund.objects.get().status == "closed"
    assert Payment.objects.get(pk=payment_id).needs_attention == ""
    assert told(Browser(owner)) == []
    page = text(Client().get(f"/pay/{body['reference']}"))
    assert "Partially paid" in page and "has accepted what you sent." in page
    assert all(words not in page for words in ("returned", "Enter an address", "start again"))
    assert reconcile(Payment.objects.get(pk=payment_id).pk) == FINAL
    assert auditing.breaches() == []


def test_a_part_that_was_accepted_is_not_said_to_go_back(cast: Cast) -> None:
    bakery = cast.bakery
    payment_id = short(bakery)
    late_on_open(payment_id, share=4)
    accept_late(payment_id)
    make.advance(bakery.test, 3601)
    body = make.detail(bakery.test, payment_id)
    assert body["state_reason"] == "failed_underpaid"
    page = text(Client().get(f"/pay/{body['reference']}"))
    assert "has accepted a part of it. The rest is being returned" in page
    assert "What arrived is being returned" not in page


def test_what_goes_back_already_is_not_accepted(bakery: Shop) -> None:
    payment_id = short(bakery)
    make.advance(bakery.test, 3601)
    assert Refund.objects.filter(payment__pk=payment_id).exists()
    assert refused(ask(bakery, payment_id, "accept_shortfall")) == (
        422,
        "already_returned",
        "What arrived has been returned or is on its way back",
    )


def test_what_is_refused(bakery: Shop) -> None:
    pending = make.payment(bakery.test)["id"]
    paid = make.paid(bakery.test)["id"]
    not_short = (422, "not_underpaid", "Only an underpaid payment's shortfall can be accepted")
    assert refused(ask(bakery, pending, "accept_shortfall")) == not_short
    assert refused(ask(bakery, paid, "accept_shortfall")) == not_short
    assert ask(bakery, UNKNOWN, "accept_shortfall").status_code == 404


def test_what_has_not_confirmed_is_waited_for(bakery: Shop) -> None:
    payment_id = short(bakery)
    Deposit.objects.update(status="confirming", handled_status="confirming")
    assert refused(ask(bakery, payment_id, "accept_shortfall")) == (
        422,
        "deposit_unconfirmed",
        "Wait until everything that arrived has confirmed",
    )


def test_an_asset_under_review_is_waited_for(bakery: Shop) -> None:
    payment_id = short(bakery)
    AcceptedAsset.objects.filter(store=bakery.store).update(suspended_at=clock.real_now())
    assert refused(ask(bakery, payment_id, "accept_shortfall")) == (
        422,
        "asset_under_review",
        "An asset that was received is stopped for review",
    )


def test_an_invoice_counts_what_was_accepted(bakery: Shop) -> None:
    bill = r.opened(bakery.test)
    made = r.ok(r.start_payment(bill["public_token"]), 201)["payment"]
    row = Payment.objects.get(reference=made["token"])
    make.simulated(bakery.test, str(row.pk), "underpaid")
    ask(bakery, str(row.pk), "accept_shortfall")
    update_paid_amounts([row.pk])
    after = r.invoice(bakery.test, bill["id"])
    assert (after["status"], after["amount_paid_cents"]) == ("open", 500)
    assert auditing.breaches() == []


def test_one_press_on_the_payments_page_accepts_it(cast: Cast) -> None:
    payment_id = short(cast.bakery)
    browser = Browser(cast.alice)
    shown = text(browser.get(f"payments/{payment_id}"))
    assert "Accept what arrived" in shown and "Give more time" in shown
    asked = re.sub(r"<[^>]+>|\s+", " ", text(browser.get(f"payments/{payment_id}/shortfall")))
    assert re.search(r"Arrived +€5.00 ", asked), asked
    assert re.search(r"[0-9.]+ +ETH +After fees +[0-9.]+ +ETH", asked), asked
    answer = browser.post(f"payments/{payment_id}/shortfall")
    assert answer.headers["Location"] == f"/dashboard/payments/{payment_id}"
    assert Payment.objects.get(pk=payment_id).state_reason == "completed_underpaid"
    assert "Accept what arrived" not in text(browser.get(f"payments/{payment_id}"))


def test_more_time_moves_the_deadline_and_nothing_else(bakery: Shop) -> None:
    payment_id = short(bakery)
    seals.seal_payments(clock.real_now())
    before = make.detail(bakery.test, payment_id)
    answer = ask(bakery, payment_id, "extend", {"expires_in": 7200})
    body = answer.json()
    assert answer.status_code == 200
    added = moment(body["expires_at"]) - moment(before["expires_at"])
    assert timedelta(seconds=3590) < added <= timedelta(seconds=3610)
    keys = ("crypto_amount_atomic", "exchange_rate_snapshot", "address")
    assert [[row[key] for key in keys] for row in body["payment_addresses"]] == [
        [row[key] for key in keys] for row in before["payment_addresses"]
    ]
    assert AuditEntry.objects.filter(action="payment.extended").count() == 1
    make.advance(bakery.test, 3700)
    assert make.detail(bakery.test, payment_id)["status"] == "processing"
    make.simulated(bakery.test, payment_id, reference="rest", late=False)
    after = make.detail(bakery.test, payment_id)
    assert (after["status"], after["amount_paid"]) == ("completed", "10.00")
    watched = Address.objects.filter(native_chain__isnull=False).latest("watch_balance_until")
    assert watched.watch_balance_until is not None
    assert auditing.breaches() == []


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_more_time_is_bounded_and_asked_twice_is_one(bakery: Shop) -> None:
    payment_id = short(bakery)
    first = ask(bakery, payment_id, "extend", {"expires_in": 86400}).json()["expires_at"]
    same = ask(bakery, payment_id, "extend", {"expires_in": 300}).json()["expires_at"]
    assert same == first
    for _ in range(2):
        make.advance(bakery.test, 80000)
        ask(bakery, payment_id, "extend", {"expires_in": 86400})
    make.advance(bakery.test, 80000)
    assert refused(ask(bakery, payment_id, "extend", {"expires_in": 86400})) == (
        422,
        "extension_too_long",
        "A payment can be open for three days at most",
    )
    row = Payment.objects.filter(pk=payment_id)
    with pytest.raises(IntegrityError, match="within_limits"), transaction.atomic():
        row.update(expires_at=row.get().created_at + timedelta(days=3, seconds=1))
    for wrong in (299, 86401, "x"):
        answer = ask(bakery, payment_id, "extend", {"expires_in": wrong})
        assert answer.status_code == 422 and "expires_in" in answer.json()["error"]["message"]


def test_only_an_open_payment_with_money_in_it_gets_more_time(bakery: Shop) -> None:
    not_extendable = (
        422,
        "not_extendable",
        "Only an open payment that money has arrived for can be given more time",
    )
    pending = make.payment(bakery.test)["id"]
    paid = make.paid(bakery.test)["id"]
    for payment_id in (pending, paid):
        assert refused(ask(bakery, payment_id, "extend")) == not_extendable
    late_on_open(pending)
    assert ask(bakery, pending, "extend", {"expires_in": 7200}).status_code == 200
    ended = short(bakery)
    make.advance(bakery.test, 3601)
    settle_payment(ended)
    assert refused(ask(bakery, ended, "extend")) == not_extendable
    assert ask(bakery, UNKNOWN, "extend").status_code == 404


def test_the_dashboard_gives_more_time(cast: Cast) -> None:
    payment_id = short(cast.bakery)
    browser = Browser(cast.alice)
    before = Payment.objects.get(pk=payment_id).expires_at
    assert "Give the customer more time?" in text(browser.get(f"payments/{payment_id}/extend"))
    answer = browser.post(f"payments/{payment_id}/extend", hours="6")
    assert answer.headers["Location"] == f"/dashboard/payments/{payment_id}"
    after = Payment.objects.get(pk=payment_id)
    assert after.expires_at > before + timedelta(hours=4) and after.first_expires_at == before
