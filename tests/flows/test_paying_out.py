"""Stories of payouts: simulated coins, banks, failures that are tried again, review, and who bears
what."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox

from apps.assets.models import Asset
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import hot_wallets
from apps.core import clock, mail
from apps.ledger.selectors import balances
from apps.payouts.models import Payout
from apps.payouts.services.destinations import NotAnAccount, account_of, add_bank, add_wallet
from apps.payouts.services.progress import advance_payout, advance_payouts
from apps.payouts.services.rejection import reject_payout
from apps.payouts.services.retry import NotRetryable, give_up_payout
from apps.payouts.services.review import (
    NotInReview,
    OutcomeUnknown,
    ReasonMissing,
    approve_payout,
)
from apps.stores.services import change_store
from tests import make
from tests.cast import Shop
from tests.contract.test_payouts import bank, rich

pytestmark = pytest.mark.django_db
MINUTE = 60


def row(payout_id: str) -> Payout:
    found: Payout = Payout.objects.select_related("store", "asset__chain", "destination").get(
        pk=payout_id
    )
    return found


def told(shop: Shop, payout_id: str, mode: str = "test") -> dict[str, Any]:
    body: dict[str, Any] = (
        (shop.test if mode == "test" else shop.live).get(f"/payouts/{payout_id}").json()
    )
    return body


def steps(document: dict[str, Any]) -> list[str]:
    return [state_transition["to"] for state_transition in document["state_transitions"]]


def bank_payout(shop: Shop, amount_atomic: int) -> str:
    """Of test stablecoins to a bank, in test mode, where the clock can be moved."""
    account = bank(shop, "test")
    return str(
        make.payout(shop.test, amount_atomic, asset_id="USDC_SETH", fiat_payout_detail_id=account)[
            "id"
        ]
    )


@pytest.fixture
def shop(bakery: Shop) -> Shop:
    """With test stablecoins that can go to a bank."""
    Asset.objects.filter(pk="USDC_SETH").update(
        is_active=True, is_fiat_eligible=True, contract_address="0x" + "c" * 40
    )
    rich(bakery, "USDC_SETH")
    return bakery


def test_simulated_coins_are_simulated_out_and_confirm_after_a_minute(bakery: Shop) -> None:
    make.funded(bakery.test)
    made = make.payout(bakery.test, 10**16)
    advance_payouts()
    sent = told(bakery, made["id"])
    assert (sent["status"], sent["simulated"], steps(sent)) == (
        "submitted",
        True,
        ["pending", "submitted"],
    )
    assert len(sent["tx_hash"]) == 66
    make.advance(bakery.test, MINUTE)
    done = told(bakery, made["id"])
    assert (done["status"], steps(done), done["network_fee_decimal"]) == (
        "confirmed",
        ["pending", "submitted", "confirmed"],
        "0",
    )
    assert balances(bakery.store.pk, "test")["SETH"].reserved_atomic == 0


def test_the_clock_alone_brings_a_payout_to_its_end(bakery: Shop) -> None:
    make.funded(bakery.test)
    made = make.payout(bakery.test, 10**16)
    make.advance(bakery.test, 2 * MINUTE)
    assert told(bakery, made["id"])["status"] == "confirmed"


def test_a_bank_is_paid_after_ten_seconds_and_says_what_landed(shop: Shop) -> None:
    payout_id = bank_payout(shop, 2_000_000)
    advance_payout(row(payout_id).pk)
    sent = told(shop, payout_id)
    assert (
        sent["status"],
        sent["tx_hash"],
        sent["destination_address"],
        sent["fiat_currency"],
    ) == ("submitted", None, None, "EUR")
    assert balances(shop.store.pk, "test")["USDC_SETH"].reserved_atomic == 0
    make.advance(shop.test, 11)
    done = told(shop, payout_id)
    assert (done["status"], steps(done)) == ("confirmed", ["pending", "submitted", "confirmed"])
    assert done["paid_fiat_amount_cents"] > 0 and done["paid_fee_cents"] >= 0
    assert (
        done["paid_external_reference"].startswith("TG")
        and done["paid_at"]
        and done["paid_fx_rate"]
    )
    assert row(payout_id).funds == "paid"


@pytest.mark.parametrize(
    ("magic", "code", "is_returned"),
    [
        (9001, "insufficient_funds", False),
        (9002, "destination_invalid", True),
        (9003, "temporarily_unavailable", False),
        (9004, "unknown", False),
    ],
)
def test_each_failure_has_its_category_and_its_way_with_the_coins(
    shop: Shop, magic: int, code: str, is_returned: bool
) -> None:
    payout_id = bank_payout(shop, 2_000_000 + magic)
    advance_payout(row(payout_id).pk)
    failed = told(shop, payout_id)
    assert (failed["status"], failed["failure_code"], failed["funds_returned"]) == (
        "failed",
        code,
        is_returned,
    )
    assert failed["state_transitions"][-1]["note"] == failed["failure_reason"] != ""
    assert (failed["next_retry_at"] is not None) == (code == "temporarily_unavailable")
    assert balances(shop.store.pk, "test")["USDC_SETH"].reserved_atomic == (
        0 if is_returned else 2_000_000 + magic
    )


def test_what_is_closed_is_tried_again_five_times_and_then_given_back(shop: Shop) -> None:
    payout_id = bank_payout(shop, 2_009_003)
    advance_payout(row(payout_id).pk)
    make.advance(shop.test, MINUTE - 30)
    assert row(payout_id).retries == 0
    for number, minutes in enumerate((1, 5, 15, 60, 240), 1):
        before = row(payout_id)
        assert before.retry_at == before.updated_at + timedelta(minutes=minutes)
        make.advance(shop.test, minutes * MINUTE + 1)
        assert row(payout_id).retries == number
    done = told(shop, payout_id)
    assert (done["status"], done["funds_returned"], done["next_retry_at"]) == ("failed", True, None)
    assert steps(done) == ["pending", "failed", *["submitted", "failed"] * 5]
    assert balances(shop.store.pk, "test")["USDC_SETH"].available_atomic == 100_000_000


def test_what_opens_again_is_paid_by_a_later_attempt(shop: Shop) -> None:
    payout_id = bank_payout(shop, 2_009_013)
    make.advance(shop.test, 10 * MINUTE)
    done = told(shop, payout_id)
    assert (done["status"], steps(done)) == (
        "confirmed",
        ["pending", "failed", "submitted", "failed", "submitted", "confirmed"],
    )
    assert (done["failure_code"], done["failure_reason"]) == (None, None)


def test_an_off_ramp_that_never_answers_ends_with_a_person_and_not_with_two_payments(
    shop: Shop,
) -> None:
    payout_id = bank_payout(shop, 2_009_006)
    make.advance(shop.test, 400 * MINUTE)
    stuck = row(payout_id)
    assert (stuck.status, stuck.funds, stuck.attempts) == ("requires_review", "reserved", 0)
    reject_payout(stuck, "The bank knows nothing of it")
    assert told(shop, payout_id)["funds_returned"] is True


def test_what_a_bank_sends_back_without_coins_having_left_is_given_back(shop: Shop) -> None:
    payout_id = bank_payout(shop, 2_009_005)
    make.advance(shop.test, MINUTE)
    done = told(shop, payout_id)
    assert (done["status"], done["failure_code"], steps(done)) == (
        "failed",
        "destination_invalid",
        ["pending", "submitted", "failed"],
    )
    assert balances(shop.store.pk, "test")["USDC_SETH"].available_atomic == 100_000_000


def test_a_merchant_retries_or_takes_the_coins_back(shop: Shop) -> None:
    payout_id = bank_payout(shop, 2_009_004)
    advance_payout(row(payout_id).pk)
    again = shop.test.post(f"/payouts/{payout_id}/retry")
    assert (again.status_code, again.json()["status"]) == (200, "retrying")
    twice = shop.test.post(f"/payouts/{payout_id}/retry")
    assert (twice.status_code, twice.json()["error"]["code"]) == (409, "retry_in_progress")
    advance_payout(row(payout_id).pk)
    assert steps(told(shop, payout_id)) == ["pending", "failed", "submitted", "failed"]
    give_up_payout(row(payout_id))
    assert told(shop, payout_id)["funds_returned"] is True
    with pytest.raises(NotRetryable):
        give_up_payout(row(payout_id))


@pytest.mark.parametrize(
    ("threshold", "is_new_reviewed", "status"),
    [(None, False, "pending"), (0, False, "requires_review"), (None, True, "requires_review")],
)
def test_large_payouts_and_new_destinations_wait_where_the_store_wants_it(
    bakery: Shop, threshold: int | None, is_new_reviewed: bool, status: str
) -> None:
    make.funded(bakery.test)
    change_store(
        bakery.store,
        payout_review_threshold_cents=threshold,
        review_new_destinations=is_new_reviewed,
    )
    assert make.payout(bakery.test, 10**16)["status"] == status


def test_a_saved_wallet_is_no_longer_new_after_a_day(bakery: Shop) -> None:
    make.funded(bakery.test)
    change_store(bakery.store, review_new_destinations=True)
    saved = str(add_wallet(bakery.store, "test", "sepolia", make.fresh_address()).pk)
    assert (
        make.payout(bakery.test, 10**16, crypto_payout_detail_id=saved)["status"]
        == "requires_review"
    )
    make.advance(bakery.test, 24 * 60 * MINUTE)
    assert make.payout(bakery.test, 10**16, crypto_payout_detail_id=saved)["status"] == "pending"


def test_a_persons_decision_lets_it_go_or_gives_it_back(bakery: Shop) -> None:
    funds = make.funded(bakery.test)
    change_store(bakery.store, payout_review_threshold_cents=0)
    first, second = (make.payout(bakery.test, 10**16)["id"] for _ in range(2))
    with pytest.raises(ReasonMissing):
        reject_payout(row(first), " ")
    approve_payout(row(first))
    reject_payout(row(second), "Not theirs")
    advance_payouts()
    assert (told(bakery, first)["status"], told(bakery, second)["status"]) == (
        "submitted",
        "failed",
    )
    assert steps(told(bakery, second)) == ["pending", "failed"]
    assert balances(bakery.store.pk, "test")["SETH"].available_atomic == funds - 10**16
    for decided in (first, second):
        with pytest.raises(NotInReview):
            approve_payout(row(decided))
    mail.send_due()
    of = f"A payout of 0.01 ETH from {bakery.store.name}"
    assert [item.subject for item in outbox.outbox] == [
        f"{of} was released (test mode)",
        f"{of} was rejected (test mode)",
    ]
    assert "Reason: Not theirs" in outbox.outbox[1].body


def test_an_unknown_outcome_is_the_senders_to_settle(bakery: Shop) -> None:
    """While its transaction is in review nothing is given back, and nothing is sent a second
    time."""
    make.store_coins(bakery.store, "ETH", 10**18)
    payout_id = make.payout(bakery.live, 10**16, asset_id="ETH")["id"]
    advance_payouts()
    HotWallet.objects.get_or_create(
        chain_id="ethereum", defaults={"address": "0x" + "ab" * 20, "next_nonce": 0}
    )
    sent = OutgoingTransaction.objects.get(purpose="payout")
    hot_wallets.finish(sent, "review", clock.real_now(), Reason.ABOVE_DAY)
    advance_payouts()
    assert row(payout_id).status == "requires_review"
    for decide in (
        lambda: approve_payout(row(payout_id)),
        lambda: reject_payout(row(payout_id), "odd"),
    ):
        with pytest.raises(OutcomeUnknown):
            decide()
    hot_wallets.resolve_as_unsent(OutgoingTransaction.objects.get(pk=sent.pk), clock.real_now())
    advance_payouts()
    assert (row(payout_id).status, OutgoingTransaction.objects.count()) == ("pending", 1)


@pytest.mark.parametrize(
    "reason", [Reason.RECIPIENT_REFUSES, Reason.DESTINATION_REFUSED, Reason.RECIPIENT_COSTLY]
)
def test_a_payout_that_the_recipient_refuses_is_given_back_at_once(
    bakery: Shop, reason: Reason
) -> None:
    """The sentence that goes with it may be any."""
    make.store_coins(bakery.store, "ETH", 10**18)
    payout_id = make.payout(bakery.live, 10**16, asset_id="ETH")["id"]
    advance_payouts()
    hot_wallets.finish(
        OutgoingTransaction.objects.get(), "failed", clock.real_now(), reason, "In other words"
    )
    advance_payouts()
    failed = told(bakery, payout_id, "live")
    assert (failed["failure_code"], failed["funds_returned"]) == ("destination_invalid", True)
    assert row(payout_id).failure_reason == "In other words"
    assert balances(bakery.store.pk, "live")["ETH"].available_atomic == 10**18


def test_a_reverted_payout_books_its_gas_and_a_retry_is_another_transaction(bakery: Shop) -> None:
    make.store_coins(bakery.store, "ETH", 10**18)
    payout_id = make.payout(bakery.live, 10**16, asset_id="ETH")["id"]
    advance_payouts()
    first = OutgoingTransaction.objects.get()
    hot_wallets.finish(
        first, "failed", clock.real_now(), Reason.REVERTED, network_fee_atomic=21_000
    )
    advance_payouts()
    assert told(bakery, payout_id, "live")["failure_code"] == "unknown"
    bakery.live.post(f"/payouts/{payout_id}/retry")
    advance_payouts()
    second = OutgoingTransaction.objects.exclude(pk=first.pk).get()
    OutgoingTransaction.objects.filter(pk=second.pk).update(
        status="submitted", nonce=1, tx_hash="0x" + "a" * 64
    )
    advance_payouts()
    OutgoingTransaction.objects.filter(pk=second.pk).update(
        status="confirmed", network_fee_atomic=42_000
    )
    advance_payouts()
    done = told(bakery, payout_id, "live")
    assert (done["status"], done["network_fee_decimal"], done["tx_hash"]) == (
        "confirmed",
        "0.000000000000042",
        "0x" + "a" * 64,
    )
    assert steps(done) == ["pending", "failed", "submitted", "confirmed"]


def test_an_account_number_is_sealed_and_must_be_one(bakery: Shop) -> None:
    made = add_bank(
        bakery.store, "live", currency="EUR", holder="Alice", account="DE89 3704 0044 0532 0130 00"
    )
    assert "3704" not in made.account_sealed and account_of(made) == "DE89370400440532013000"
    with pytest.raises(NotAnAccount):
        add_bank(
            bakery.store, "live", currency="EUR", holder="Alice", account="DE88370400440532013000"
        )
