"""Coins for a payment that wait to be mined, as people are shown them; none of them counts."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.assets.models import Asset
from apps.chain.models import SightingRecord
from apps.core import clock
from apps.payments.documents.checkout import outstanding
from apps.payments.models import PaymentAddress
from apps.payments.selectors import Received

TOLD_FOR = timedelta(days=1)
# A fee that is enough brings it into a block before that, on Bitcoin and Litecoin alike.
SLOW_AFTER = timedelta(hours=1)
SHOWN_MAX = 5
_Status = SightingRecord.Status


@dataclass(frozen=True)
class SeenCoins:
    """`is_whole` is of what pays all that is still due by itself; `status` is `waiting`, or what
    has become of it without a block."""

    tx_hash: str
    asset: Asset
    amount_atomic: int
    status: str
    seen_at: datetime
    explorer_url: str
    is_whole: bool

    @property
    def is_waiting(self) -> bool:
        return self.status == _Status.WAITING

    @property
    def is_slow(self) -> bool:
        """Tells whether it waits for so long that its fee is too low for now."""
        return self.is_waiting and clock.real_now() - self.seen_at >= SLOW_AFTER


def seen_coins(entries: list[PaymentAddress], outstanding: dict[str, int]) -> list[SeenCoins]:
    """Coins that wait, and those that have ended lately without being mined, the newest first.
    `outstanding` is what each asset has still to bring."""
    assets = {entry.address_id: entry.asset for entry in entries}
    if not assets:
        return []
    rows = (
        SightingRecord.objects.filter(
            address__in=list(assets), seen_at__gt=clock.real_now() - TOLD_FOR
        )
        .exclude(status=_Status.MINED)
        .order_by("-seen_at", "-pk")[:SHOWN_MAX]
    )
    return [
        SeenCoins(
            row.tx_hash,
            asset := assets[row.address_id],
            int(row.amount_atomic),
            row.status,
            row.seen_at,
            "" if row.is_private or not asset.chain.explorer_url else _link(asset, row.tx_hash),
            int(row.amount_atomic) >= outstanding[asset.pk],
        )
        for row in rows
    ]


def seen_for(received: list[Received]) -> dict[str, object]:
    """Of a payment, for its pages; and whether something waits, and pays all that is due."""
    seen = seen_coins([intake.address for intake in received], outstanding(received))
    is_whole = any(coins.is_waiting and coins.is_whole for coins in seen)
    is_waiting = any(coins.is_waiting for coins in seen)
    return {"sightings": seen, "is_seen_whole": is_whole, "is_seen_waiting": is_waiting}


def _link(asset: Asset, tx_hash: str) -> str:
    return f"{asset.chain.explorer_url}/tx/{tx_hash}"
