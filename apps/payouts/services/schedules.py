"""Keeping schedules: what a merchant may ask for, one per store, asset and mode, and when the next
run is due."""

import calendar
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.access.operations import Operation
from apps.assets.models import Asset
from apps.assets.services import AssetNotActive
from apps.chain.networks.families import shown_address
from apps.core import clock
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, NotFound
from apps.core.messages.fields import Invalid
from apps.core.models import Viewer
from apps.core.text.wording import Worded
from apps.payouts.models import Destination, Schedule
from apps.payouts.requests import MINIMUM_CURRENCIES, ScheduleRequest
from apps.payouts.services.destinations import check_credential, title
from apps.payouts.services.orders import (
    BankNotVerified,
    PayoutKycRequired,
    Target,
    check_eligible,
    find_target,
)
from apps.stores.auditing import audit
from apps.stores.models import Store

_STEPS = {Schedule.Frequency.DAILY: timedelta(days=1), Schedule.Frequency.WEEKLY: timedelta(days=7)}
YEARS_MAX = 10


class AlreadyScheduled(Failure):
    field = "asset_id"
    message = "Asset already has a payout schedule"


class NextPayoutPast(Failure):
    field = "next_payout_at"
    message = "next_payout_at must be in the future"


class NextPayoutTooLate(Failure):
    field = "next_payout_at"
    message = f"next_payout_at must be within {YEARS_MAX} years"


def create_schedule(viewer: Access, request: ScheduleRequest) -> Schedule:
    """A new schedule. Raises NotFound for an unknown asset, what operations.check refuses with, or
    Failure."""
    operations.check(viewer, operations.SCHEDULE_CREATE)
    fields = request.sent()
    store = Store.objects.get(pk=viewer.store_id)
    asset = _asset(viewer, fields.get("asset_id"))
    with transaction.atomic():
        if Schedule.objects.visible_to(viewer).filter(asset=asset, deleted_at=None).exists():
            raise AlreadyScheduled
        at = clock.now(store, viewer.mode)
        row = Schedule(
            store=store,
            mode=viewer.mode,
            asset=asset,
            created_at=at,
            updated_at=at,
            minimum_fiat_currency="USD",
        )
        _apply(viewer, store, row, request, is_new=True)
        row.usable_from = waiting_period.usable_from(
            viewer, operations.SCHEDULE_CREATE, viewer.mode
        )
        row.maker_id = viewer.maker_id
        row.next_payout_at = _first_due(fields.get("next_payout_at"), row, at)
        row.anchor_day = row.next_payout_at.day
        row.is_active = fields.get("active", True)
        with refused_by("schedule_once_per_asset", AlreadyScheduled):
            row.save(force_insert=True)
        _note(row, "payout_schedule.created", fields)
        _tell(viewer, operations.SCHEDULE_CREATE, row, row.usable_from)
    return row


def update_schedule(viewer: Access, schedule: Schedule, request: ScheduleRequest) -> Schedule:
    """Change what is named; nulls and the asset are left out. Pausing needs no second factor.

    Raises NotFound, what operations.check refuses with, or Failure.
    """
    fields = request.sent()
    fields.pop("asset_id", None)
    operation = _change_of(fields)
    operations.check(viewer, operation)
    with transaction.atomic():
        row = _locked(viewer, schedule)
        store = row.store
        at = clock.now(store, viewer.mode)
        _apply(viewer, store, row, request, is_new=False)
        is_other = request.names_destination
        if is_other:
            row.usable_from = waiting_period.usable_from(
                viewer, operations.SCHEDULE_CHANGE, viewer.mode
            )
            row.maker_id = viewer.maker_id
        if "next_payout_at" in fields:
            row.next_payout_at = _first_due(fields["next_payout_at"], row, at)
            row.anchor_day = row.next_payout_at.day
        if fields.get("active") is True and not row.is_active and row.next_payout_at <= at:
            # What was due while it was paused is not made up for.
            row.next_payout_at = next_after(row, at)
        row.is_active = fields.get("active", row.is_active)
        row.updated_at = at
        row.save()
        _note(row, "payout_schedule.changed", fields)
        if operation is operations.SCHEDULE_CHANGE:
            _tell(viewer, operation, row, row.usable_from if is_other else None)
    return row


def _change_of(fields: Mapping[str, Any]) -> Operation:
    """Turning it on or off alone names nothing new."""
    if fields == {"active": False}:
        return operations.SCHEDULE_PAUSE
    return operations.SCHEDULE_RESUME if fields == {"active": True} else operations.SCHEDULE_CHANGE


def delete_schedule(viewer: Access, schedule: Schedule) -> None:
    """For good: the asset is free for a new one. Raises NotFound when it is deleted already."""
    operations.check(viewer, operations.SCHEDULE_DELETE)
    with transaction.atomic():
        row = _locked(viewer, schedule)
        at = clock.now(row.store, viewer.mode)
        row.deleted_at = at
        row.is_active = False
        row.updated_at = at
        row.save(update_fields=["deleted_at", "is_active", "updated_at"])
        _note(row, "payout_schedule.deleted", {})


def stop_schedule(id: uuid.UUID, until: datetime) -> bool:
    """By an owner's link: a schedule in its waiting period is deleted. False when it doesn't any
    more."""
    at = clock.real_now()
    with transaction.atomic():
        row = (
            Schedule.objects.select_for_update()
            .filter(pk=id, usable_from=until, deleted_at=None)
            .first()
        )
        if row is None or until <= at:
            return False
        row.deleted_at = at
        row.is_active = False
        row.updated_at = at
        row.save(update_fields=["deleted_at", "is_active", "updated_at"])
        _note(row, "payout_schedule.stopped", {})
    return True


