"""The steps of payouts on a chain, for many payouts at once: request the transaction, note that it
is submitted, confirm it, note why it waits.

Each step does what progress.advance_payout does to a single payout, with the same history and
bookings. A payout that a batch can't move is left to advance_payout. Stores take turns, so many
payouts of one store don't delay those of another.
"""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, transaction

from apps.assets.models import Asset
from apps.assets.selectors import native_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import costs, sender
from apps.core import clock
from apps.core.db.sql import Statement
from apps.core.failpoints import failpoint
from apps.core.machine import Noted
from apps.core.rows import PAUSED_SQL
from apps.ledger import movements
from apps.payouts import states
from apps.payouts.models import Payout
from apps.payouts.selectors import simulated_balance
from apps.payouts.services import moves, network_fee
from apps.payouts.services.offramp import PURPOSE, reference_of

log = structlog.get_logger(__name__)
BATCH_MAX = 250
JOB_NAME = "payouts.advance"
_Status = Payout.Status
_Funds = Payout.Funds
# The transaction of a payout's present attempt; `payout_open` is the index of what is open.
_SENT = (
    "LEFT JOIN chain_outgoingtransaction o ON o.purpose = 'payout' AND o.reference = p.id::text ||"
    " '-' || p.attempts"
)
_OPEN = (
    "p.funds = 'reserved' AND p.rail = 'crypto' AND p.is_simulated IS NOT TRUE AND (p.mode ="
    f" %(mode)s OR %(mode)s = '') AND p.id::text NOT IN ({PAUSED_SQL})"
)


def _turns(condition: str) -> Statement:
    return Statement(f"""
SELECT id FROM (
    SELECT p.id, p.created_at, row_number()
        OVER (PARTITION BY p.store_id, p.asset_id ORDER BY p.created_at, p.id) AS turn
    FROM payouts_payout p {_SENT} WHERE {_OPEN} AND {condition}
) AS lane ORDER BY turn, created_at, id LIMIT %(limit)s
""")  # noqa: S608


_UNASKED = _turns(
    "p.status IN ('pending', 'retrying') AND o.id IS NULL AND (p.withheld_atomic > 0 OR NOT"
    " p.bears_network_fee)"
)
_UNDECIDED = _turns(
    "p.status IN ('pending', 'retrying') AND o.id IS NULL AND (p.is_simulated IS NULL"
    " OR p.bears_network_fee AND p.withheld_atomic = 0)"
)
_UNTOLD = _turns(
    "(p.status IN ('pending', 'retrying') OR p.status = 'requires_review' AND p.is_outcome_unknown)"
    " AND o.status = 'submitted'"
)
_ARRIVED = _turns("p.status = 'submitted' AND o.status = 'confirmed'")
_REASON = (
    "CASE WHEN p.status IN ('pending', 'retrying') AND o.status = 'requested' THEN CASE o.waits_for"
    " {cases} ELSE '' END ELSE '' END"
)
_CASES = " ".join(f"WHEN '{code}' THEN '{wait}'" for code, wait in states.WAITS.items())
_WAITING = Statement(f"""
UPDATE payouts_payout t SET pending_reason = found.reason FROM (
    SELECT p.id,
        {_REASON.format(cases=_CASES)} AS reason
    FROM payouts_payout p {_SENT} WHERE {_OPEN}
) AS found WHERE t.id = found.id AND t.pending_reason <> found.reason RETURNING t.id
""")  # noqa: S608


def advance(mode: str, each_alone: Callable[[Sequence[uuid.UUID]], object]) -> int:
    """Every step for everything that has one to take; how many were taken. A batch that fails goes
    `each_alone`."""
    steps: tuple[tuple[Statement, Callable[[list[uuid.UUID]], None]], ...] = (
        (_UNDECIDED, _decide), (_UNASKED, _hand_over), (_UNTOLD, _tell), (_ARRIVED, _confirm),
    )  # fmt: skip
    done = 0
    for statement, step in steps:
        before: set[uuid.UUID] = set()
        while ids := [payout_id for payout_id in _ids(statement, mode) if payout_id not in before]:
            _try(step, ids, each_alone)
            before |= set(ids)
            done += len(ids)
    return done + len(_WAITING.rows(mode=mode, job=JOB_NAME, now=clock.real_now()))


def _ids(statement: Statement, mode: str) -> list[uuid.UUID]:
    return [
        payout_id
        for (payout_id,) in statement.rows(
            mode=mode, job=JOB_NAME, now=clock.real_now(), limit=BATCH_MAX
        )
    ]


def _try(
    step: Callable[[list[uuid.UUID]], None],
    ids: list[uuid.UUID],
    each_alone: Callable[[Sequence[uuid.UUID]], object],
) -> None:
    try:
        step(ids)
    except (InterfaceError, OperationalError):
        raise  # the database's affair, not a row's
    except Exception:
        log.exception("payouts_not_advanced_together", step=step.__name__, count=len(ids))
        each_alone(ids)


def _locked(ids: Sequence[uuid.UUID]) -> list[Payout]:
    """Those that nobody else is at."""
    rows = Payout.objects.select_for_update(of=("self",), skip_locked=True).select_related(
        "asset__chain", "store"
    )
    return list(rows.filter(pk__in=ids).order_by("pk"))


