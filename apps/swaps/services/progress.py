"""Swaps on their way: each open one is brought a step on under its own lock, and booked in the same
transaction.

A swap that ended wakes the automatic ones, which may have waited for its coins.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from django.conf import settings
from django.db import transaction

from apps.assets.models import Asset, TokenStandard
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import sender
from apps.core import clock, jobs
from apps.core.failpoints import failpoint
from apps.core.machine import Change, Noted
from apps.core.money import Amount
from apps.core.rows import Job
from apps.ledger import movements
from apps.swaps import states
from apps.swaps.models import Swap, SwapStep
from apps.swaps.providers.base import FAILED, FILLED, WAITING, SwapOrder, SwapOutcome, SwapProvider
from apps.swaps.providers.treasury import PATIENCE
from apps.swaps.services.quote import provider_of

LOOKS_AT = (Swap,)
JOB = Job("swaps.advance", in_transaction=False)
APPROVALS = Job("swaps.book_approvals")
UUID_LENGTH = 36
_Status = Swap.Status


def advance_swaps(mode: str = "") -> int:
    """The sweep (of a mode): move every open swap as far as it comes; how many there were."""
    open_swaps = Swap.objects.filter(status__in=states.OPEN).order_by("created_at")
    open_swaps = open_swaps.filter(mode=mode) if mode else open_swaps
    moved = JOB.walk(open_swaps.values_list("pk", flat=True), advance_swap, mode=mode)
    book_approvals(mode)
    return moved


def book_approvals(mode: str = "") -> int:
    """Book the gas of approvals that have ended, whatever became of their swaps; how many there
    were."""
    ended = sender.unhandled(OutgoingTransaction.Purpose.APPROVAL).exclude(
        status=OutgoingTransaction.Status.REVIEW
    )
    return APPROVALS.walk(ended.filter(mode=mode) if mode else ended, _book_approval, mode=mode)


def _book_approval(ended: OutgoingTransaction) -> None:
    natives = Asset.objects.filter(chain=ended.chain_id, token_standard=TokenStandard.NATIVE)
    with transaction.atomic():
        row = sender.locked_unhandled(ended)
        if row is None:
            return
        if row.network_fee_atomic:
            movements.swap_approval_paid(
                mode=row.mode,
                asset_id=str(natives.values_list("pk", flat=True).get()),
                reference=row.reference,
                swap_id=uuid.UUID(row.reference[:UUID_LENGTH]),
                gas_atomic=row.network_fee_atomic,
                at=row.finished_at or clock.real_now(),
            )
        sender.mark_handled(row)


def advance_swap(swap_id: uuid.UUID) -> Swap:
    """One swap, under its lock. Not inside a transaction: its provider may have to ask first."""
    rows = Swap.objects.select_related("store", "source_asset__chain", "buy_asset__chain")
    before: Swap = rows.get(pk=swap_id)
    if before.status in states.OPEN:
        provider_of(before.mode, before.provider).prepare(_order(before))
    with transaction.atomic():
        swap: Swap = rows.select_for_update(of=("self",)).get(pk=swap_id)
        if swap.status in states.ENDED:
            return swap
        at = clock.now(swap.store, swap.mode)
        provider = provider_of(swap.mode, swap.provider)
        _apply(swap, provider, provider.advance(_order(swap), at), at)
        return swap


def advance_here(swap_id: uuid.UUID) -> None:
    """The same where this process may: a swap on a chain asks for transactions, which who serves
    people leaves to a worker."""
    swap = Swap.objects.get(pk=swap_id)
    if settings.APPROVAL_KEYS or not provider_of(swap.mode, swap.provider).is_on_chain:
        advance_swap(swap_id)


def _order(swap: Swap) -> SwapOrder:
    return SwapOrder(
        swap.pk,
        swap.mode,
        Amount(swap.source_asset, swap.sell_amount_atomic),
        Amount(swap.buy_asset, swap.expected_buy_amount_atomic),
        Amount(swap.buy_asset, swap.min_buy_amount_atomic),
        swap.created_at,
        swap.store_id,
    )


def _apply(swap: Swap, provider: SwapProvider, outcome: SwapOutcome, at: datetime) -> None:
    if outcome.state == WAITING:
        return
    if outcome.state == FAILED:
        _fail(swap, outcome, at)
        return
    if swap.status == _Status.PENDING:
        _move(swap, _Status.SUBMITTED, at, tx_hash=outcome.tx_hash)
    if outcome.state == FILLED:
        _complete(swap, provider, outcome, at)


def _move(swap: Swap, to: str, at: datetime, note: str = "", **changes: object) -> None:
    states.MACHINE.change_locked(swap, Noted(to, note), at=at, updated_at=at, **changes)


@states.MACHINE.recorder
def _record(changes: Sequence[Change[Swap, Noted]]) -> None:
    for change in changes:
        swap = change.row
        to = change.step.status
        SwapStep.objects.create(
            swap=swap, from_status=change.before, to_status=to, note=change.step.note, at=change.at
        )
        if to in states.ENDED:
            jobs.enqueue("swaps.auto_swap", mode=swap.mode)


class _Traded(TypedDict):
    """What both movements of a swap that is done name."""

    mode: str
    swap_id: uuid.UUID
    source_asset_id: str
    sell_atomic: int
    buy_asset_id: str
    buy_atomic: int
    at: datetime


def _complete(swap: Swap, provider: SwapProvider, outcome: SwapOutcome, at: datetime) -> None:
    bought = outcome.bought_atomic
    _move(
        swap,
        _Status.COMPLETED,
        at,
        actual_buy_amount_atomic=bought,
        completed_at=at,
        tx_hash=outcome.tx_hash,
    )
    traded: _Traded = {
        "mode": swap.mode,
        "swap_id": swap.pk,
        "source_asset_id": swap.source_asset_id,
        "sell_atomic": swap.sell_amount_atomic,
        "buy_asset_id": swap.buy_asset_id,
        "buy_atomic": bought,
        "at": at,
    }
    movements.swap_completed(store_id=swap.store_id, **traded)
    if provider.is_on_chain:
        movements.swap_exchanged(
            gas_asset_id=outcome.gas_asset_id, gas_atomic=outcome.gas_atomic, **traded
        )
    failpoint("swap.K8")


def _fail(swap: Swap, outcome: SwapOutcome, at: datetime) -> None:
    """The source goes back to what can be spent."""
    _move(
        swap,
        _Status.FAILED,
        at,
        outcome.reason[:200],
        failure_reason=outcome.reason[:200],
        tx_hash=outcome.tx_hash,
    )
    movements.swap_released(
        store_id=swap.store_id,
        mode=swap.mode,
        asset_id=swap.source_asset_id,
        swap_id=swap.pk,
        sell_atomic=swap.sell_amount_atomic,
        at=at,
        gas_asset_id=outcome.gas_asset_id,
        gas_atomic=outcome.gas_atomic,
    )


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """A new swap moves at once; one that waits for a rate is given up after its time."""
    created = Swap.objects.filter(
        store_id=store_id, mode="test", status__in=states.OPEN
    ).values_list("created_at", flat=True)
    moments = [moment for created_at in created for moment in (created_at, created_at + PATIENCE)]
    return min((moment for moment in moments if after is None or moment > after), default=None)


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = Swap.objects.filter(
        store_id=store_id, mode="test", status__in=states.OPEN, created_at__lte=now
    )
    for swap_id in list(rows.order_by("created_at").values_list("pk", flat=True)):
        advance_swap(swap_id)
