"""The assets that a payment can be made in and its amount in each. Required amounts round up to
what a customer can type.

`accepted_priced` is on the hot path of creating a payment: one statement, no models.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from apps.assets.lowest_prices import IS_WORTH_ENOUGH
from apps.assets.models import Asset
from apps.assets.selectors import ASSET_COLUMNS, asset_of
from apps.core import money
from apps.core.db import sql


@dataclass(frozen=True)
class PricedAsset:
    """An accepted, active asset (with its chain), its rate, fiat per coin, and the merchant's own
    wallet that its coins go to; None where they are held here."""

    asset: Asset
    rate: Decimal
    rate_source: str
    own_wallet_id: uuid.UUID | None = None


_PRICED = sql.Statement(
    f"""
SELECT {ASSET_COLUMNS}, r.rate, r.source, (
    SELECT w.wallet_id FROM chain_walletchoice w
    WHERE w.store_id = k.store_id AND w.mode = k.mode AND w.asset_id = a.id
        AND w.active_from <= %(now)s AND w.stopped_at IS NULL
    ORDER BY w.active_from DESC, w.id DESC LIMIT 1)
FROM assets_acceptedasset k
JOIN assets_asset a ON a.id = k.asset_id AND a.is_active AND a.stopped_since IS NULL
JOIN assets_chain c ON c.id = a.chain_id AND c.mode = k.mode
    AND (%(chain_ids)s::text[] IS NULL OR c.id = ANY (%(chain_ids)s::text[]))
JOIN assets_rate r ON r.asset_id = a.id AND r.currency = %(currency)s AND r.valid_until > %(now)s
WHERE k.store_id = %(store_id)s AND k.mode = %(mode)s AND k.suspended_at IS NULL
    AND {IS_WORTH_ENOUGH}
ORDER BY a.position, a.id
""",  # noqa: S608  # nothing but names of our own is put in
    stays=True,
)


def accepted_priced(
    store_id: uuid.UUID,
    mode: str,
    currency: str,
    now: datetime,
    chain_ids: Iterable[str] | None = None,
) -> list[PricedAsset]:
    """The assets that a store takes in a mode, each with a rate that is still valid at `now`
    (machine time); none whose price is below the store's lowest.

    With `chain_ids`, those of these chains alone.
    """
    chains = None if chain_ids is None else sql.array(chain_ids)
    rows = _PRICED.rows(currency=currency, now=now, store_id=store_id, mode=mode, chain_ids=chains)
    return [PricedAsset(asset_of(row[:-3]), *row[-3:]) for row in rows]


@dataclass(frozen=True)
class AssetPrice:
    """The amounts of one payment address. `base_atomic` and `fee_atomic` are there when the fee is
    on top."""

    priced: PricedAsset
    required_atomic: int
    base_atomic: int | None = None
    fee_atomic: int | None = None


@dataclass(frozen=True)
class FixedPrice:
    """The one asset, address and amount of a payment, promised before it is recorded: anyone who
    signs for them has it made."""

    payment_id: uuid.UUID
    reference: str
    asset: Asset
    index: int
    required_atomic: int
    base_atomic: int | None = None
    fee_atomic: int | None = None


def price(cents: int, priced: PricedAsset, fee_fraction: Decimal | None) -> AssetPrice:
    """The price in one asset at its current rate; with `fee_fraction` grossed up so that the
    merchant nets the base."""
    asset = priced.asset
    base = money.atomic_for_cents(cents, priced.rate, asset.atomic_decimals, asset.display_decimals)
    if fee_fraction is None:
        return AssetPrice(priced, base)
    total = money.gross_up(base, fee_fraction, asset.atomic_decimals, asset.display_decimals)
    return AssetPrice(priced, total, base, total - base)
