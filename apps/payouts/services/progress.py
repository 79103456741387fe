"""Payouts on their way: those on a chain in batches, and what no batch moves one by one.

Only a definite failure lets another attempt be made. Simulated ones are submitted, then confirmed
after a minute of the store's clock or ten real seconds.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet

from apps.assets.selectors import fee_asset_id
from apps.chain import simulated
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import costs, sender, token_stops
from apps.chain.sending.following import TransferOrder
from apps.chain.sending.following_many import BatchFollower, SentRow
from apps.core import clock
from apps.core.db.sql import Statement
from apps.core.machine import StepWithNote
from apps.core.process.failpoints import failpoint
from apps.core.rows import Job
from apps.ledger import movements
from apps.payouts import states
from apps.payouts.models import Payout
from apps.payouts.providers.base import SANDBOX_SETTLES_AFTER
from apps.payouts.selectors import simulated_balance
from apps.payouts.services import moves, network_fee
from apps.payouts.services.offramp import PURPOSE, advance_bank_payout, reference_of
from apps.stores.staff.suspensions import Suspension, is_suspended

log = structlog.get_logger(__name__)
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
# What no batch moves: of the simulated and the bank's each is looked at, of the rest what its
# transaction has come to.
_FOLLOWED = Q(status__in=(*states.WAITING, _Status.SUBMITTED)) | Q(
    status=_Status.CONFIRMED, funds=_Funds.CLEARING
)
_FOLLOWED |= Q(status=_Status.REQUIRES_REVIEW, is_outcome_unknown=True)
_REASON = "CASE o.waits_for {} ELSE '' END".format(
    " ".join(f"WHEN '{code}' THEN '{wait}'" for code, wait in states.WAITS.items())
)


class PayoutFollower(BatchFollower[Payout]):
    """A review is a status of the payout, which tells the store's people of itself, as a failure
    does (`notifications`)."""

    purpose = PURPOSE
    noun = "Payout"
    page = "payouts"
    is_repeated = False
    unsent = states.WAITING
    failpoint = "payout.K2"
    job = Job("payouts.advance", limit=200, in_transaction=False)
    model = Payout
    reference_sql = "p.id::text || '-' || p.attempts"
    # `payout_open` is the index of what is open.
    is_open_sql = "p.funds = 'reserved' AND p.rail = 'crypto' AND p.is_simulated IS NOT TRUE"
    is_unprepared_sql = (
        "p.status IN ('pending', 'retrying') AND (p.is_simulated IS NULL"
        " OR p.bears_network_fee AND p.withheld_atomic = 0)"
    )
    is_ready_sql = (
        "p.status IN ('pending', 'retrying') AND (p.withheld_atomic > 0 OR NOT p.bears_network_fee)"
    )
    is_unsubmitted_sql = (
        "(p.status IN ('pending', 'retrying')"
        " OR p.status = 'requires_review' AND p.is_outcome_unknown)"
    )
    is_submitted_sql = "p.status = 'submitted'"
    is_turned_sql = (
        "(p.status IN ('pending', 'retrying', 'submitted')"
        " AND o.status IN ('confirmed', 'failed', 'review')"
        " OR p.status = 'requires_review' AND p.is_outcome_unknown"
        " AND o.status IN ('confirmed', 'failed', 'requested', 'signed'))"
    )

    def __init__(self) -> None:
        super().__init__()
        self._reasons = Statement(f"""
