"""A card payment holds its intent open, its coins settle it, and a refund needs an address."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.core import clock
from apps.onramp.models import FundingSession
from apps.onramp.services import progress
from apps.payments.models import Payment
from tests import auditing, make
from tests.cast import Shop
from tests.onramp.cards import PUBLIC, opened, press, row

pytestmark = pytest.mark.django_db
TO = "0x1111111111111111111111111111111111111111"


@pytest.fixture(autouse=True)
def _books_are_right(db: None) -> Any:
    yield
    assert auditing.breaches() == []


# --- what holds an intent open ---


def test_a_session_in_progress_holds_its_intent_open_until_it_ends(shop: Shop) -> None:
    held, plain = (make.payment(shop.test, amount="50.00", expires_in=300) for _ in range(2))
    opened(held)
    make.advance(shop.test, 310)
    assert [make.detail(shop.test, item["id"])["status"] for item in (plain, held)] == [
        "expired",
        "pending",
    ]
    make.advance(shop.test, 1800)
    now = make.detail(shop.test, held["id"])
    assert (now["status"], now["state_reason"], now["onramp_session"]["status"]) == (
        "expired",
        "expired_timeout",
        "expired",
    )


def test_after_the_deadline_the_cards_own_coins_are_on_time_and_others_late(shop: Shop) -> None:
    own, other = (make.payment(shop.test, amount="50.00", expires_in=300) for _ in range(2))
    for made in (own, other):
        session = opened(made)
        assert Payment.objects.get(pk=made["id"]).held_open_assets == [row(session).asset_id]
    # As if the card of this one brought another coin than the customer sends.
    Payment.objects.filter(pk=other["id"]).update(held_open_assets=["USDC_SETH"])
    make.advance(shop.test, 310)
    assert make.simulated(shop.test, own["id"])["status"] == "completed"
    late = make.simulated(shop.test, other["id"])
    assert (late["status"], len(late["late_deposits"])) == ("pending", 1)


def test_after_the_deadline_the_page_asks_for_no_coins_and_leaves_the_card_open(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00", expires_in=300)
    opened(made)
    assert (
        made["payment_addresses"][0]["address"]
        in Client().get(f"/pay/{made['reference']}").content.decode()
    )
    make.advance(shop.test, 310)
    page = Client().get(f"/pay/{made['reference']}").content.decode()
    assert made["payment_addresses"][0]["address"] not in page
    assert "Your open card payment still counts." in page


def test_a_session_that_fails_past_the_deadline_lets_the_intent_expire(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00", expires_in=300)
    session = opened(made)
    make.advance(shop.test, 310)
    press(session, "failed")
    make.advance(shop.test, 1)
    assert make.detail(shop.test, made["id"])["status"] == "expired"


def test_a_charged_card_holds_a_live_intent_for_a_day_past_its_deadline_and_a_test_one_not(
    shop: Shop,
) -> None:
    live = make.payment(shop.live, amount="50.00")
    test = make.payment(shop.test, amount="50.00")
    for item in (live, test):
        press(opened(item), "paid")
    kept = Payment.objects.get(pk=live["id"])
    assert kept.held_open_until == kept.expires_at + timedelta(hours=24) == kept.deadline
    assert Payment.objects.get(pk=test["id"]).held_open_until is None


def test_what_was_never_opened_is_shown_to_nobody_and_forgotten(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    old = row(opened(make.payment(shop.test, amount="50.00")))
    old.pk = uuid.uuid4()
    old.payment_id = made["id"]
    old.url = ""
    old.provider_txid = None
    old.next_poll_at = clock.real_now() - timedelta(hours=2)
    old.save(force_insert=True)
    assert make.detail(shop.test, made["id"])["onramp_session"] is None
    progress.follow()
    assert not FundingSession.objects.filter(pk=old.pk).exists()


def test_a_session_whose_opening_died_is_opened_by_the_next_caller(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    left = row(opened(make.payment(shop.test, amount="50.00")))
    left.pk = uuid.uuid4()
    left.payment_id = made["id"]
    left.url = ""
    left.provider_txid = None
    left.save(force_insert=True)
    assert opened(made)["id"] == str(left.pk)


# --- coins and refunds ---


def test_the_coins_settle_the_intent_though_the_card_cost_something(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    session = opened(made)
    delivered = str(row(session).expected_atomic)
    make.simulated(shop.test, made["id"], None, amount_atomic=delivered)
    assert make.detail(shop.test, made["id"])["state_reason"] == "processing_underpaid"
    press(session, "paid")
    done = make.detail(shop.test, made["id"])
    assert (done["status"], done["state_reason"]) == ("completed", "completed_exact")


def test_opening_a_card_payment_and_paying_less_in_coins_is_still_short(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    opened(made)
    needed = int(made["payment_addresses"][0]["crypto_amount_atomic"])
    now = make.simulated(shop.test, made["id"], None, amount_atomic=str(needed * 97 // 100))
    assert (now["status"], now["state_reason"]) == ("processing", "processing_underpaid")


@pytest.fixture
def rejected(shop: Shop) -> dict[str, Any]:
    """A card-funded payment whose coins were too many."""
    made = make.payment(shop.test, amount="50.00")
    opened(made)
    return make.simulated(shop.test, made["id"], "overpaid")


def refunds(shop: Shop, made: dict[str, Any], key: str, **fields: Any) -> Any:
    return shop.test.post(f"/payments/{made['id']}/refunds", {"refund": fields}, key=key)


def test_coins_of_a_card_provider_never_go_back_by_themselves(
    shop: Shop, rejected: dict[str, Any]
) -> None:
    make.advance(shop.test, 600)
    assert shop.test.get(f"/payments/{rejected['id']}/refunds").json() == []
    now = make.detail(shop.test, rejected["id"])
    assert (now["status"], now["state_reason"], now["needs_attention"]) == (
        "failed",
        "failed_overpaid",
        "card_refund",
    )


def test_a_refund_without_a_destination_is_held_back_and_one_with_it_settles_the_flag(
    shop: Shop, rejected: dict[str, Any]
) -> None:
    answer = refunds(shop, rejected, "a")
    assert (answer.status_code, answer.json()) == (201, [])
    (refund,) = refunds(shop, rejected, "b", destination_address=TO).json()
    assert (refund["destination_address"], refund["reason"]) == (TO, "merchant_requested")
    assert make.detail(shop.test, rejected["id"])["needs_attention"] is None


def test_an_intent_that_fails_short_after_its_deadline_is_held_back_too(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00", expires_in=300)
    opened(made)
    make.simulated(shop.test, made["id"], "underpaid")
    make.advance(shop.test, 90_000)
    now = make.detail(shop.test, made["id"])
    assert (now["state_reason"], now["needs_attention"]) == ("failed_underpaid", "card_refund")


def test_a_completed_card_payment_is_refunded_to_an_address_that_is_named(shop: Shop) -> None:
    make.paid(shop.test, amount="50.00")
    made = make.payment(shop.test, amount="50.00")
    opened(made)
    make.simulated(shop.test, made["id"])
    assert refunds(shop, made, "a").json() == {
        "error": "The paying address is unknown; send destination_address"
    }
    assert len(refunds(shop, made, "b", destination_address=TO).json()) == 1


def test_the_page_of_a_rejected_card_payment_promises_nothing_to_its_sender(
    shop: Shop, rejected: dict[str, Any]
) -> None:
    shown = PUBLIC.client.get(f"/pay/{rejected['reference']}").content.decode()
    assert (
        "where to return them" in shown
        and "is being returned to the address it came from" not in shown
    )
