"""Running schedules: each due time once, by its row; what is there is paid out whole, or the reason
why not is kept.

After an outage a schedule runs once. With a swap on the way the run stays open until the swap has
ended.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import QuerySet

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.assets.models import Asset
from apps.chain.networks.base import Address
from apps.core import clock
from apps.core.errors import Failure
from apps.core.money import Amount
from apps.core.process.failpoints import failpoint
from apps.core.rows import Job
from apps.ledger.chart import AVAILABLE, RESERVED
from apps.ledger.posting import account_id, locked_balance
from apps.payouts.models import Payout, Schedule, ScheduleRun
from apps.payouts.services import approvals, moves
from apps.payouts.services.approvals import Maker
from apps.payouts.services.caps import take_turn
from apps.payouts.services.create import place
from apps.payouts.services.destinations import check_usable
from apps.payouts.services.orders import PayoutOrder, Target, check_order
from apps.payouts.services.run_rules import RunWithoutRate, skip_reason
from apps.payouts.services.schedules import next_after
from apps.stores.staff.suspensions import Suspension, goes_on, is_suspended, refuse_payout
from apps.swaps.models import Swap
from apps.swaps.requests import SwapRequest
from apps.swaps.services.create import create_swap
from apps.swaps.services.progress import advance_here

log = structlog.get_logger(__name__)
LOOKS_AT = (Schedule,)
CALLER = "schedule"
JOB = Job("payouts.run_schedules", in_transaction=False)
SWAPPING = Job("payouts.follow_swaps", in_transaction=False)


class RunRefused(Failure):
    """Refusal of a run by hand; the text is the service's own."""


@dataclass(frozen=True)
class _ScheduleOwner:
    """Owner of the schedule, as the services below ask for it."""

    store_id: uuid.UUID
    mode: str


@dataclass(frozen=True)
class ScheduleRunResult:
    """Result of a run: a payout, a swap that a payout follows, or the reason for neither."""

    payout: Payout | None = None
    skip_reason: str | None = None
    failure: str = ""
    is_swapping: bool = False


def run_schedules() -> int:
    """The sweep: run what is due, and pay out what a swap has brought; how many schedules were
    due."""
    active = Schedule.objects.filter(
        goes_on(Suspension.PAYOUTS), is_active=True, deleted_at=None
    ).order_by("next_payout_at")
    at = clock.real_now()
    due = (
        active.filter(clock.is_due("next_payout_at", at))
        .exclude(usable_from__gt=at)
        .values_list("pk", flat=True)
    )
    ran = JOB.walk(due, run_if_due)
    follow_swaps()
    return ran


def run_if_due(schedule_id: uuid.UUID) -> bool:
    """Take a schedule's due time and run it; False when somebody else has, or it can't be valued
    yet."""
    try:
        with transaction.atomic():
            schedule = _locked(schedule_id)
            at = clock.now(schedule.store, schedule.mode)
            if (
                schedule.deleted_at is not None
                or not schedule.is_active
                or schedule.next_payout_at > at
                or _is_waiting(schedule, at)
                or is_suspended(schedule.store, Suspension.PAYOUTS)
            ):
                return False
            run = ScheduleRun.objects.create(
                schedule=schedule, due_at=schedule.next_payout_at, at=at
            )
            schedule.next_payout_at = next_after(schedule, at)
            failpoint("schedule.K1")
            _evaluate(schedule, run, at)
    except RunWithoutRate:
        log.warning("schedule_waits_for_rate", schedule=str(schedule_id))
        return False
    _begin_swap(run)
    return True