UPDATE payouts_payout t SET pending_reason = found.reason FROM (
    SELECT p.id, CASE WHEN p.status IN ('pending', 'retrying') AND o.status = 'requested'
        THEN {_REASON} ELSE '' END AS reason
    FROM payouts_payout p {self.sent_sql} WHERE {self.looked_at_sql}
) AS found WHERE t.id = found.id AND t.pending_reason <> found.reason RETURNING t.id
""")  # noqa: S608  # our own text

    def advance(self, mode: str = "") -> int:
        """Begin the retries that are due, and move every open payout (of a mode) one step; how many
        were looked at."""
        rows = Payout.objects.filter(mode=mode) if mode else Payout.objects.all()
        done = self.advance_together(mode) + len(self._reasons.rows(**self.arguments(mode)))
        for ids in (_without_transaction(rows), _due_retries(rows)):
            done += self.job.walk(ids.values_list("pk", flat=True), self.advance_one, mode=mode)
        return done

    def advance_one(self, key: uuid.UUID) -> Payout:
        """Not inside a transaction: a chain or an off-ramp may be asked."""
        _begin_due_retry(key)
        rows = Payout.objects.select_related("asset__chain", "store", "destination")
        payout: Payout = rows.get(pk=key)
        if _is_stopped(payout):
            return payout
        if payout.is_crypto:
            self.prepare_many([key])
            return super().advance_one(key)
        if payout.status != _Status.REQUIRES_REVIEW:
            advance_bank_payout(payout)
        fresh: Payout = rows.get(pk=key)
        return fresh

    def is_open(self, row: Payout) -> bool:
        if row.is_simulated:
            return True
        if row.bears_network_fee and not row.withheld_atomic:
            return False  # nobody can say yet what the network asks
        is_unclear = row.status == _Status.REQUIRES_REVIEW and row.is_outcome_unknown
        return is_unclear or row.status in (*states.WAITING, _Status.SUBMITTED)

    def is_ready(self, row: Payout) -> bool:
        return row.status in states.WAITING and row.is_simulated is False

    def reference(self, row: Payout) -> str:
        return reference_of(row)

    def order(self, row: Payout, at: datetime) -> TransferOrder | None:
        if not row.sent_atomic:
            moves.fail_for_fee(row, at)
            return None
        return TransferOrder(row.asset, str(row.destination_address), row.sent_atomic)

    def prepare_many(self, keys: Sequence[uuid.UUID]) -> None:
        """Prepares payouts: simulated for test coins, and with the store's part of the fee."""
        rows = list(
            Payout.objects.filter(pk__in=keys, status__in=states.WAITING)
            .select_related("asset__chain", "store")
            .order_by("created_at")
        )
        _decide_simulated([row for row in rows if row.is_simulated is None])
        bearing = [row for row in rows if network_fee.is_due(row)]
        fees = {
            asset.pk: costs.fee(asset)
            for asset in {row.asset_id: row.asset for row in bearing}.values()
        }
        for row in bearing:
            network_fee.withhold(row, fees[row.asset_id])

    def submitted_many(self, sent: Sequence[SentRow]) -> None:
        legs = [leg for leg in sent if _Status.SUBMITTED in states.MACHINE.moves[leg.row.status]]
        ats = [clock.now(leg.row.store, leg.row.mode) for leg in legs]
        states.MACHINE.change_many(
            [leg.row for leg in legs],
            StepWithNote(_Status.SUBMITTED),
            ats=ats,
            each={
                "tx_hash": [leg.transfer.tx_hash for leg in legs],
                "submitted_at": ats,
                "updated_at": ats,
            },
            submitted_real_at=clock.real_now(),
            pending_reason="",
            review_reason="",
            is_outcome_unknown=False,
        )

    def confirmed_many(self, sent: Sequence[SentRow]) -> Sequence[OutgoingTransaction]:
        legs = [leg for leg in sent if leg.row.status == _Status.SUBMITTED]
        failpoint("payout.K7")
        ats = [clock.now(leg.row.store, leg.row.mode) for leg in legs]
        moved = states.MACHINE.change_many(
            [leg.row for leg in legs],
            StepWithNote(_Status.CONFIRMED),
            ats=ats,
            each={
                "tx_hash": [leg.transfer.tx_hash for leg in legs],
                "network_fee_atomic": [leg.transfer.network_fee_atomic for leg in legs],
                "paid_at": ats,
                "updated_at": ats,
            },
            funds=_Funds.PAID,
            pending_reason="",
        )
        assets = {payout.asset_id: payout.asset for payout in moved}
        gas_assets = {key: fee_asset_id(asset) for key, asset in assets.items()}
        movements.payout_confirmed(
            [
                movements.Confirmed(
                    **moves.booking(payout, payout.updated_at),
                    withheld_atomic=payout.withheld_atomic,
                    gas_asset_id=gas_assets[payout.asset_id],
                    gas_atomic=payout.network_fee_atomic or 0,
                    is_simulated=bool(payout.is_simulated),
                )
                for payout in moved
            ]
        )
        booked = {payout.pk for payout in moved}
        return [leg.transfer for leg in legs if leg.row.pk in booked]

    def failed(self, row: Payout, transfer: OutgoingTransaction, at: datetime) -> None:
        code = _CODES.get(transfer.reason_code, Payout.FailureCode.UNKNOWN)
        if transfer.network_fee_atomic:
            moves.book_gas(row, transfer, at)
            due = row.failed_gas_due_atomic + transfer.network_fee_atomic
            moves.set_columns(row, failed_gas_due_atomic=due)
            moves.charge_failed_gas(row, at)
        moves.fail(row, code, transfer.reason, at)
        if row.withheld_atomic and row.funds != _Funds.RETURNED:
            moves.set_columns(row, withheld_atomic=0)

    def is_review_news(self, row: Payout, transfer: OutgoingTransaction) -> bool:
        return row.status != _Status.REQUIRES_REVIEW

    def in_review(self, row: Payout, transfer: OutgoingTransaction, at: datetime) -> None:
        moves.hold_for_review(row, transfer.reason or moves.UNCLEAR, at)

    def waiting(self, row: Payout, transfer: OutgoingTransaction, at: datetime) -> None:
        is_asked_again = transfer.status in (_Sent.REQUESTED, _Sent.SIGNED)
        if is_asked_again and row.status == _Status.REQUIRES_REVIEW:
            moves.move(row, _Status.PENDING, at, review_reason="", is_outcome_unknown=False)

    def notify(self, transfer: OutgoingTransaction, outcome: str, text: str) -> None:
        pass

    def not_together(self, step: str, count: int) -> None:
        log.exception("payouts_not_advanced_together", step=step, count=count)


