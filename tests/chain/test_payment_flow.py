"""A customer pays on the chain: from the intent over the API to the booked balance, and what a
reorg or a sleeping watcher does to it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from apps.assets.models import AcceptedAsset
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.core import clock
from apps.ledger.selectors import booked_deposits
from apps.payments.models import Payment, PaymentEvent
from apps.payments.services import hold
from apps.payments.services.expire import expire_due
from apps.payments.services.settle import settle_deposits
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import FORWARDER, LOGGER, LocalChain
from tests.chain.test_deposits import CONTRACT, USDC

pytestmark = pytest.mark.chain


def entry(payment: dict[str, Any], asset_id: str = "SETH") -> dict[str, Any]:
    return next(
        payment_address
        for payment_address in payment["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == asset_id
    )


@pytest.fixture
def payment(bakery: Shop) -> dict[str, Any]:
    return make.payment(bakery.test)


def after(watcher: Reader, shop: Shop, payment: dict[str, Any]) -> dict[str, Any]:
    """The intent once the watcher has read and the job has run."""
    watcher.read()
    settle_deposits()
    return make.detail(shop.test, payment["id"])


def told(payment: dict[str, Any]) -> list[str]:
    return list(
        PaymentEvent.objects.filter(payment_id=payment["id"])
        .order_by("created_at", "id")
        .values_list("event_type", flat=True)
    )


def test_an_exact_payment_is_processing_then_completed(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    assert after(watcher, bakery, payment)["status"] == "processing"
    chain.mine(2)
    done = after(watcher, bakery, payment)
    assert (done["status"], done["settlement_status"]) == ("completed", "completed")
    transaction = done["transaction"]
    assert (transaction["status"], transaction["confirmations"]) == ("confirmed", 3)
    assert told(payment).count("transaction.confirmed") == 1


def test_a_contract_pays_like_anyone(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.put(FORWARDER, CONTRACT)
    chain.through(CONTRACT, int(way["crypto_amount_atomic"]), way["address"])
    chain.mine(12)
    assert after(watcher, bakery, payment)["status"] == "completed"


def test_a_deposit_lost_before_confirmation_completes_nothing(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    raw = chain.raw(chain.pay(way["address"], int(way["crypto_amount_atomic"])))
    assert after(watcher, bakery, payment)["status"] == "processing"
    chain.reorg(1)
    lost = after(watcher, bakery, payment)
    assert lost["status"] != "completed" and told(payment).count("transaction.failed") == 1
    chain.mine(5)
    assert after(watcher, bakery, payment)["status"] != "completed"
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(2)
    assert after(watcher, bakery, payment)["status"] == "completed"
    assert told(payment).count("transaction.confirmed") == 1


def test_a_deposit_lost_after_it_was_credited_stops_the_asset_for_review(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(4)
    assert after(watcher, bakery, payment)["status"] == "completed"
    chain.reorg(5)
    after(watcher, bakery, payment)
    assert Deposit.objects.get().is_lost
    assert (
        AcceptedAsset.objects.get(store=bakery.store, mode="test", asset_id="SETH").suspended_at
        is not None
    )


def test_a_deposit_that_is_lost_again_after_it_was_credited_is_announced_again(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.mine(3)
    raw = chain.raw(chain.pay(way["address"], int(way["crypto_amount_atomic"])))
    after(watcher, bakery, payment)
    chain.reorg(1)
    after(watcher, bakery, payment)
    chain.mine(1)
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(3)
    assert after(watcher, bakery, payment)["status"] == "completed"
    chain.reorg(5)
    after(watcher, bakery, payment)
    after(watcher, bakery, payment)
    of_deposit = [kind for kind in told(payment) if kind.startswith("transaction.")]
    assert of_deposit == [
        "transaction.confirming",
        "transaction.failed",
        "transaction.confirmed",
        "transaction.failed",
    ]


def test_a_credited_deposit_in_another_block_is_booked_once(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    tx_hash = chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(4)
    after(watcher, bakery, payment)
    before = bakery.test.get("/balances").content
    chain.reorg(5, (chain.raw(tx_hash), 2))
    chain.mine(5)
    assert after(watcher, bakery, payment)["status"] == "completed"
    assert bakery.test.get("/balances").content == before


def test_a_deposit_that_a_reorg_took_before_it_was_booked_is_booked_when_it_is_mined_again(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    other = entry(make.payment(bakery.test))
    chain.pay(other["address"], int(other["crypto_amount_atomic"]) // 2)
    chain.mine(3)
    watcher.read()
    settle_deposits()
    way = entry(payment)
    raw = chain.raw(chain.pay(way["address"], int(way["crypto_amount_atomic"])))
    chain.mine(3)
    watcher.read()
    chain.reorg(5)
    watcher.read()
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(4)
    assert after(watcher, bakery, payment)["status"] == "completed"
    assert told(payment).count("transaction.confirmed") == 1
    assert told(payment).count("transaction.failed") == 0
    assert booked_deposits(payment["id"]) == {"SETH": int(way["crypto_amount_atomic"])}
    assert (
        AcceptedAsset.objects.get(store=bakery.store, mode="test", asset_id="SETH").suspended_at
        is None
    )
    assert auditing.breaches(check_chain=True) == []


def test_a_booked_deposit_that_a_reorg_took_is_whole_again_once_it_is_mined_again(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.mine(3)
    raw = chain.raw(chain.pay(way["address"], int(way["crypto_amount_atomic"])))
    chain.mine(3)
    assert after(watcher, bakery, payment)["status"] == "completed"
    chain.reorg(5)
    after(watcher, bakery, payment)
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(4)
    assert after(watcher, bakery, payment)["status"] == "completed"
    assert booked_deposits(payment["id"]) == {"SETH": int(way["crypto_amount_atomic"])}
    assert auditing.breaches(check_chain=True) == []


def test_another_asset_than_the_address_is_for_goes_to_staff(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    chain.put(LOGGER, USDC)
    chain.log_transfers(USDC, (entry(payment)["address"], 10**9))
    chain.mine(3)
    assert after(watcher, bakery, payment)["status"] == "pending"
    assert UnmatchedTransfer.objects.get().asset_id == "USDC_SETH"
    assert Deposit.objects.get().status == "unmatched"


def test_coins_of_another_chain_than_the_address_is_for_go_to_staff(
    chain: LocalChain, watcher: Reader, bakery: Shop, settings: Any
) -> None:
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "ethereum": ["http://127.0.0.1:9"]}
    live = make.payment(bakery.live)
    chain.pay(entry(live, "ETH")["address"], 10**18)
    chain.mine(3)
    watcher.read()
    settle_deposits()
    assert make.detail(bakery.live, live["id"])["status"] == "pending"
    assert (UnmatchedTransfer.objects.get().asset_id, Deposit.objects.get().status) == (
        "SETH",
        "unmatched",
    )


def test_a_sleeping_watcher_expires_nothing_that_was_paid_in_time(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    watcher.read()
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    with time_machine.travel(clock.real_now() + timedelta(days=2), tick=True):
        expire_due()
        assert make.detail(bakery.test, payment["id"])["status"] == "pending"
        chain.mine(3)
        watcher.read()
        expire_due()
        assert make.detail(bakery.test, payment["id"])["status"] == "completed"


def test_an_unpaid_intent_expires_once_the_watcher_has_read_so_far(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    with time_machine.travel(clock.real_now() + timedelta(days=2), tick=True):
        expire_due()
        assert make.detail(bakery.test, payment["id"])["status"] == "pending"
        watcher.read()
        expire_due()
        assert make.detail(bakery.test, payment["id"])["status"] == "expired"


def expires(payment: dict[str, Any], at: datetime) -> None:
    Payment.objects.filter(pk=payment["id"]).update(expires_at=at)


def time_of(chain: LocalChain) -> datetime:
    return datetime.fromtimestamp(int(chain.block(chain.height)["timestamp"], 16), UTC)


def test_what_was_mined_after_the_deadline_is_late_also_when_the_watcher_was_behind(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    expires(payment, time_of(chain) - timedelta(seconds=1))
    chain.mine(3)
    late = after(watcher, bakery, payment)
    assert (late["status"], late["state_reason"]) == ("expired", "expired_timeout")
    assert [late_deposit["amount_atomic"] for late_deposit in late["late_deposits"]] == [
        way["crypto_amount_atomic"]
    ]
    assert told(payment).count("transaction.confirmed") == 1
    assert auditing.breaches(check_chain=True) == []


def test_what_was_mined_at_the_very_deadline_is_on_time_however_late_it_is_read(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    expires(payment, time_of(chain))
    chain.mine(3)
    assert after(watcher, bakery, payment)["state_reason"] == "completed_exact"


def test_a_reorg_that_moves_a_deposit_past_the_deadline_makes_it_not_late(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.mine(3)
    raw = chain.raw(chain.pay(way["address"], int(way["crypto_amount_atomic"])))
    expires(payment, time_of(chain))
    assert after(watcher, bakery, payment)["status"] == "processing"
    chain.call("evm_increaseTime", 60)
    chain.reorg(1, (raw, 0))
    chain.mine(3)
    assert after(watcher, bakery, payment)["state_reason"] == "completed_exact"


def test_what_left_the_chain_and_was_mined_again_after_the_deadline_is_late(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.mine(3)
    raw = chain.raw(chain.pay(way["address"], int(way["crypto_amount_atomic"])))
    expires(payment, time_of(chain))
    after(watcher, bakery, payment)
    chain.reorg(1)
    chain.call("evm_increaseTime", 60)
    chain.mine(1)
    assert after(watcher, bakery, payment)["status"] == "expired"
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(3)
    late = after(watcher, bakery, payment)
    assert (late["status"], len(late["late_deposits"])) == ("expired", 1)
    assert auditing.breaches(check_chain=True) == []


def test_a_card_session_holds_the_price_of_its_own_coins_and_of_no_others(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    row = Payment.objects.get(pk=payment["id"])
    hold.begin_card_funding(row, clock.real_now() + timedelta(hours=1), "USDC_SETH")
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    expires(payment, time_of(chain) - timedelta(seconds=1))
    chain.mine(3)
    held = after(watcher, bakery, payment)
    assert (held["status"], len(held["late_deposits"])) == ("pending", 1)
    hold.hold_open(row.pk, None)
    expire_due()
    assert make.detail(bakery.test, payment["id"])["status"] == "expired"


def test_the_coins_of_an_open_card_session_are_on_time_after_the_deadline(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    hold.begin_card_funding(
        Payment.objects.get(pk=payment["id"]), clock.real_now() + timedelta(hours=1), "SETH"
    )
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    expires(payment, time_of(chain) - timedelta(seconds=1))
    chain.mine(3)
    assert after(watcher, bakery, payment)["state_reason"] == "completed_exact"