def _tell(access: Access, operation: Operation, row: Schedule, until: datetime | None) -> None:
    to = (
        title(row.destination)
        if row.destination is not None
        else shown_address(str(row.destination_address))
    )
    words = Worded(
        "{asset}, {frequency}, to {destination}",
        asset=row.asset_id,
        frequency=Worded(Schedule.Frequency(row.frequency).label),
        destination=to,
    )
    waiting_period.tell(access, operation, row.pk, words, until)


def _note(row: Schedule, action: str, fields: Mapping[str, Any]) -> None:
    details = {name: str(value) for name, value in fields.items()}
    details |= {"usable_from": str(row.usable_from), "is_active": str(row.is_active)}
    audit.record(
        action, store=row.store_id, mode=row.mode, target=row, name=row.asset_id, details=details
    )


def _locked(viewer: Viewer, schedule: Schedule) -> Schedule:
    rows = (
        Schedule.objects.visible_to(viewer)
        .filter(pk=schedule.pk, deleted_at=None)
        .select_for_update(of=("self",))
    )
    row: Schedule | None = (
        rows.select_related("asset__chain", "store", "destination", "swap_target_asset")
        .defer("destination__account_sealed")
        .first()
    )
    if row is None:
        raise NotFound("Payout schedule not found")
    return row


def _asset(viewer: Viewer, asset_id: str | None) -> Asset:
    if asset_id is None:
        raise Failure("asset_id is required", field="asset_id")
    asset = Asset.objects.filter(pk=asset_id).select_related("chain").first()
    if asset is None:
        raise NotFound("Asset not found")
    if not asset.is_active or asset.mode != viewer.mode:
        raise Failure(AssetNotActive.message, field="asset_id")
    return asset


def _apply(
    viewer: Access, store: Store, row: Schedule, request: ScheduleRequest, *, is_new: bool
) -> None:
    fields = request.sent()
    if is_new or "frequency" in fields:
        if fields.get("frequency") not in Schedule.Frequency.values:
            raise Failure("Frequency must be daily, weekly or monthly", field="frequency")
        row.frequency = fields["frequency"]
    if "minimum_fiat_currency" in fields:
        if fields["minimum_fiat_currency"] not in MINIMUM_CURRENCIES:
            raise Failure("Minimum fiat currency is not supported", field="minimum_fiat_currency")
        row.minimum_fiat_currency = fields["minimum_fiat_currency"]
    row.minimum_fiat_cents = fields.get("minimum_fiat_cents", row.minimum_fiat_cents)
    if "swap_target_asset_id" in fields:
        row.swap_target_asset = _swap_target(viewer, row.asset, fields["swap_target_asset_id"])
    if request.names_destination:
        target = _target(viewer, row.asset, request)
        row.destination = target.destination
        row.destination_address = target.address if target.destination is None else None
    elif is_new:
        raise Failure("A payout destination is required", field="destination")
    _check_bank(store, row)


def _swap_target(viewer: Viewer, asset: Asset, asset_id: str) -> Asset:
    target = _asset(viewer, asset_id)
    if target == asset:
        raise Failure("Source and buy asset must differ", field="swap_target_asset_id")
    return target


def _target(viewer: Access, asset: Asset, request: ScheduleRequest) -> Target:
    try:
        target = find_target(viewer, asset, request.target)
        if target.address is not None and target.destination is None:
            check_credential(viewer, target.address)
        return target
    except (Failure, Invalid) as refusal:
        if isinstance(refusal, Failure) and refusal.code is not None:
            raise
        raise Failure(refusal.text, field=refusal.field) from None


def _check_bank(store: Store, row: Schedule) -> None:
    """A bank account must be verified, its store known, and what reaches it a stablecoin."""
    bank: Destination | None = row.destination
    if bank is None or bank.is_wallet:
        if row.swap_target_asset is not None:
            raise Failure("A swap target needs a bank account", field="swap_target_asset_id")
        return
    if bank.verified_at is None:
        raise Failure(BankNotVerified.message, field="destination")
    if store.kyc_confirmed_at is None:
        raise Failure(PayoutKycRequired.message)
    try:
        check_eligible(row.swap_target_asset or row.asset)
    except Failure as refusal:
        field = "swap_target_asset_id" if row.swap_target_asset is not None else "destination"
        raise Failure(refusal.text, field=field) from None


def _first_due(start: datetime | None, row: Schedule, at: datetime) -> datetime:
    if start is None:
        row.anchor_day = at.day
        return step(row, at)
    if start <= at:
        raise NextPayoutPast
    if start > at + timedelta(days=366 * YEARS_MAX):
        raise NextPayoutTooLate
    return start


# --- due times ------------------------------------------------------------------------------------


def step(schedule: Schedule, due: datetime) -> datetime:
    """Due time one period later. Monthly steps keep the day of month of the first, clamped to the
    month's end."""
    if schedule.frequency != Schedule.Frequency.MONTHLY:
        return due + _STEPS[Schedule.Frequency(schedule.frequency)]
    year, month = (due.year, due.month + 1) if due.month < 12 else (due.year + 1, 1)
    return due.replace(
        year=year, month=month, day=min(schedule.anchor_day, calendar.monthrange(year, month)[1])
    )


def next_after(schedule: Schedule, at: datetime) -> datetime:
    """The first due time later than `at`: what was missed in between is left out."""
    due = step(schedule, schedule.next_payout_at)
    while due <= at:
        due = step(schedule, due)
    return due
