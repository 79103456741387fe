"""Stories of a payment, through the API: what the customer sends, what the merchant sees, and where
the money is."""

from datetime import timedelta
from typing import Any

import pytest

from apps.chain.models import Head
from apps.chain.selectors import BLOCK_ON_ITS_WAY
from apps.core import clock
from apps.core.clock import iso
from apps.ledger.selectors import balances
from apps.payments.models import Payment
from apps.payments.services.settle import settle_payment
from apps.stores.services import change_store
from apps.webhooks.models import Event
from tests import make
from tests.cast import Api, Shop

FIFTY_DAYS = 50 * 86400


def needed(payment: dict[str, Any]) -> int:
    return int(payment["payment_addresses"][0]["crypto_amount_atomic"])


def state(payment: dict[str, Any]) -> tuple[str, str | None]:
    return payment["status"], payment["state_reason"]


def names(shop: Shop) -> list[str]:
    return list(
        Event.objects.visible_to(shop.access())
        .order_by("created_at", "type")
        .values_list("type", flat=True)
    )


def held(shop: Shop) -> tuple[int, int]:
    """(available, held) of the store's test ether."""
    balance = balances(shop.store.pk, "test").get("SETH")
    return (balance.available_atomic, balance.held_atomic) if balance else (0, 0)


def test_an_exact_payment_is_completed_and_split_to_the_unit(bakery: Shop) -> None:
    paid = make.paid(bakery.test, amount="100.00")
    assert state(paid) == ("completed", "completed_exact")
    assert (paid["settlement_status"], paid["amount_paid"], paid["terminal"]) == (
        "completed",
        "100.00",
        True,
    )
    gross = needed(paid)
    fee = needed(paid) // 100
    assert held(bakery) == (gross - fee, 0)
    (asset,) = paid["financials"]["assets"]
    assert (asset["gross_atomic"], asset["service_fee_atomic"], asset["net_atomic"]) == (
        str(gross),
        str(fee),
        str(gross - fee),
    )
    assert (
        paid["financials"]["gross_amount"],
        paid["financials"]["fee_amount"],
        paid["financials"]["net_amount"],
    ) == (
        "100.00",
        "1.00",
        "99.00",
    )
    assert paid["fee"]["fee_atomic"] == str(fee)
    assert paid["overpayment"]["excess_atomic"] == "0"


def test_each_step_leaves_its_event_in_order(bakery: Shop) -> None:
    paid = make.paid(bakery.test)
    moves = [
        (payment_event["event_type"], payment_event["from_status"], payment_event["to_status"])
        for payment_event in paid["payment_events"]
    ]
    assert moves == [
        ("payment_intent.created", None, "pending"),
        ("transaction.confirming", "pending", "completed"),
        ("transaction.confirmed", "pending", "completed"),
        ("payment_intent.processing", "pending", "processing"),
        ("payment_intent.completed", "processing", "completed"),
    ]
    assert sorted(names(bakery)) == sorted(move[0] for move in moves)
    first = Event.objects.visible_to(bakery.access()).get(type="payment_intent.processing")
    assert (first.object["status"], first.object["from_status"], first.object["to_status"]) == (
        "processing",
        "pending",
        "processing",
    )


