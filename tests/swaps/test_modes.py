"""A swap whose row names coins of the other mode buys nothing: coins of a test network cost
nothing, and have the rate of real ones."""

import uuid

import pytest

from apps.audit.grants import WORKER
from apps.core import clock
from apps.ledger import movements
from apps.ledger.chart import AVAILABLE, TREASURY
from apps.ledger.posting import EntryLine, Posting, post
from apps.ledger.selectors import account_balance
from apps.swaps.models import Swap
from apps.swaps.services.progress import advance_swaps
from tests.cast import Shop
from tests.make import service_coins
from tests.roles import acting_as
from tests.swaps.test_treasury import ETHER, Market, market, sell, stocked

__all__ = ["market", "stocked"]


def forged(shop: Shop, sold: str, bought: str) -> Swap:
    """A live swap of coins that are set aside for it."""
    at = clock.real_now()
    made = sell(shop)
    assert made.status_code == 201, made.content
    swap = Swap.objects.get(pk=made.json()["id"])
    swap.pk = uuid.uuid4()
    swap.idempotency_key = f"{sold} {bought}"
    swap.source_asset_id, swap.buy_asset_id, swap.min_buy_amount_atomic = sold, bought, 1
    swap.save(force_insert=True)
    legs = [
        EntryLine(TREASURY, sold, -ETHER, "principal"),
        EntryLine(AVAILABLE, sold, ETHER, "principal", shop.store.pk),
    ]
    post(Posting(f"of-a-test:{swap.pk}", "of_a_test", "live", None, at, legs))
    movements.swap_created(
        store_id=shop.store.pk,
        mode="live",
        asset_id=sold,
        swap_id=swap.pk,
        sell_atomic=swap.sell_amount_atomic,
        at=at,
    )
    return swap


@pytest.mark.parametrize(("sold", "bought"), [("SETH", "ETH"), ("ETH", "SETH")])
def test_coins_of_the_other_mode_are_not_swapped(
    market: Market, stocked: Shop, sold: str, bought: str
) -> None:
    service_coins("ETH", 5 * ETHER)
    swap = forged(stocked, sold, bought)
    before = account_balance(stocked.store.pk, "live", sold, AVAILABLE)
    with acting_as(WORKER):
        advance_swaps("live")
    swap.refresh_from_db()
    assert (swap.status, swap.failure_reason) == ("failed", "The assets are of another mode")
    assert account_balance(stocked.store.pk, "live", bought, AVAILABLE) == (
        9 * ETHER if bought == "ETH" else 0
    )
    after = account_balance(stocked.store.pk, "live", sold, AVAILABLE)
    assert after == before + swap.sell_amount_atomic
