"""Payouts on their way: each open one is brought a step on under its own lock, and booked in the
same transaction.

On a chain: the sender is asked once per attempt and followed; only a definite failure lets another
attempt be made. Simulated ones are submitted, then confirmed after a minute of the store's clock or
ten real seconds.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat

from apps.assets.selectors import native_asset_id
from apps.chain import simulated
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import costs, sender, token_stops
from apps.core import clock
from apps.core.failpoints import failpoint
from apps.core.rows import Job
from apps.ledger import movements
from apps.payouts import states
from apps.payouts.models import Payout
from apps.payouts.providers.base import SANDBOX_SETTLES_AFTER
from apps.payouts.selectors import simulated_balance
from apps.payouts.services import moves, network_fee, together
from apps.payouts.services.offramp import PURPOSE, advance_bank_payout, reference_of

LOOKS_AT = (Payout,)
_Status = Payout.Status
_Funds = Payout.Funds
_Sent = OutgoingTransaction.Status
# The recipient can't be paid at all.
REFUSED_RECIPIENT = frozenset(
    {Reason.RECIPIENT_REFUSES, Reason.DESTINATION_REFUSED, Reason.RECIPIENT_COSTLY}
)
_CODES: dict[str, Payout.FailureCode] = {
    **dict.fromkeys(REFUSED_RECIPIENT, Payout.FailureCode.DESTINATION_INVALID),
    # Its token was stopped between the estimate and the block: it goes on by itself.
    **dict.fromkeys(token_stops.STOPS, Payout.FailureCode.TEMPORARILY_UNAVAILABLE),
}
JOB = Job(together.JOB_NAME, limit=200, in_transaction=False)
# What no batch moves: of the simulated and the bank's each is looked at, of the rest what its
# transaction has come to.
_FOLLOWED = Q(status__in=(*states.WAITING, _Status.SUBMITTED)) | Q(
    status=_Status.CONFIRMED, funds=_Funds.CLEARING
)
_TURNED = Q(sent__in=(_Sent.CONFIRMED, _Sent.FAILED)) | (
    Q(sent=_Sent.REVIEW) & ~Q(status=_Status.REQUIRES_REVIEW)
)
_TURNED |= Q(sent__in=(_Sent.REQUESTED, _Sent.SIGNED), status=_Status.REQUIRES_REVIEW)
_FOLLOWED |= Q(status=_Status.REQUIRES_REVIEW, is_outcome_unknown=True)


def advance_payouts(mode: str = "") -> int:
    """The sweep (of a mode): begin the retries that are due, and move every open payout one step;
    how many were looked at."""
    rows = Payout.objects.filter(mode=mode) if mode else Payout.objects.all()
    done = together.advance(mode, each_alone)
    for ids in (_without_transaction(rows), _with_changed_transaction(rows), _due_retries(rows)):
        done += JOB.walk(ids.values_list("pk", flat=True), advance_payout, mode=mode)
    return done


def each_alone(ids: Sequence[uuid.UUID]) -> None:
    """What failed together: a bad one costs only itself."""
    JOB.each(lambda: ids, advance_payout, id_of=str)


def _without_transaction(rows: "QuerySet[Payout]") -> "QuerySet[Payout]":
    """Open ones that no transaction tells of: simulated, or an off-ramp's."""
    open_payouts = rows.filter(funds__in=(_Funds.RESERVED, _Funds.CLEARING)).filter(_FOLLOWED)
    return open_payouts.filter(~Q(rail=Payout.Rail.CRYPTO) | Q(is_simulated=True)).order_by(
        "updated_at"
    )


def _with_changed_transaction(rows: "QuerySet[Payout]") -> "QuerySet[Payout]":
    """Those whose transaction stands elsewhere than they know."""
    reference = Concat(
        Cast("pk", TextField()), Value("-"), Cast("attempts", TextField()), output_field=TextField()
    )
    transactions = OutgoingTransaction.objects.filter(
        purpose=PURPOSE, reference=OuterRef("reference")
    )
    open_payouts = (
        rows.filter(funds=_Funds.RESERVED, rail=Payout.Rail.CRYPTO)
        .exclude(is_simulated=True)
        .filter(_FOLLOWED)
    )
    return (
        open_payouts.alias(reference=reference)
        .alias(sent=Subquery(transactions.values("status")[:1]))
        .filter(_TURNED)
        .order_by("updated_at")
    )


