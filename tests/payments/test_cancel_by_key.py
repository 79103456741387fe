"""A merchant's key calls a payment off before anything has come, and reads it by its reference as
well as by its id."""

from datetime import timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.payments.models import Payment
from apps.stores.models import AuditEntry, Store
from tests import auditing, make
from tests.cast import Cast, Shop

pytestmark = pytest.mark.django_db


def cancel(shop: Shop, payment: str) -> Any:
    return shop.test.post(f"/payments/{payment}/cancel", {})


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_pending_payment_ends_at_once_and_can_be_paid_no_more(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    answer = cancel(bakery, made["id"])
    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "expired")
    assert (body["state_reason"], body["terminal"]) == ("expired_timeout", True)
    assert bakery.test.get(f"/payments/{made['id']}").json()["status"] == "expired"
    (entry,) = AuditEntry.objects.filter(action="payment.canceled")
    assert entry.actor_kind == "key"
    assert auditing.breaches() == []


def test_what_money_has_come_for_or_has_ended_is_not_canceled(bakery: Shop) -> None:
    paid, short = make.paid(bakery.test), make.payment(bakery.test)
    make.simulated(bakery.test, short["id"], "underpaid")
    ended = make.payment(bakery.test)["id"]
    assert cancel(bakery, ended).status_code == 200
    for payment in (paid["id"], short["id"], ended):
        assert refused(cancel(bakery, payment)) == (422, "not_cancelable")
    assert Payment.objects.get(pk=paid["id"]).status == "completed"


def test_a_payment_whose_card_was_charged_is_not_canceled(bakery: Shop) -> None:
    """Its coins are on their way: it stays open for them, and no line says that it was canceled."""
    made = make.payment(bakery.test)
    row = Payment.objects.get(pk=made["id"])
    held_until = row.expires_at + timedelta(hours=1)
    Payment.objects.filter(pk=row.pk).update(held_open_until=held_until)
    assert refused(cancel(bakery, made["id"])) == (422, "not_cancelable")
    assert Payment.objects.get(pk=row.pk).status == "pending"
    assert not AuditEntry.objects.filter(action="payment.canceled").exists()


def test_a_suspended_store_still_cancels(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    Store.objects.filter(pk=bakery.store.pk).update(payments_suspended_at=clock.real_now())
    assert cancel(bakery, made["id"]).json()["status"] == "expired"


def test_anothers_payment_is_not_found(cast: Cast) -> None:
    theirs = make.payment(cast.strangers.test)
    live = make.payment(cast.bakery.live)
    for name in ("id", "reference"):
        for payment in (theirs, live):
            assert cancel(cast.bakery, payment[name]).status_code == 404
            assert cast.bakery.test.get(f"/payments/{payment[name]}").status_code == 404
    assert set(Payment.objects.values_list("status", flat=True)) == {"pending"}


def test_a_payment_is_read_and_acted_on_by_its_reference(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    by_id = bakery.test.get(f"/payments/{made['id']}").json()
    for name in (made["reference"], made["reference"].lower()):
        assert bakery.test.get(f"/payments/{name}").json() == by_id
    make.simulated(bakery.test, made["reference"], "underpaid")
    answer = bakery.test.post(f"/payments/{made['reference']}/accept_shortfall", {})
    assert (answer.status_code, answer.json()["id"]) == (200, made["id"])
    for path in ("events", "invoice", "refunds"):
        assert bakery.test.get(f"/payments/{made['reference']}/{path}").status_code == 200
    for wrong in (made["reference"][:-1], made["reference"] + "A", "0" * 16, "%00" * 16):
        assert bakery.test.get(f"/payments/{wrong}").status_code == 404
