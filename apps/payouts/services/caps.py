"""Caps per payout and per UTC day. All caps of a store and asset are checked under the same lock,
whether staff or an agent's owner set them."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Sum

from apps.assets.models import Asset
from apps.core.db import locks
from apps.core.errors import Failure, NotFound
from apps.payouts.models import Payout, StorePayoutCap
from apps.stores.auditing import audit
from apps.stores.models import Store


class PerPayoutExceeded(Failure):
    field = "amount_atomic"
    message = "Per-payout limit exceeded"


class DailyExceeded(Failure):
    field = "amount_atomic"
    message = "Daily payout limit exceeded"


@dataclass(frozen=True)
class Cap:
    """A limit in atomic units; None is no limit. With `credential_id` only that agent's payouts
    count toward the day.

    `per_tx_refusal` and `daily_refusal` are what a caller beyond it reads.
    """

    per_tx_atomic: int | None
    daily_atomic: int | None
    credential_id: uuid.UUID | None = None
    per_tx_refusal: type[Failure] = PerPayoutExceeded
    daily_refusal: type[Failure] = DailyExceeded


def store_cap(store_id: uuid.UUID, asset_id: str) -> StorePayoutCap | None:
    """Staff's cap; None when they have set nothing."""
    return StorePayoutCap.objects.filter(store_id=store_id, asset_id=asset_id).first()


def has_store_cap(store_id: uuid.UUID, asset_ids: Iterable[str]) -> bool:
    """True if staff have set a cap of any of these assets."""
    return StorePayoutCap.objects.filter(store_id=store_id, asset_id__in=asset_ids).exists()


def set_store_cap(store: Store, asset_id: str, **changes: int | None) -> StorePayoutCap:
    """`per_tx_atomic`, `daily_atomic` or both; None takes a limit away. Raises NotFound."""
    if not Asset.objects.filter(pk=asset_id).exists():
        raise NotFound("Asset not found")
    with transaction.atomic():
        cap, _ = StorePayoutCap.objects.select_for_update().get_or_create(
            store=store, asset_id=asset_id
        )
        audit.record(
            "payout_cap.changed",
            store=store,
            target=cap,
            name=asset_id,
            details=audit.changes(cap, changes),
        )
        for column, value in changes.items():
            setattr(cap, column, value)
        cap.save(update_fields=list(changes))
    return cap


def daily_spent(
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    at: datetime,
    credential_id: uuid.UUID | None = None,
) -> int:
    """Paid out on the UTC day of `at`, in atomic units; returned coins don't count."""
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    rows = Payout.objects.filter(
        store_id=store_id,
        mode=mode,
        asset_id=asset_id,
        created_at__gte=day,
        created_at__lt=day + timedelta(days=1),
    )
    rows = rows.exclude(funds=Payout.Funds.RETURNED)
    if credential_id is not None:
        rows = rows.filter(agent_credential_id=credential_id)
    return int(rows.aggregate(sum=Sum("amount_atomic"))["sum"] or 0)


def take_turn(store_id: uuid.UUID, mode: str, asset_id: str) -> None:
    """Wait until no other payout of the asset is judged, and keep others waiting until the
    transaction ends."""
    locks.hold_in_transaction(locks.LockKind.PAYOUT_CAPS, f"{store_id}:{mode}:{asset_id}")


def check_caps(
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    amount_atomic: int,
    caps: Iterable[Cap],
    at: datetime,
) -> None:
    """Raises the refusal of the first cap that doesn't let the amount pass. Holds the store's lock
    until the transaction ends."""
    limits = [cap for cap in caps if cap.per_tx_atomic is not None or cap.daily_atomic is not None]
    if not limits:
        return
    take_turn(store_id, mode, asset_id)
    for limit in limits:
        if limit.per_tx_atomic is not None and amount_atomic > limit.per_tx_atomic:
            raise limit.per_tx_refusal
    for limit in limits:
        spent = (
            0
            if limit.daily_atomic is None
            else daily_spent(store_id, mode, asset_id, at, limit.credential_id)
        )
        if limit.daily_atomic is not None and spent + amount_atomic > limit.daily_atomic:
            raise limit.daily_refusal