def test_half_is_held_until_the_rest_arrives(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    half = make.simulated(bakery.test, payment["id"], "underpaid", reference="a")
    assert state(half) == ("processing", "processing_underpaid")
    assert held(bakery) == (0, needed(payment) // 2)
    noted = [
        payment_event
        for payment_event in half["payment_events"]
        if payment_event["event_type"] == "payment_intent.underpaid_detected"
    ]
    assert len(noted) == 1
    whole = make.simulated(bakery.test, payment["id"], "exact", reference="b")
    assert state(whole) == ("completed", "completed_exact")
    assert "payment_intent.underpaid_detected" not in names(bakery)


def test_too_much_is_taken_where_the_store_accepts_it(bakery: Shop) -> None:
    paid = make.simulated(bakery.test, make.payment(bakery.test)["id"], "overpaid")
    assert state(paid) == ("completed", "completed_overpaid")
    assert (
        int(paid["overpayment"]["excess_atomic"])
        == int(paid["overpayment"]["received_atomic"]) - needed(paid)
        > 0
    )


def test_too_much_is_rejected_where_the_store_does_not_accept_it(bakery: Shop) -> None:
    change_store(bakery.store, accept_overpayments=False)
    failed = make.simulated(bakery.test, make.payment(bakery.test)["id"], "overpaid")
    assert state(failed) == ("failed", "failed_overpaid")
    assert held(bakery) == (0, 0)
    assert balances(bakery.store.pk, "test")["SETH"].reserved_atomic == int(
        failed["simulated_payment"]["amount_atomic"]
    )


def test_more_money_on_a_completed_payment_is_settled_at_once(bakery: Shop) -> None:
    paid = make.paid(bakery.test)
    more = make.simulated(
        bakery.test,
        paid["id"],
        "exact",
        late=True,
        reference="again",
        amount_atomic=str(needed(paid)),
    )
    assert state(more) == ("completed", "completed_overpaid")
    gross = 2 * needed(paid)
    assert held(bakery) == (gross - gross // 100, 0)
    assert more["financials"]["assets"][0]["gross_atomic"] == str(gross)
    assert (
        len(
            [
                payment_event
                for payment_event in more["payment_events"]
                if payment_event["event_type"] == "payment_intent.completed"
            ]
        )
        == 1
    )


@pytest.mark.parametrize(
    ("accepts", "expected"),
    [(True, ("completed", "completed_underpaid")), (False, ("failed", "failed_underpaid"))],
)
def test_too_little_at_the_deadline_is_the_stores_decision(
    bakery: Shop, accepts: bool, expected: tuple[str, str]
) -> None:
    change_store(bakery.store, accept_underpayments=accepts)
    payment = make.payment(bakery.test)
    make.simulated(bakery.test, payment["id"], "underpaid")
    make.advance(bakery.test, 3601)
    assert state(make.detail(bakery.test, payment["id"])) == expected


def test_an_unpaid_payment_expires_when_its_time_has_passed_and_not_before(bakery: Shop) -> None:
    payment = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 290)
    assert make.detail(bakery.test, payment["id"])["status"] == "pending"
    make.advance(bakery.test, 20)
    expired = make.detail(bakery.test, payment["id"])
    assert state(expired) == ("expired", "expired_timeout")
    assert expired["settlement_status"] is None


def test_an_unconfirmed_deposit_holds_the_payment_open(bakery: Shop) -> None:
    payment = make.payment(bakery.test, expires_in=300)
    make.simulated(bakery.test, payment["id"], "unconfirmed", reference="a")
    make.advance(bakery.test, FIFTY_DAYS)
    waiting = make.detail(bakery.test, payment["id"])
    assert state(waiting) == ("processing", "pending_confirmations")
    assert (waiting["amount_paid"], waiting["settlement_status"]) == ("0.00", "pending")
    assert (
        state(make.simulated(bakery.test, payment["id"], "exact", reference="a"))[0] == "completed"
    )


def test_a_late_deposit_is_held_shown_and_changes_no_status(bakery: Shop) -> None:
    payment = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    late = make.simulated(bakery.test, payment["id"], "exact", late=True)
    assert state(late) == ("expired", "expired_timeout")
    assert [late_deposit["amount_atomic"] for late_deposit in late["late_deposits"]] == [
        str(needed(payment))
    ]
    assert held(bakery) == (0, needed(payment))
    assert "transaction.confirmed" in names(bakery)


def test_a_failed_deposit_credits_nothing_and_leaves_the_payment_as_it_was(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    failed = make.simulated(bakery.test, payment["id"], "failed")
    assert state(failed) == ("pending", None)
    assert failed["transaction"]["status"] == "failed"
    assert names(bakery) == ["payment_intent.created", "transaction.failed"]
    assert held(bakery) == (0, 0)


def test_a_simulated_deposit_of_a_known_reference_is_changed_not_added(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    for part in (4, 2):
        make.simulated(
            bakery.test,
            payment["id"],
            None,
            amount_atomic=str(needed(payment) // part),
            reference="a",
        )
    assert held(bakery) == (0, needed(payment) // 2)
    make.simulated(
        bakery.test, payment["id"], None, amount_atomic=str(needed(payment) // 8), reference="a"
    )
    assert held(bakery) == (0, needed(payment) // 8)


def test_settling_again_changes_nothing(bakery: Shop) -> None:
    paid = make.paid(bakery.test)
    before = (held(bakery), names(bakery), make.detail(bakery.test, paid["id"]))
    for _ in range(3):
        settle_payment(paid["id"])
    assert (held(bakery), names(bakery), make.detail(bakery.test, paid["id"])) == before


def test_test_money_never_reaches_live_balances(bakery: Shop) -> None:
    make.paid(bakery.test)
    assert bakery.live.get("/balances").json()["balances"] == []
    (entry,) = bakery.test.get("/balances").json()["balances"]
    assert (entry["asset_id"], entry["pending_atomic"]) == ("SETH", "0")


def test_the_test_clock_only_moves_forward(bakery: Shop) -> None:
    first = bakery.test.get("/test_clock").json()
    assert first["offset_seconds"] == 0
    for body, code in (
        ({"seconds": -1}, "test_clock_backwards"),
        ({"to": "2020-01-01T00:00:00Z"}, "test_clock_backwards"),
        ({"seconds": "5"}, "test_clock_invalid"),
        ({}, "test_clock_invalid"),
        ({"seconds": 1, "to": "2030-01-01T00:00:00Z"}, "test_clock_invalid"),
        ({"to": "soon"}, "test_clock_invalid"),
        ({"seconds": 10**12}, "test_clock_invalid"),
    ):
        answer = bakery.test.post("/test_clock/advance", body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    goal = clock.real_now() + timedelta(days=40)
    told = bakery.test.post("/test_clock/advance", {"to": iso(goal)}).json()
    assert told["now"] >= str(iso(goal))
    for answer in (
        bakery.live.get("/test_clock"),
        bakery.live.post("/test_clock/advance", {"seconds": 1}),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "test_clock_live_mode")


def test_reading_a_checkout_expires_a_payment_whose_time_is_past(
    bakery: Shop, settings: Any
) -> None:
    settings.CHAIN_URLS = {}
    payment = make.payment(bakery.live, expires_in=300)
    Payment.objects.filter(pk=payment["id"]).update(
        expires_at=clock.real_now() - timedelta(seconds=1)
    )
    body = Api().get(f"/checkout/{payment['reference']}").json()
    assert (body["status"], body["expired"], body["seconds_left"]) == ("expired", True, 0)


def test_a_watcher_that_is_behind_expires_nothing(bakery: Shop, settings: Any) -> None:
    settings.CHAIN_URLS = {"ethereum": ["http://127.0.0.1:9"]}
    payment = make.payment(bakery.live, expires_in=300)
    deadline = clock.real_now() - timedelta(seconds=1)
    Payment.objects.filter(pk=payment["id"]).update(expires_at=deadline)
    Head.objects.filter(chain="ethereum").delete()
    head = Head.objects.create(
        chain_id="ethereum",
        number=1,
        hash="0x1",
        block_time=deadline,
        synced_at=deadline - timedelta(seconds=1),
    )
    assert settle_payment(payment["id"]).status == "pending"
    head.synced_at = deadline
    head.save()
    assert (
        settle_payment(payment["id"]).status == "pending"
    )  # a block begun before the deadline may be on its way
    head.block_time = deadline + timedelta(seconds=1)
    head.save()
    assert settle_payment(payment["id"]).status == "pending", "nobody has looked at its addresses"
    make.looked_at(payment["id"])
    assert settle_payment(payment["id"]).status == "expired"


def test_a_chain_without_new_blocks_is_judged_when_the_last_one_in_time_would_have_come(
    bakery: Shop, settings: Any
) -> None:
    settings.CHAIN_URLS = {"ethereum": ["http://127.0.0.1:9"]}
    payment = make.payment(bakery.live, expires_in=300)
    deadline = clock.real_now() - timedelta(minutes=1)
    Payment.objects.filter(pk=payment["id"]).update(expires_at=deadline)
    at_tip = {
        "number": 1,
        "hash": "0x1",
        "block_time": deadline - timedelta(minutes=1),
        "synced_at": deadline + BLOCK_ON_ITS_WAY,
    }
    Head.objects.update_or_create(chain_id="ethereum", defaults=at_tip)
    make.looked_at(payment["id"])
    assert settle_payment(payment["id"]).status == "expired"
