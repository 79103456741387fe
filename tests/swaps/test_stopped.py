"""A swap waits for a token that its issuer has paused, and goes on once it moves; one whose
deadline is over meanwhile gives the store its coins back."""

import pytest

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import approvals
from apps.core import clock
from apps.ledger.selectors import balances
from tests import make
from tests.cast import Shop
from tests.payouts.moody import Issuer
from tests.payouts.test_lanes import time_passes
from tests.swaps.conftest import DOLLAR, ETHER, Venue, is_exact, open_market
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_exchange import start, told

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain


def moody_market(place: Venue, shop: Shop) -> None:
    """An exchange whose dollar is a token with an issuer."""
    place.token = place.chain.deploy_moody_token()
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=place.token, is_active=True)
    open_market(place)
    place.fund_hot(50)
    for asset_id, amount in (("SETH", 5 * ETHER), ("USDC_SETH", 500 * DOLLAR)):
        make.store_coins(shop.store, asset_id, amount)
    place.chain.call("anvil_setBalance", place.hot, hex(55 * ETHER))
    place.chain.mint(place.token, place.hot, 500 * DOLLAR)


ground = ground_of(moody_market)
WAYS = [("SETH", "USDC_SETH", ETHER), ("USDC_SETH", "SETH", 400 * DOLLAR)]


def waiting(market: Venue, shop: Shop, way: tuple[str, str, int]) -> str:
    """A swap that was asked for just before the token was stopped."""
    swap_id = start(shop, *way)
    Issuer(market).pause()
    market.work(3)
    row = OutgoingTransaction.objects.get(purpose="swap")
    assert (row.reason_code, row.waits_for, row.nonce) == ("token_stopped", "token", None)
    return swap_id


def deadline_passes() -> None:
    """The call says an hour ago."""
    row = OutgoingTransaction.objects.get(purpose="swap")
    start = 10 + 64 * (3 if row.asset.is_native else 4)
    before = int(clock.real_now().timestamp()) - 3600
    row.call_data = f"{row.call_data[:start]}{before:064x}{row.call_data[start + 64 :]}"
    row.approval = approvals.approve(row)
    row.save(update_fields=["call_data", "approval"])


@pytest.mark.parametrize("way", WAYS, ids=["to a token", "from a token"])
def test_it_goes_on_once_the_token_moves(
    market: Venue, bakery: Shop, way: tuple[str, str, int]
) -> None:
    swap_id = waiting(market, bakery, way)
    Issuer(market).pause(False)
    time_passes()
    market.work(2)
    assert told(bakery, swap_id)["status"] == "completed" and is_exact()
    assert OutgoingTransaction.objects.filter(purpose="swap").count() == 1


@pytest.mark.parametrize("way", WAYS, ids=["to a token", "from a token"])
def test_one_that_is_out_of_date_gives_the_coins_back(
    market: Venue, bakery: Shop, way: tuple[str, str, int]
) -> None:
    before = balances(bakery.store.pk, "test")[way[0]].available_atomic
    swap_id = waiting(market, bakery, way)
    deadline_passes()
    time_passes()
    market.work(3)
    body = told(bakery, swap_id)
    assert body["status"] == "failed" and body["failure_reason"]
    assert balances(bakery.store.pk, "test")[way[0]].available_atomic == before
    assert is_exact()
