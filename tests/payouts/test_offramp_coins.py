"""Coins on their way to an off-ramp that a stopped token kept back, on a real chain: they set out
again by themselves, and arrive once."""

from typing import Any

import pytest

from apps.chain.activation import change_asset
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import sender, signing_rounds
from apps.core.process.published_secrets import CHAIN_KEYS
from apps.ledger.models import Movement
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from dev.demo.chain import DemoWallet
from tests import make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.test_live_costs import Live, cast, everybody, live, local
from tests.contract.test_payouts import bank, rich
from tests.payouts.moody import Issuer
from tests.payouts.test_lanes import time_passes
from tests.payouts.test_offramps import Bank, far, http, through_http
from tests.payouts.test_tokens_that_stop import STOPS, stop
from tests.swaps.conftest import DOLLAR, Venue, is_exact

__all__ = ["cast", "everybody", "far", "http", "live", "local", "through_http"]
pytestmark = pytest.mark.chain
COIN = "ETH_USDC"
FUNDS = 100 * DOLLAR
AMOUNT = 2 * DOLLAR
OFFRAMP = "0x" + "d0" * 20


@pytest.fixture
def issuer(live: Live, through_http: None, far: Bank, bakery: Shop) -> Issuer:
    """Of the dollars that a store has in live mode, with an off-ramp that takes them."""
    token = live.local.deploy_moody_token()
    change_asset(COIN, contract_address=token)
    live.give(bakery, 1)
    live.local.mint(token, live.hot, FUNDS)
    rich(bakery, COIN, FUNDS)
    far.deposit_address = OFFRAMP
    wallet = DemoWallet(live.local.url, CHAIN_KEYS["customer"])
    return Issuer(Venue(live.local, Reader(), wallet, live.hot, token))


def transfers() -> list[OutgoingTransaction]:
    return list(OutgoingTransaction.objects.filter(purpose="payout").order_by("reference"))


def asked_again() -> None:
    Payout.objects.update(asked_at=None)


def kept_back(live: Live, issuer: Issuer, how: str) -> OutgoingTransaction:
    """It was signed while the token moved, and mined after it had stopped."""
    signing_rounds.sign_due()
    row = transfers()[-1]
    assert row.status == "signed", row.reason
    stop(issuer, how)
    sender.run_due()
    live.local.mine(live.confirmations)
    sender.run_due()
    row.refresh_from_db()
    return row


@pytest.mark.parametrize("is_settled_first", [False, True])
@pytest.mark.parametrize(("how", "reason"), STOPS)
def test_they_wait_for_the_token_and_arrive_once(
    live: Live,
    bakery: Shop,
    far: Bank,
    issuer: Issuer,
    how: str,
    reason: str,
    is_settled_first: bool,
) -> None:
    """Tell whether the off-ramp has paid before they are there or waits for them."""
    account = bank(bakery)
    make.payout(bakery.live, AMOUNT, asset_id=COIN, fiat_payout_detail_id=account)
    advance_payouts()
    first = kept_back(live, issuer, how)
    assert (first.status, first.reason_code) == ("failed", reason)
    if is_settled_first:
        far.settle()
    for _ in range(2):
        asked_again()
        live.work()
    before, waiting = transfers()
    assert (before.pk, before.handled_status) == (first.pk, "failed")
    assert (waiting.reference, waiting.to_address) == (f"{first.reference}-1", OFFRAMP)
    assert (waiting.status, waiting.waits_for) == ("requested", "token")
    assert live_tokens(issuer) == 0 and is_exact()

    stop(issuer, how, False)
    time_passes()
    live.work()
    far.settle()
    for _ in range(2):
        asked_again()
        live.work()
    payout = Payout.objects.get()
    assert (payout.status, payout.funds) == ("confirmed", "paid")
    assert live_tokens(issuer) == AMOUNT and len(transfers()) == 2
    kinds = ("payout_gas_paid", "payout_settled")
    counts = [Movement.objects.filter(kind=kind).count() for kind in kinds]
    assert counts == [2, 1] and len(far.orders) == 1 and is_exact()


@pytest.mark.parametrize(("how", "reason"), STOPS)
def test_each_time_they_are_kept_back_they_set_out_once_more(
    live: Live, bakery: Shop, far: Bank, issuer: Issuer, how: str, reason: str
) -> None:
    make.payout(bakery.live, AMOUNT, asset_id=COIN, fiat_payout_detail_id=bank(bakery))
    advance_payouts()
    for number in range(3):
        row = kept_back(live, issuer, how)
        assert (row.status, row.reason_code) == ("failed", reason)
        stop(issuer, how, False)
        asked_again()
        advance_payouts()
        assert len(transfers()) == number + 2
    time_passes()
    live.work()
    far.settle()
    asked_again()
    live.work()
    assert [row.status for row in transfers()] == [*["failed"] * 3, "confirmed"]
    assert Payout.objects.get().funds == "paid"
    assert live_tokens(issuer) == AMOUNT and is_exact()


def live_tokens(issuer: Issuer) -> Any:
    """Balance of the off-ramp in live tokens."""
    return issuer.place.tokens(OFFRAMP)
