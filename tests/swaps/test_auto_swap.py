"""Incoming payments swapped by themselves: once per payment, shown on it, and given back when it
fails."""

from typing import Any

import pytest

from apps.assets.models import Asset, Rate
from apps.ledger.selectors import balances
from apps.payments.models import Payment
from apps.payments.services.reconcile import reconcile_due
from apps.swaps.models import Swap
from apps.swaps.services.auto import NotATarget, set_auto_swap, swap_completed_payments
from apps.swaps.services.progress import advance_swaps
from tests import auditing, make
from tests.cast import Cast, Shop

TARGET = "USDC_SETH"


@pytest.fixture(autouse=True)
def _tokens(db: None) -> None:
    for number, pk in enumerate(("ETH_USDC", "ETH_USDT", TARGET), 1):
        Asset.objects.filter(pk=pk).update(contract_address=f"0x{number:040x}", is_active=True)


@pytest.fixture
def eager(bakery: Shop) -> Shop:
    """A store that wants dollars."""
    set_auto_swap(bakery.owner_access(), TARGET)
    return bakery


def shown(shop: Shop, payment_id: str) -> tuple[Any, Any]:
    body = make.detail(shop.test, payment_id)
    return body["auto_swap_status"], body["settlement_status"]


def test_a_completed_payment_is_swapped_once_for_its_net(eager: Shop) -> None:
    payment = make.paid(eager.test, amount="1800.00")
    assert shown(eager, payment["id"]) == (None, "completed")
    swap_completed_payments()
    assert shown(eager, payment["id"]) == ("pending", "processing")
    assert make.detail(eager.test, payment["id"])["auto_swap_detail"] is None
    swap_completed_payments()
    advance_swaps()
    swap_completed_payments()
    swap = Swap.objects.get()
    assert (swap.is_automatic, swap.sell_amount_atomic, swap.actual_buy_amount_atomic) == (
        True,
        99 * 10**16,
        1_970_100_000,
    )
    body = make.detail(eager.test, payment["id"])
    assert (body["auto_swap_status"], body["settlement_status"], body["status"]) == (
        "completed",
        "completed",
        "completed",
    )
    assert body["auto_swap_detail"] == {
        "status": "completed",
        "sell_amount": "0.99",
        "sell_coin_symbol": "ETH",
        "sell_chain_symbol": "SETH",
        "buy_amount": "1970.1",
        "buy_coin_symbol": "USDC",
        "buy_chain_symbol": "SETH",
        "estimated": False,
        "expected_buy_amount": "1970.1",
        "actual_buy_amount": "1970.1",
        "slippage_bps": 50,
    }
    held = balances(eager.store.pk, "test")
    assert (held["SETH"].total_atomic, held[TARGET].available_atomic) == (0, 1_970_100_000)
    assert eager.test.get("/balance_swaps").json()["data"][0]["auto_swap"] is True
    assert auditing.breaches() == []


def test_reconciliation_tells_what_it_brought_beside_the_estimate(eager: Shop) -> None:
    payment = make.paid(eager.test, amount="1800.00")
    swap_completed_payments()
    Rate.objects.filter(asset=TARGET).update(rate="1.002")
    advance_swaps()
    swap_completed_payments()
    reconcile_due()
    body = eager.test.get(f"/payment_intents/{payment['id']}/reconciliation").json()
    assert (body["status"], body["swap_delta"], body["swap_delta_atomic"]) == (
        "final",
        "-3.932336",
        "-3932336",
    )


def test_a_swap_that_fails_gives_the_source_back_and_the_payment_stays_settled(eager: Shop) -> None:
    payment = make.paid(eager.test, amount="1800.00")
    swap_completed_payments()
    Rate.objects.filter(asset=TARGET).update(rate="1.1")
    advance_swaps()
    swap_completed_payments()
    assert shown(eager, payment["id"]) == ("failed", "completed")
    assert make.detail(eager.test, payment["id"])["auto_swap_detail"] is None
    assert Swap.objects.get().failure_reason == "The rate moved beyond the slippage tolerance"
    assert balances(eager.store.pk, "test")["SETH"].available_atomic == 99 * 10**16
    assert auditing.breaches() == []


def test_one_that_nobody_can_quote_waits_and_then_is_given_up(eager: Shop) -> None:
    payment = make.paid(eager.test)
    Rate.objects.filter(asset=TARGET).delete()
    swap_completed_payments()
    assert shown(eager, payment["id"]) == (None, "completed") and not Swap.objects.exists()
    make.advance(eager.test, 3700)
    swap_completed_payments()
    assert shown(eager, payment["id"]) == ("failed", "completed") and not Swap.objects.exists()


def test_what_is_spent_before_it_could_be_swapped_fails(eager: Shop) -> None:
    payment = make.paid(eager.test, amount="1800.00")
    body = {"source_asset_id": "SETH", "buy_asset_id": TARGET, "sell_amount_atomic": str(10**17)}
    assert eager.test.post("/balance_swaps", body, key="k").status_code == 201
    swap_completed_payments()
    assert shown(eager, payment["id"]) == ("failed", "completed")


def test_payments_of_before_the_setting_of_other_stores_and_of_a_store_that_stopped_are_left_alone(
    eager: Shop, cast: Cast
) -> None:
    early = make.paid(cast.strangers.test)
    foreign = make.paid(cast.strangers.test)
    set_auto_swap(cast.strangers.owner_access(), TARGET)
    set_auto_swap(eager.owner_access(), None)
    stopped = make.paid(eager.test)
    swap_completed_payments()
    assert [shown(cast.strangers, item["id"])[0] for item in (early, foreign)] == [None, None]
    assert shown(eager, stopped["id"])[0] is None
    set_auto_swap(eager.owner_access(), TARGET)
    swap_completed_payments()
    assert shown(eager, stopped["id"])[0] is None


def test_a_payment_that_arrived_in_the_wanted_asset_is_skipped(eager: Shop, cast: Cast) -> None:
    payment = make.paid(eager.test)
    Payment.objects.filter(pk=payment["id"]).update(auto_swap_status="skipped")
    swap_completed_payments()
    assert shown(eager, payment["id"])[0] == "skipped"


@pytest.mark.parametrize(
    ("mode", "asset_id"),
    [("live", "ETH"), ("live", TARGET), ("test", "ETH_USDC"), ("test", "SETH"), ("test", "nope")],
)
def test_only_the_two_stablecoins_of_the_mode_are_targets(
    bakery: Shop, mode: str, asset_id: str
) -> None:
    with pytest.raises(NotATarget):
        set_auto_swap(bakery.owner_access(mode), asset_id)
    assert set_auto_swap(bakery.owner_access("live"), "ETH_USDT").target_asset_id == "ETH_USDT"


def test_the_test_clock_brings_it_to_its_end(eager: Shop) -> None:
    payment = make.paid(eager.test)
    make.advance(eager.test, 60)
    make.advance(eager.test, 60)
    assert shown(eager, payment["id"]) == ("completed", "completed")