def run_by_hand(access: Access, schedule: Schedule) -> ScheduleRunResult:
    """Evaluate now, whatever is due. Raises RunRefused, PayoutsSuspended, or what
    operations.check refuses with."""
    operations.check(access, operations.SCHEDULE_RUN)
    try:
        with transaction.atomic():
            fresh = _locked(schedule.pk)
            refuse_payout(fresh.store)
            at = clock.now(fresh.store, fresh.mode)
            if fresh.usable_from is not None and _is_waiting(fresh, at):
                raise RunRefused(
                    str(waiting_period.StillWaiting("This schedule", fresh.usable_from))
                )
            run = ScheduleRun.objects.create(schedule=fresh, at=at)
            ran = _evaluate(fresh, run, at)
    except RunWithoutRate:
        raise RunRefused("The balance can't be valued at the moment") from None
    if ran.is_swapping:
        ran = _begin_swap(run)
    if ran.failure:
        raise RunRefused(ran.failure)
    return ran


def _locked(schedule_id: uuid.UUID) -> Schedule:
    rows = Schedule.objects.select_for_update(of=("self",))
    schedule: Schedule = (
        rows.select_related("asset__chain", "store", "destination", "swap_target_asset__chain")
        .defer("destination__account_sealed")
        .get(pk=schedule_id)
    )
    return schedule


def _is_waiting(schedule: Schedule, at: datetime) -> bool:
    return schedule.usable_from is not None and schedule.usable_from > at


def _evaluate(schedule: Schedule, run: ScheduleRun, at: datetime) -> ScheduleRunResult:
    """Decide, pay, and write down what became of it."""
    # Before the balance, as every payout takes them: whatever else spends it now comes before or
    # after this run, never between.
    take_turn(schedule.store_id, schedule.mode, schedule.asset_id)
    approvals.take_turn(schedule.store_id, schedule.mode)
    account_id(
        schedule.store_id, schedule.mode, schedule.asset_id, RESERVED
    )  # made before others are kept waiting, never while they are
    amount = locked_balance(schedule.store_id, schedule.mode, schedule.asset_id, AVAILABLE)
    reason = skip_reason(schedule, amount)
    ran = ScheduleRunResult(skip_reason=reason)
    if reason is None and schedule.swap_target_asset_id is not None:
        ran = ScheduleRunResult(is_swapping=True)
    elif reason is None:
        ran = _pay(schedule, run, Amount(schedule.asset, amount), at)
    _write(schedule, run, ran, amount, at)
    return ran


def _pay(
    schedule: Schedule, run: ScheduleRun, amount: Amount[Asset], at: datetime
) -> ScheduleRunResult:
    destination = schedule.destination
    if destination is not None and destination.removed_at is not None:
        return ScheduleRunResult(failure="The destination was removed")
    address = schedule.destination_address if destination is None else destination.address
    target = Target(destination, Address(address) if address else None)
    rail = Payout.Rail.CRYPTO
    if target.is_bank:
        rail = (
            Payout.Rail.FIAT_AUTOSWAP
            if schedule.swap_target_asset_id is not None
            else Payout.Rail.FIAT_MANUAL
        )
    owner = _ScheduleOwner(schedule.store_id, schedule.mode)
    order = PayoutOrder(amount, target, rail, schedule=schedule)
    try:
        with transaction.atomic():
            check_usable(destination, at)
            check_order(schedule.store, amount, target)
            maker = Maker(
                schedule.maker_id,
                "A schedule",
                approvals.covering(schedule, amount.asset.pk, target.address),
            )
            payout, _ = place(
                owner, schedule.store, order, f"{schedule.pk}:{run.pk}", maker=maker, caller=CALLER
            )
    except Failure as refusal:
        log.warning("schedule_run_refused", schedule=str(schedule.pk), reason=str(refusal))
        return ScheduleRunResult(failure=str(refusal))
    return ScheduleRunResult(payout=payout)


def _write(
    schedule: Schedule, run: ScheduleRun, ran: ScheduleRunResult, amount_atomic: int, at: datetime
) -> None:
    run.skip_reason = ran.skip_reason
    run.failure = ran.failure[: moves.TEXT_MAX]
    run.amount_atomic = amount_atomic
    run.is_swapping = ran.is_swapping
    run.save()
    schedule.last_skip_reason = ran.skip_reason
    schedule.last_failure = ran.failure[: moves.TEXT_MAX]
    if ran.payout is not None:
        schedule.last_payout_at = at
    schedule.updated_at = at
    schedule.save(
        update_fields=[
            "next_payout_at",
            "last_skip_reason",
            "last_failure",
            "last_payout_at",
            "updated_at",
        ]
    )