def _due_retries(rows: "QuerySet[Payout]") -> "QuerySet[Payout]":
    """Test mode's are due by the store's own clock, so of those each is looked at."""
    waiting = rows.filter(status=_Status.FAILED, retry_at__isnull=False)
    return waiting.filter(Q(mode="test") | Q(retry_at__lte=clock.real_now())).order_by("retry_at")


def advance_payout(payout_id: uuid.UUID) -> Payout:
    """One payout. Not inside a transaction: a chain or an off-ramp may be asked."""
    _begin_due_retry(payout_id)
    payout = _read(payout_id)
    if not payout.is_crypto:
        if payout.status != _Status.REQUIRES_REVIEW:
            advance_bank_payout(payout)
        return _read(payout_id)
    _prepare(payout)
    with transaction.atomic():
        locked = Payout.objects.select_for_update(of=("self",)).select_related(
            "asset__chain", "store"
        )
        fresh: Payout = locked.get(pk=payout_id)
        at = clock.now(fresh.store, fresh.mode)
        if fresh.is_simulated:
            _advance_simulated(fresh, at)
        elif _is_followed(fresh):
            _advance_on_chain(fresh, at)
    return fresh


def _read(payout_id: uuid.UUID) -> Payout:
    payout: Payout = Payout.objects.select_related("asset__chain", "store", "destination").get(
        pk=payout_id
    )
    return payout


def _begin_due_retry(payout_id: uuid.UUID) -> None:
    with transaction.atomic():
        payout = (
            Payout.objects.select_for_update(of=("self",)).select_related("store").get(pk=payout_id)
        )
        at = clock.now(payout.store, payout.mode)
        if (
            payout.status == _Status.FAILED
            and payout.retry_at is not None
            and payout.retry_at <= at
        ):
            moves.begin_retry(payout, at)


def _prepare(payout: Payout) -> None:
    """What has to be asked outside before it is sent: whether test coins are, and what of the fee
    the store bears."""
    if payout.status not in states.WAITING:
        return
    if payout.is_simulated is None:
        is_simulated = simulated_balance(payout) >= payout.amount_atomic
        is_simulated = is_simulated or not sender.can_afford(
            payout.asset.chain_id, payout.asset_id, payout.amount_atomic
        )
        Payout.objects.filter(pk=payout.pk, is_simulated=None).update(is_simulated=is_simulated)
        payout.is_simulated = is_simulated
    if network_fee.is_due(payout):
        network_fee.withhold(payout, costs.fee(payout.asset))


def _is_followed(payout: Payout) -> bool:
    if payout.bears_network_fee and not payout.withheld_atomic:
        return False  # nobody can say yet what the network asks
    is_unclear = payout.status == _Status.REQUIRES_REVIEW and payout.is_outcome_unknown
    return is_unclear or payout.status in (*states.WAITING, _Status.SUBMITTED)


# --- simulated ------------------------------------------------------------------------------------


def _advance_simulated(payout: Payout, at: datetime) -> None:
    real = clock.real_now()
    if payout.status in states.WAITING:
        _submit(payout, simulated.new_hash(), at, real)
    if payout.status == _Status.SUBMITTED and simulated.has_arrived(
        payout.submitted_at, payout.submitted_real_at, at, real
    ):
        _confirm(payout, at, gas_atomic=0)


# --- on a chain -----------------------------------------------------------------------------------