FOLLOWER = PayoutFollower()
advance_payout = FOLLOWER.advance_one
advance_payouts = FOLLOWER.advance


def _without_transaction(rows: "QuerySet[Payout]") -> "QuerySet[Payout]":
    """Open ones that no transaction tells of: simulated, or an off-ramp's."""
    open_payouts = rows.filter(funds__in=(_Funds.RESERVED, _Funds.CLEARING)).filter(_FOLLOWED)
    return open_payouts.filter(~Q(rail=Payout.Rail.CRYPTO) | Q(is_simulated=True)).order_by(
        "updated_at"
    )


def _due_retries(rows: "QuerySet[Payout]") -> "QuerySet[Payout]":
    """Test mode's are due by the store's own clock, so of those each is looked at."""
    waiting = rows.filter(status=_Status.FAILED, retry_at__isnull=False)
    return waiting.filter(Q(mode="test") | Q(retry_at__lte=clock.real_now())).order_by("retry_at")


def _is_stopped(payout: Payout) -> bool:
    """Its store's payouts are suspended, and it hasn't set out. What a chain moves is stopped by
    the signer."""
    is_signed = payout.is_crypto and payout.is_simulated is False
    return (
        payout.status in states.WAITING
        and not is_signed
        and is_suspended(payout.store, Suspension.PAYOUTS)
    )


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


def _decide_simulated(rows: Sequence[Payout]) -> None:
    """Of test mode: simulated coins go out simulated, as does what the test wallet can't pay."""
    remaining: dict[tuple[uuid.UUID, str], int] = {}
    free: dict[str, int] = {}
    decided: dict[bool, list[uuid.UUID]] = {True: [], False: []}
    for row in rows:
        place = row.store_id, row.asset_id
        if place not in remaining:
            remaining[place] = simulated_balance(row)
        if row.asset_id not in free:
            free[row.asset_id] = sender.free(row.asset.chain_id, row.asset_id)
        row.is_simulated = (
            remaining[place] >= row.amount_atomic or free[row.asset_id] < row.amount_atomic
        )
        if row.is_simulated:
            remaining[place] -= row.amount_atomic
        decided[row.is_simulated].append(row.pk)
    for is_simulated, ids in decided.items():
        Payout.objects.filter(pk__in=ids, is_simulated=None).update(is_simulated=is_simulated)


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
