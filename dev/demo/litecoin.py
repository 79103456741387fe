"""The demo's Litecoin: its asset is offered, its hot wallet has coins, and blocks come while
somebody waits for one."""

import contextlib
import os
import threading
import time
from typing import Any

from apps.assets.models import Asset, Chain, TokenStandard
from apps.chain.selectors import heads
from apps.core import clock, local_chain
from apps.core.local_chain import LITECOIN
from apps.ledger import movements
from apps.ledger.chart import CUSTODY_HOT
from apps.payments.services.treasury import funding_key
from apps.stores.models import User
from dev import litecoind, waiting
from dev.demo import people

CHAIN = "litecoin"
COINS = 500
ATOMIC = 10**8
# As often while something waits, and until what was mined is deeper than anything is confirmed.
BLOCK_SECONDS = 5.0
DEPTH = 8
LOOK_SECONDS = 1.0
# Else a block now and then, so that the newest is never old.
IDLE_SECONDS = 120.0


def offer() -> None:
    """The network's coin can be paid with, where its node runs."""
    if os.environ.get(LITECOIN):
        Asset.objects.filter(chain_id=CHAIN, token_standard=TokenStandard.NATIVE).update(
            is_active=True
        )


def fill(chain: Chain, address: str) -> None:
    """Coins for the hot wallet, unless it has some: they are in the first block that is mined, when
    the watcher reads."""
    url = os.environ[local_chain.LITECOIN]
    held = litecoind.call(url, "scantxoutset", "start", [f"addr({address})"])["unspents"]
    if held or _is_waiting(url, address):
        return
    tx_hash = litecoind.pay(url, address, str(COINS))
    asset = Asset.objects.get(chain=chain, token_standard=TokenStandard.NATIVE)
    movements.correction(
        key=funding_key(tx_hash, asset.pk),
        mode=chain.mode,
        asset_id=asset.pk,
        kind=CUSTODY_HOT,
        store_id=None,
        amount_atomic=-COINS * ATOMIC,
        reason="The demo's own coins",
        staff_id=User.objects.get(email=people.STAFF["email"]).pk,
        at=clock.real_now(),
    )


def confirm_coins(url: str) -> None:
    """Mine until the hot wallet's first coins count for good, and wait until they have been read:
    the books have them already. Raises waiting.NothingMoves."""
    if not litecoind.call(url, "getrawmempool"):
        return
    for _ in range(DEPTH):
        litecoind.mine(url)
    height = litecoind.call(url, "getblockcount")

    def is_read() -> bool:
        return _read_up_to() >= height

    waiting.until(
        is_read,
        lambda: f"block {height} of Litecoin",
        waiting.ChangingReading(_read_up_to, "no new block"),
    )


def _read_up_to() -> int:
    head = heads().get(CHAIN)
    return -1 if head is None else head.number


def _is_waiting(url: str, address: str) -> bool:
    return any(
        output["scriptPubKey"].get("addresses") == [address]
        for each in litecoind.call(url, "getrawmempool")
        for output in litecoind.call(url, "getrawtransaction", each, True)["vout"]
        if "scriptPubKey" in output
    )


def _has_paid(transactions: list[dict[str, Any]]) -> bool:
    """Tells whether a block has more than the miner's transaction and that of the private part, or
    pays somebody out of it."""
    _, *others = transactions
    return len(others) > 1 or any(len(each["vout"]) > 1 for each in others)


class Miner(threading.Thread):
    """Mines while something waits, as long as the demo runs; a node that doesn't answer is asked
    again."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True, name="miner")
        self._url = url
        self._left = DEPTH
        self._is_seen = False
        self._idle_seconds = 0.0

    def run(self) -> None:
        while True:
            pause = LOOK_SECONDS
            with contextlib.suppress(OSError, ValueError, litecoind.NodeRefused):
                pause = self._step()
            time.sleep(pause)

    def _step(self) -> float:
        """Seconds until the next look."""
        is_waiting = bool(litecoind.call(self._url, "getrawmempool"))
        self._idle_seconds += LOOK_SECONDS
        if not is_waiting and not self._left and self._idle_seconds < IDLE_SECONDS:
            return LOOK_SECONDS
        if is_waiting and not self._left and not self._is_seen:
            self._is_seen = True  # people see it wait before a block has it
            return BLOCK_SECONDS
        [block_hash] = litecoind.mine(self._url)
        has_paid = _has_paid(litecoind.call(self._url, "getblock", block_hash, 2)["tx"])
        self._left = DEPTH if has_paid else max(0, self._left - 1)
        self._is_seen = False
        self._idle_seconds = 0.0
        return BLOCK_SECONDS
