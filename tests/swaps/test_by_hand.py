"""A schedule run by hand sells on the chain's exchange only where transactions can be approved."""

from typing import Any

import pytest

from apps.chain.models import OutgoingTransaction
from apps.swaps.models import Swap
from apps.swaps.services.progress import advance_here
from tests import make
from tests.cast import Shop
from tests.swaps.conftest import ETHER, Venue

pytestmark = pytest.mark.chain


def test_web_leaves_a_swap_on_the_chain_to_a_worker(
    market: Venue, bakery: Shop, settings: Any
) -> None:
    market.fund_hot(5, 5000)
    make.store_coins(bakery.store, "SETH", ETHER)
    body = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": str(ETHER // 10),
    }
    swap = Swap.objects.get(pk=bakery.test.post("/balance_swaps", body, key="by hand").json()["id"])
    assert swap.provider == "uniswap"
    keys = settings.APPROVAL_KEYS
    settings.APPROVAL_KEYS = []
    advance_here(swap.pk)
    assert not OutgoingTransaction.objects.exists()
    settings.APPROVAL_KEYS = keys
    advance_here(swap.pk)
    assert OutgoingTransaction.objects.get().purpose == "swap"
