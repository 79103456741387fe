"""THE page: every way money may move. Each function is one event of the books, posted once per key.

Amounts are atomic units; a credit is positive. `at` is the time by the store's clock.
"""

import uuid
from datetime import datetime

from apps.ledger.chart import (
    AVAILABLE,
    CHART,
    CUSTODY_DEPOSITS,
    CUSTODY_SIMULATED,
    HELD,
    SERVICE_FEES,
    TREASURY,
)
from apps.ledger.posting import Line, post


def deposit_confirmed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    deposit_id: uuid.UUID,
    payment_id: uuid.UUID,
    amount_atomic: int,
    is_simulated: bool,
    at: datetime,
) -> bool:
    """Coins have arrived for good: they are in custody, and held for the store."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_DEPOSITS
    return post(
        f"deposit:{deposit_id}",
        "deposit_confirmed",
        mode=mode,
        asset_id=asset_id,
        reference=payment_id,
        at=at,
        lines=[Line(custody, -amount_atomic, "principal"), Line(HELD, amount_atomic, "principal", store_id)],
    )


def simulated_deposit_changed(
    *, store_id: uuid.UUID, mode: str, asset_id: str, deposit_id: uuid.UUID, payment_id: uuid.UUID, grown_atomic: int, at: datetime
) -> bool:
    """A simulated deposit that was booked has been given another amount. Raises InsufficientBalance."""
    return post(
        f"deposit:{deposit_id}:{uuid.uuid4()}",
        "simulated_deposit_changed",
        mode=mode,
        asset_id=asset_id,
        reference=payment_id,
        at=at,
        lines=[Line(CUSTODY_SIMULATED, -grown_atomic, "principal"), Line(HELD, grown_atomic, "principal", store_id)],
    )


def payment_settled(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    gross_atomic: int,
    service_fee_atomic: int,
    platform_fee_atomic: int,
    platform_id: uuid.UUID | None,
    at: datetime,
) -> bool:
    """A payment is complete: what it received in this asset goes to merchant, service and platform."""
    return post(
        f"settle:{payment_id}:{asset_id}",
        "payment_settled",
        mode=mode,
        asset_id=asset_id,
        reference=payment_id,
        at=at,
        lines=_three_way(store_id, gross_atomic, service_fee_atomic, platform_fee_atomic, platform_id),
    )


def overpayment_settled(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    deposit_id: uuid.UUID,
    gross_atomic: int,
    service_fee_atomic: int,
    platform_fee_atomic: int,
    platform_id: uuid.UUID | None,
    at: datetime,
) -> bool:
    """More has been confirmed on a completed payment."""
    return post(
        f"settle:{payment_id}:{asset_id}:{deposit_id}",
        "overpayment_settled",
        mode=mode,
        asset_id=asset_id,
        reference=payment_id,
        at=at,
        lines=_three_way(store_id, gross_atomic, service_fee_atomic, platform_fee_atomic, platform_id),
    )


def late_deposit_accepted(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    deposit_id: uuid.UUID,
    gross_atomic: int,
    service_fee_atomic: int,
    platform_fee_atomic: int,
    platform_id: uuid.UUID | None,
    at: datetime,
) -> bool:
    """The merchant takes a deposit that came too late, as if a payment of that amount had completed."""
    return post(
        f"settle-late:{deposit_id}",
        "late_deposit_accepted",
        mode=mode,
        asset_id=asset_id,
        reference=payment_id,
        at=at,
        lines=_three_way(store_id, gross_atomic, service_fee_atomic, platform_fee_atomic, platform_id),
    )


def _three_way(store_id: uuid.UUID, gross: int, service_fee: int, platform_fee: int, platform_id: uuid.UUID | None) -> list[Line]:
    return [
        Line(HELD, -gross, "gross", store_id),
        Line(AVAILABLE, gross - service_fee - platform_fee, "net", store_id),
        Line(SERVICE_FEES, service_fee, "service_fee"),
        Line(AVAILABLE, platform_fee, "platform_fee", platform_id),
    ]


def correction(
    *,
    key: str,
    mode: str,
    asset_id: str,
    kind: str,
    store_id: uuid.UUID | None,
    amount_atomic: int,
    reason: str,
    staff_id: uuid.UUID,
    at: datetime,
) -> bool:
    """Staff put something right, always against the treasury and always with a reason. Raises InsufficientBalance."""
    if not reason.strip():
        raise ValueError("a correction has a reason")
    if kind not in CHART or kind == TREASURY:
        raise ValueError(f"{kind} can't be corrected")
    return post(
        f"correction:{key}",
        "correction",
        mode=mode,
        asset_id=asset_id,
        reference=None,
        at=at,
        lines=[Line(kind, amount_atomic, "principal", store_id), Line(TREASURY, -amount_atomic, "principal")],
        reason=reason,
        staff_id=staff_id,
    )