# --- with a swap on the way -----------------------------------------------------------------------


def _begin_swap(run: ScheduleRun) -> ScheduleRunResult:
    """Sell what the run found; the swap's key is the run, so doing it again finds the same swap.
    Not inside a transaction."""
    if not run.is_swapping:
        return ScheduleRunResult()
    schedule = run.schedule
    if run.swap_id is None:
        try:
            swap, _ = create_swap(
                _ScheduleOwner(schedule.store_id, schedule.mode),
                SwapRequest(
                    schedule.asset_id, str(schedule.swap_target_asset_id), run.amount_atomic or 0
                ),
                key=f"{schedule.pk}:{run.pk}",
                caller=CALLER,
            )
        except Failure as refusal:
            return _end_swap(run.pk, ScheduleRunResult(failure=str(refusal)))
        ScheduleRun.objects.filter(pk=run.pk).update(swap=swap)
        run.swap = swap
    if run.swap_id is not None:
        advance_here(run.swap_id)
    return _after_swap(run.pk)


def follow_swaps() -> int:
    """Runs whose swap has ended are paid out; how many were open."""
    return SWAPPING.walk(_swapping().order_by("id"), _begin_swap)


def _swapping() -> "QuerySet[ScheduleRun]":
    """Runs with a swap on the way. Those of stores whose payouts are suspended wait, as else what
    the swap brought would be refused, and never paid out."""
    rows = ScheduleRun.objects.filter(
        goes_on(Suspension.PAYOUTS, "schedule__store"), is_swapping=True
    )
    return rows.select_related("schedule")


def _after_swap(run_id: int) -> ScheduleRunResult:
    with transaction.atomic():
        run = (
            ScheduleRun.objects.select_for_update(of=("self",))
            .select_related("swap")
            .get(pk=run_id)
        )
        schedule = _locked(run.schedule_id)
        swap = run.swap
        if not run.is_swapping or swap is None:
            return ScheduleRunResult()
        at = clock.now(schedule.store, schedule.mode)
        if swap.status == Swap.Status.FAILED:
            ran = ScheduleRunResult(failure=f"The swap failed: {swap.failure_reason or ''}")
        elif (
            swap.status == Swap.Status.COMPLETED
            and swap.actual_buy_amount_atomic
            and schedule.swap_target_asset is not None
        ):
            ran = _pay(
                schedule, run, Amount(schedule.swap_target_asset, swap.actual_buy_amount_atomic), at
            )
        else:
            return ScheduleRunResult(is_swapping=True)
        _write(schedule, run, ran, int(run.amount_atomic or 0), at)
        return ran


def _end_swap(run_id: int, ran: ScheduleRunResult) -> ScheduleRunResult:
    with transaction.atomic():
        run = ScheduleRun.objects.select_for_update(of=("self",)).get(pk=run_id)
        schedule = _locked(run.schedule_id)
        _write(
            schedule,
            run,
            ran,
            int(run.amount_atomic or 0),
            clock.now(schedule.store, schedule.mode),
        )
    return ran


# --- the test clock -------------------------------------------------------------------------------


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """The due time of the store's next schedule."""
    rows = Schedule.objects.filter(store_id=store_id, mode="test", is_active=True, deleted_at=None)
    rows = rows if after is None else rows.filter(next_payout_at__gt=after)
    return rows.order_by("next_payout_at").values_list("next_payout_at", flat=True).first()


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = Schedule.objects.filter(
        store_id=store_id, mode="test", is_active=True, deleted_at=None, next_payout_at__lte=now
    )
    for schedule_id in list(rows.order_by("next_payout_at").values_list("pk", flat=True)):
        run_if_due(schedule_id)
    for run in _swapping().filter(schedule__store=store_id, schedule__mode="test"):
        _begin_swap(run)
