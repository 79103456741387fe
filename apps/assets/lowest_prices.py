"""The price below which a store refuses a coin that keeps to a currency's price. It is asked where
a payment is priced: nothing that has a price already changes."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from django.db import transaction

from apps.access.access import Access
from apps.assets.models import AcceptedAsset, Asset
from apps.assets.networks import PAR_CURRENCIES
from apps.core import clock
from apps.core.db.sql import Statement
from apps.core.errors import Failure, NotFound
from apps.core.money import BASIS_POINTS
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.models import Store

LOWEST_BPS, HIGHEST_BPS = 5_000, 10_000
PLACES = 4  # of a price in basis points
_CASES = " ".join(f"WHEN '{coin}' THEN '{code}'" for coin, code in PAR_CURRENCIES.items())
# Of an accepted asset `k` and its asset `a`. Without a current price in its currency a coin isn't
# known to be worth enough.
IS_WORTH_ENOUGH = f"""(k.lowest_price_bps IS NULL OR EXISTS (
    SELECT FROM assets_rate par WHERE par.asset_id = a.id
        AND par.currency = CASE a.coin_symbol {_CASES} END AND par.valid_until > %(now)s
        AND par.rate * {BASIS_POINTS} >= k.lowest_price_bps))"""  # no input in it
_REFUSED = Statement(f"""
SELECT k.asset_id FROM assets_acceptedasset k JOIN assets_asset a ON a.id = k.asset_id
WHERE k.store_id = %(store_id)s AND k.mode = %(mode)s AND NOT {IS_WORTH_ENOUGH}
""")  # noqa: S608  # no input in it


class NotPegged(Failure):
    field = "lowest_price"

    def __init__(self, asset: Asset) -> None:
        super().__init__(Worded("{coin} isn’t pegged to a currency", coin=asset.coin_symbol))


class NotBetween(Failure):
    field = "lowest_price"
    message = "The lowest price must be between 0.50 and 1.00"


class NotAccepted(Failure):
    message = "Only an accepted coin has a lowest price"


@dataclass(frozen=True)
class LowestPrice:
    """`currency` is the one that the coin keeps to; `is_refused_now` says that it is below."""

    asset_id: str
    currency: str
    bps: int | None
    is_refused_now: bool = False

    @property
    def text(self) -> str:
        return "" if self.bps is None else price_text(self.bps)

    @property
    def input(self) -> str:
        """Its input on a page that has several."""
        return f"lowest-{self.asset_id}"


def price_text(bps: int) -> str:
    """Of one coin in its currency, with two places at least: `0.98`, `0.985`."""
    whole, places = divmod(bps, BASIS_POINTS)
    text = f"{places:0{PLACES}d}".rstrip("0")
    return f"{whole}.{text.ljust(2, '0')}"


def bps_of(price: str) -> int:
    """Of a decimal text, rounded up. Raises NotBetween."""
    bps = int((Decimal(price) * BASIS_POINTS).to_integral_value(rounding=ROUND_CEILING))
    if not LOWEST_BPS <= bps <= HIGHEST_BPS:
        raise NotBetween
    return bps


def refused_now(store_id: uuid.UUID, mode: str, now: datetime) -> set[str]:
    """Coins that the store takes and that are worth too little at `now` (machine time)."""
    return {asset_id for (asset_id,) in _REFUSED.rows(store_id=store_id, mode=mode, now=now)}


def lowest_prices(access: Access) -> dict[str, LowestPrice]:
    """By asset, those of the accepted coins that can have one."""
    rows = AcceptedAsset.objects.visible_to(access).values_list(
        "asset_id", "asset__coin_symbol", "lowest_price_bps"
    )
    below = refused_now(access.store_id, access.mode, clock.real_now())
    return {
        asset_id: LowestPrice(asset_id, PAR_CURRENCIES[symbol], bps, asset_id in below)
        for asset_id, symbol, bps in rows
        if symbol in PAR_CURRENCIES
    }


def set_lowest_price(access: Access, asset_id: str, price: str | None) -> None:
    """Refuse a coin while one of it is worth less than this in its currency; None takes it at
    whatever it is worth. Raises NotFound, NotAccepted, NotPegged or NotBetween."""
    asset = Asset.objects.filter(pk=asset_id).select_related("chain").first()
    if asset is None:
        raise NotFound("Asset not found")
    if asset.coin_symbol not in PAR_CURRENCIES:
        raise NotPegged(asset)
    bps = None if price is None else bps_of(price)
    with transaction.atomic():
        Store.objects.select_for_update(no_key=True).get(pk=access.store_id)
        row = AcceptedAsset.objects.visible_to(access).filter(asset=asset).first()
        if row is None:
            raise NotAccepted
        if row.lowest_price_bps == bps:
            return
        details = {"lowest_price_bps": [row.lowest_price_bps, bps]}
        row.lowest_price_bps = bps
        row.save(update_fields=["lowest_price_bps"])
        audit.record(
            "asset.lowest_price_changed",
            store=access.store,
            mode=access.mode,
            target=asset,
            name=asset.pk,
            details=details,
        )
