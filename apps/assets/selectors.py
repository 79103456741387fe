"""Reads of assets and rates. `accepted_priced` is on the hot path of creating a payment: one statement, no models."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import connection

from apps.assets.models import AcceptedAsset, Asset, Rate


@dataclass(frozen=True)
class PricedAsset:
    """An accepted, active asset with its rate (fiat per coin). `chain_id` is the network's name."""

    asset_id: str
    chain_id: str
    is_native: bool
    atomic_decimals: int
    display_decimals: int
    required_confirmations: int
    rate: Decimal
    rate_source: str


_PRICED = """
SELECT a.id, a.chain_id, a.token_standard = 'Native', a.atomic_decimals, a.display_decimals, c.required_confirmations, r.rate, r.source
FROM assets_acceptedasset k
JOIN assets_asset a ON a.id = k.asset_id AND a.is_active
JOIN assets_chain c ON c.id = a.chain_id AND c.mode = k.mode
JOIN assets_rate r ON r.asset_id = a.id AND r.currency = %s AND r.valid_until > %s
WHERE k.store_id = %s AND k.mode = %s AND k.suspended_at IS NULL
ORDER BY a.position, a.id
"""


def accepted_priced(store_id: uuid.UUID, mode: str, currency: str, now: datetime) -> list[PricedAsset]:
    """The assets that a store takes in a mode, each with a rate that is still valid at `now` (machine time)."""
    with connection.cursor() as cursor:
        cursor.execute(_PRICED, [currency, now, store_id, mode])
        return [PricedAsset(*row) for row in cursor.fetchall()]


def accepts_any(store_id: uuid.UUID, mode: str) -> bool:
    """Whether the store takes at least one active asset."""
    rows = AcceptedAsset.objects.filter(store_id=store_id, mode=mode, suspended_at=None, asset__is_active=True)
    return rows.exists()


def active_assets(mode: str) -> list[Asset]:
    """The assets that can be used in a mode, in their order."""
    return list(Asset.objects.filter(is_active=True, chain__mode=mode).select_related("chain"))


def accepted_assets(store_id: uuid.UUID, mode: str) -> list[Asset]:
    """The active assets that a store takes."""
    accepted = AcceptedAsset.objects.filter(store_id=store_id, mode=mode).values("asset_id")
    return list(Asset.objects.filter(is_active=True, chain__mode=mode, pk__in=accepted).select_related("chain"))


def current_rate(asset_id: str, currency: str, now: datetime) -> Rate | None:
    """The rate that prices now; None when there is none or it is too old."""
    return Rate.objects.filter(asset_id=asset_id, currency=currency, valid_until__gt=now).first()
