"""Reads of assets and rates."""

import uuid
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.db.models import CharField

from apps.assets.models import AcceptedAsset, Asset, Chain, Rate
from apps.core.db import sql
from apps.core.db.prepared_reads import Query
from apps.core.db.sql import BlankParameter
from apps.core.money import CoinPrice

_ASSET_FIELDS = list(Asset._meta.concrete_fields)
_CHAIN_FIELDS = list(Chain._meta.concrete_fields)
# Of an asset `a` and its chain `c`, as `asset_of` takes them.
ASSET_COLUMNS = ", ".join(
    [f"a.{field.column}" for field in _ASSET_FIELDS]
    + [f"c.{field.column}" for field in _CHAIN_FIELDS]
)
_VALUED = sql.Statement(f"""
SELECT {ASSET_COLUMNS}, r.rate
FROM assets_asset a
JOIN assets_chain c ON c.id = a.chain_id
LEFT JOIN assets_rate r ON r.asset_id = a.id AND r.currency = %(currency)s
    AND r.valid_until > %(now)s
WHERE a.id = ANY (%(ids)s::text[])
ORDER BY a.coin_symbol, a.id
""")  # noqa: S608  # only names of columns are put in


_ACTIVE = sql.Statement(f"""
SELECT {ASSET_COLUMNS}, r.rate
FROM assets_asset a
JOIN assets_chain c ON c.id = a.chain_id AND c.mode = %(mode)s
LEFT JOIN assets_rate r ON r.asset_id = a.id AND r.currency = %(currency)s
    AND r.valid_until > %(now)s
WHERE a.is_active
ORDER BY a.position, a.id
""")  # noqa: S608  # only names of columns are put in


def valued(
    asset_ids: Iterable[str], currency: str, now: datetime
) -> list[tuple[Asset, Decimal | None]]:
    """These assets with their chain and their rate, None when there is none that is valid at `now`
    (machine time)."""
    rows = _VALUED.rows(currency=currency, now=now, ids=sql.array(asset_ids))
    return [(asset_of(row[:-1]), row[-1]) for row in rows]


def with_chains(asset_ids: Iterable[str]) -> dict[str, Asset]:
    """These assets, each with its chain."""
    return {asset.pk: asset for asset, _ in valued(asset_ids, "", datetime.max.replace(tzinfo=UTC))}


@lru_cache(maxsize=256)
def asset_of(row: tuple[Any, ...]) -> Asset:
    """Asset and chain with just these values of ASSET_COLUMNS, made once; readers share it."""
    split = len(_ASSET_FIELDS)
    asset = Asset.from_db("default", [field.attname for field in _ASSET_FIELDS], row[:split])
    asset.min_withdrawal_atomic = int(asset.min_withdrawal_atomic)
    asset.chain = Chain.from_db("default", [field.attname for field in _CHAIN_FIELDS], row[split:])
    return asset


def accepts_any(store_id: uuid.UUID, mode: str) -> bool:
    """True if the store takes at least one active asset."""
    rows = AcceptedAsset.objects.filter(
        store_id=store_id, mode=mode, suspended_at=None, asset__is_active=True
    )
    return rows.exists()


_ACTIVE_ASSETS = Query(
    lambda: Asset.objects.filter(is_active=True, chain__mode=BlankParameter("mode", CharField())),
    "chain",
)


def active_assets(mode: str) -> list[Asset]:
    """The assets that can be used in a mode, in their order."""
    return _ACTIVE_ASSETS.read(mode=mode)


def active_priced(mode: str, currency: str, now: datetime) -> list[tuple[Asset, Decimal | None]]:
    """Active assets with their rate, None without a rate that is valid at `now` (machine time)."""
    rows = _ACTIVE.rows(currency=currency, now=now, mode=mode)
    return [(asset_of(row[:-1]), row[-1]) for row in rows]


def listed_assets(mode: str) -> list[Asset]:
    """Of the active assets of a mode those that customers can pay with."""
    return [asset for asset in active_assets(mode) if asset.is_listed]


def accepted_assets(store_id: uuid.UUID, mode: str) -> list[Asset]:
    """The active assets that a store takes."""
    accepted = AcceptedAsset.objects.filter(store_id=store_id, mode=mode).values("asset_id")
    return list(
        Asset.objects.filter(is_active=True, chain__mode=mode, pk__in=accepted).select_related(
            "chain"
        )
    )


def current_rate(asset_id: str, currency: str, now: datetime) -> Rate | None:
    """The rate that prices now; None when there is none or it is too old."""
    return Rate.objects.filter(asset_id=asset_id, currency=currency, valid_until__gt=now).first()


def price_of(asset: Asset, currency: str, now: datetime) -> CoinPrice[Asset] | None:
    """A coin's present price; None when there is no rate or it is too old."""
    rate = current_rate(asset.pk, currency, now)
    return None if rate is None else CoinPrice(asset, rate.rate, currency)


def fee_asset_id(asset: Asset) -> str:
    """The coin in which the chain of an asset takes its fees."""
    return (
        asset.pk
        if asset.pays_fees
        else str(Asset.objects.get(chain=asset.chain_id, pays_fees=True).pk)
    )


def fee_asset_of(chain_id: str) -> Asset | None:
    """The coin in which a chain takes its fees; None for one that has none yet."""
    return Asset.objects.filter(chain=chain_id, pays_fees=True).first()


_DAILY = sql.Statement("""
SELECT w.asset_id, w.day, d.rate
    FROM unnest(%(assets)s::text[], %(days)s::date[]) AS w(asset_id, day)
CROSS JOIN LATERAL (
    SELECT one.rate FROM assets_dailyrate one
    WHERE one.asset_id = w.asset_id AND one.currency = %(currency)s AND one.day <= w.day
        ORDER BY one.day DESC LIMIT 1
) d
""")


def daily_rates(
    asset_days: Iterable[tuple[str, date]], currency: str
) -> dict[tuple[str, date], Decimal]:
    """A coin's price on a day (UTC): the first rate of that day, else the last one before it."""
    pairs = sorted(set(asset_days))
    if not pairs:
        return {}
    assets = sql.array(pair[0] for pair in pairs)
    days = sql.array(str(day) for _, day in pairs)
    return {
        (asset_id, day): rate
        for asset_id, day, rate in _DAILY.rows(assets=assets, days=days, currency=currency)
    }