def _advance_on_chain(payout: Payout, at: datetime) -> None:
    """Ask once per attempt, then follow what the sender says of it."""
    if payout.sent_atomic == 0:
        moves.fail_for_fee(payout, at)
        return
    transfer = sender.request(
        chain_id=payout.asset.chain_id,
        asset_id=payout.asset_id,
        to=str(payout.destination_address),
        amount_atomic=payout.sent_atomic,
        purpose=PURPOSE,
        reference=reference_of(payout),
        mode=payout.mode,
        at=clock.real_now(),
        store_id=payout.store_id,
    )
    failpoint("payout.K2")
    if transfer.status in (_Sent.SUBMITTED, _Sent.CONFIRMED) and payout.status != _Status.SUBMITTED:
        _submit(payout, transfer.tx_hash, at, clock.real_now())
    if transfer.status == _Sent.CONFIRMED:
        failpoint("payout.K7")
        moves.set_columns(payout, tx_hash=transfer.tx_hash)
        _confirm(payout, at, gas_atomic=transfer.network_fee_atomic)
        sender.mark_handled(transfer)
    elif transfer.status == _Sent.FAILED:
        _fail(payout, transfer, at)
    elif transfer.status == _Sent.REVIEW and payout.status != _Status.REQUIRES_REVIEW:
        reason = transfer.reason or moves.UNCLEAR
        moves.hold_for_review(payout, reason, at)
        sender.mark_handled(transfer)
    elif (
        transfer.status in (_Sent.REQUESTED, _Sent.SIGNED)
        and payout.status == _Status.REQUIRES_REVIEW
    ):
        moves.move(payout, _Status.PENDING, at, review_reason="", is_outcome_unknown=False)


def _submit(payout: Payout, tx_hash: str, at: datetime, real: datetime) -> None:
    moves.move(
        payout,
        _Status.SUBMITTED,
        at,
        tx_hash=tx_hash,
        submitted_at=at,
        submitted_real_at=real,
        review_reason="",
        is_outcome_unknown=False,
    )


def _confirm(payout: Payout, at: datetime, *, gas_atomic: int) -> None:
    if not moves.move(
        payout, _Status.CONFIRMED, at, funds=_Funds.PAID, network_fee_atomic=gas_atomic, paid_at=at
    ):
        return
    movements.payout_confirmed(
        **moves.booking(payout, at),
        withheld_atomic=payout.withheld_atomic,
        gas_asset_id=native_asset_id(payout.asset),
        gas_atomic=gas_atomic,
        is_simulated=bool(payout.is_simulated),
    )


def _fail(payout: Payout, transfer: OutgoingTransaction, at: datetime) -> None:
    """It moved nothing and never will; one that the chain reverted has paid its gas."""
    reason = transfer.reason or "The transaction failed"
    code = _CODES.get(transfer.reason_code, Payout.FailureCode.UNKNOWN)
    if transfer.network_fee_atomic:
        moves.book_gas(payout, transfer, at)
        moves.set_columns(
            payout, failed_gas_due_atomic=payout.failed_gas_due_atomic + transfer.network_fee_atomic
        )
        moves.charge_failed_gas(payout, at)
    sender.mark_handled(transfer)
    moves.fail(payout, code, reason, at)
    if payout.withheld_atomic and payout.funds != _Funds.RETURNED:
        moves.set_columns(payout, withheld_atomic=0)


# --- the test clock -------------------------------------------------------------------------------


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """A new payout moves at once, a submitted one when its simulation or its bank is through, a
    failed one when it is retried."""
    rows = Payout.objects.filter(store_id=store_id, mode="test").exclude(
        funds__in=(_Funds.PAID, _Funds.RETURNED)
    )
    moments: list[datetime] = []
    for status, created, submitted, retry in rows.values_list(
        "status", "created_at", "submitted_at", "retry_at"
    ):
        if status == _Status.PENDING:
            moments.append(created)
        elif status == _Status.SUBMITTED and submitted is not None:
            moments += [submitted + SANDBOX_SETTLES_AFTER, submitted + simulated.UNDER_WAY]
        elif status == _Status.FAILED and retry is not None:
            moments.append(retry)
    return min((moment for moment in moments if after is None or moment > after), default=None)


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = Payout.objects.filter(store_id=store_id, mode="test")
    due = rows.filter(
        Q(status__in=(*states.WAITING, _Status.SUBMITTED))
        | Q(status=_Status.FAILED, retry_at__lte=now)
    )
    for payout_id in list(due.order_by("created_at").values_list("pk", flat=True)):
        advance_payout(payout_id)