# --- before they are sent ---


def _decide(ids: list[uuid.UUID]) -> None:
    """What has to be asked outside: whether test coins are simulated, and what of the fee the store
    bears."""
    rows = list(
        Payout.objects.filter(pk__in=ids, status__in=states.WAITING)
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


def _hand_over(ids: list[uuid.UUID]) -> None:
    """Ask the sender, once per attempt."""
    with transaction.atomic():
        rows = [
            row
            for row in _locked(ids)
            if row.status in states.WAITING and row.is_simulated is False
        ]
        for row in rows:
            if not row.sent_atomic:
                moves.fail_for_fee(row, clock.now(row.store, row.mode))
        real = clock.real_now()
        sendable = sorted(
            (row for row in rows if row.sent_atomic and row.status in states.WAITING),
            key=lambda row: row.created_at,
        )
        # A store's come in the order in which it asked for them.
        requests = [
            _request(row, real + timedelta(microseconds=place))
            for place, row in enumerate(sendable)
        ]
        for mode in {request.mode for request in requests}:
            sender.request_many([request for request in requests if request.mode == mode])
        failpoint("payout.K2")


def _request(payout: Payout, real: datetime) -> OutgoingTransaction:
    return OutgoingTransaction(
        mode=payout.mode,
        store_id=payout.store_id,
        chain_id=payout.asset.chain_id,
        asset_id=payout.asset_id,
        purpose=PURPOSE,
        reference=reference_of(payout),
        to_address=str(payout.destination_address).lower(),
        amount_atomic=payout.sent_atomic,
        requested_at=real,
    )


# --- after they were sent ---


def _transfers_of(rows: Sequence[Payout], status: str) -> dict[uuid.UUID, OutgoingTransaction]:
    """The transactions of these payouts that stand there, which the chain can't undo meanwhile."""
    by_reference = {reference_of(row): row.pk for row in rows}
    transfers = OutgoingTransaction.objects.select_for_update(no_key=True).filter(
        purpose=PURPOSE, reference__in=by_reference, status=status
    )
    return {by_reference[transfer.reference]: transfer for transfer in transfers}


def _move_many(
    rows: Sequence[Payout], to: str, each: dict[str, Sequence[Any]], **changes: Any
) -> list[Payout]:
    """The moves, each with its line of history."""
    ats = [clock.now(row.store, row.mode) for row in rows]
    each = {**each, "updated_at": ats}
    return states.MACHINE.change_many(
        rows, Noted(to), ats=ats, each=each, pending_reason="", **changes
    )


def _tell(ids: list[uuid.UUID]) -> None:
    """They are on the chain: submitted."""
    with transaction.atomic():
        rows = [
            row for row in _locked(ids) if _Status.SUBMITTED in states.MACHINE.moves[row.status]
        ]
        transfers = _transfers_of(rows, OutgoingTransaction.Status.SUBMITTED)
        rows = [row for row in rows if row.pk in transfers]
        each: dict[str, Sequence[Any]] = {
            "tx_hash": [transfers[row.pk].tx_hash for row in rows],
            "submitted_at": [clock.now(row.store, row.mode) for row in rows],
        }
        _move_many(
            rows,
            _Status.SUBMITTED,
            each,
            submitted_real_at=clock.real_now(),
            review_reason="",
            is_outcome_unknown=False,
        )


def _confirm(ids: list[uuid.UUID]) -> None:
    """They are there for good: booked, and ticked off."""
    with transaction.atomic():
        rows = [row for row in _locked(ids) if row.status == _Status.SUBMITTED]
        transfers = _transfers_of(rows, OutgoingTransaction.Status.CONFIRMED)
        rows = [row for row in rows if row.pk in transfers]
        failpoint("payout.K7")
        each: dict[str, Sequence[Any]] = {
            "tx_hash": [transfers[row.pk].tx_hash for row in rows],
            "network_fee_atomic": [transfers[row.pk].network_fee_atomic for row in rows],
            "paid_at": [clock.now(row.store, row.mode) for row in rows],
        }
        moved = _move_many(rows, _Status.CONFIRMED, each, funds=_Funds.PAID)
        gas_assets = {asset.pk: native_asset_id(asset) for asset in _assets(moved)}
        movements.payouts_confirmed(
            [
                movements.Confirmed(
                    store_id=payout.store_id,
                    mode=payout.mode,
                    asset_id=payout.asset_id,
                    payout_id=payout.pk,
                    amount_atomic=payout.amount_atomic,
                    at=payout.updated_at,
                    withheld_atomic=payout.withheld_atomic,
                    gas_asset_id=gas_assets[payout.asset_id],
                    gas_atomic=transfers[payout.pk].network_fee_atomic,
                    is_simulated=False,
                )
                for payout in moved
            ]
        )
        sender.mark_many_handled([transfers[payout.pk] for payout in moved])


def _assets(rows: Sequence[Payout]) -> list[Asset]:
    return list({row.asset_id: row.asset for row in rows}.values())
