"""The demo's swap: a part of what the live payments brought becomes dollars, once."""

import contextlib

from apps.access.access import ACT, Access
from apps.chain.selectors import heads
from apps.core.errors import Failure
from apps.ledger.selectors import balances
from apps.payments.models import Payment
from apps.payments.states import TERMINAL
from apps.stores.models import Store, User
from apps.swaps.requests import SwapRequest
from apps.swaps.services.create import create_swap
from dev import waiting

SELL_WEI = 2 * 10**16
LOOK_SECONDS = 2.0
KEY = "demo: dollars for the rent"


def swap_when_paid(
    store: Store, merchant: User, still_seconds: float = waiting.STILL_SECONDS
) -> None:
    """Wait until the payments have confirmed, then swap; a demo whose chain has stopped, or whose
    visitor has spent it, has none."""
    blocks = waiting.ChangingReading(_read_blocks, "no new block")
    with contextlib.suppress(waiting.NothingMoves):
        waiting.until(
            lambda: _has_enough(store) or not _is_any_under_way(store),
            "the confirmation of the live payments",
            blocks,
            still_seconds=still_seconds,
            pause=LOOK_SECONDS,
        )
    if _has_enough(store):
        access = Access.for_session(merchant, store, "live", proof=ACT)
        with contextlib.suppress(Failure):  # the visitor was faster and has spent it
            create_swap(access, SwapRequest("ETH", "ETH_USDC", SELL_WEI), key=KEY, caller="demo")


def _read_blocks() -> dict[str, int]:
    """Read position of each chain."""
    return {chain: head.number for chain, head in heads().items()}


def _has_enough(store: Store) -> bool:
    balance = balances(store.pk, "live").get("ETH")
    return balance is not None and balance.available_atomic >= SELL_WEI


def _is_any_under_way(store: Store) -> bool:
    live = Payment.objects.filter(store=store, mode="live")
    return live.exclude(status__in=TERMINAL).exists()
