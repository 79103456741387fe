"""The demo's swap: a part of what the live payments brought becomes dollars, once."""

import contextlib
import time

from apps.access.access import ACT, Access
from apps.core.errors import Failure
from apps.ledger.selectors import balances
from apps.stores.models import Store, User
from apps.swaps.requests import SwapRequest
from apps.swaps.services.create import create_swap

SELL_WEI = 2 * 10**16
WAIT_SECONDS = 120.0
LOOK_SECONDS = 2.0
KEY = "demo: dollars for the rent"


def swap_when_paid(store: Store, merchant: User) -> None:
    """Wait until the payments have confirmed, then swap; a demo whose chain stands still has
    none."""
    access = Access.for_session(merchant, store, "live", proof=ACT)
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        balance = balances(store.pk, "live").get("ETH")
        if balance is not None and balance.available_atomic >= SELL_WEI:
            with contextlib.suppress(Failure):  # the visitor was faster and has spent it
                create_swap(
                    access, SwapRequest("ETH", "ETH_USDC", SELL_WEI), key=KEY, caller="demo"
                )
            return
        time.sleep(LOOK_SECONDS)
