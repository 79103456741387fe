"""Ends of batches of sweeps: each part ends by the logs of the one receipt, and goes with its batch
when the chain undoes it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from apps.chain.models import OutgoingTransaction, UndoneTransaction
from apps.chain.providers.base import Nodes
from apps.chain.reasons import Reason, because
from apps.chain.sending import balances, calls, lanes, receipts
from apps.chain.sending.calls import TokenTransfer
from apps.chain.sending.receipts import TransactionEnd
from apps.chain.sending.sweep_authorizations import is_by_signature
from apps.chain.sending.sweep_batches import DELEGATING, parts_of
from apps.chain.states import IN_FLIGHT, MINED, OUTGOING, UNMINED
from apps.core import jobs
from apps.core.machine import Step
from apps.core.rows import Job

log = structlog.get_logger(__name__)
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose
Ends = Sequence[tuple[OutgoingTransaction, TransactionEnd]]
ORPHANS = Job("chain.end_parts", limit=200)


def note_sent(rows: Sequence[OutgoingTransaction], at: datetime) -> None:
    """The parts of batches go with them."""
    batches = [row.pk for row in rows if row.purpose == _Purpose.SWEEP_BATCH]
    parts = OutgoingTransaction.objects.filter(batch__in=batches)
    if batches:
        OUTGOING.change_all(parts, _Status.SIGNED, Step(_Status.SUBMITTED), submitted_at=at)


def ends_of(
    batch: OutgoingTransaction, receipt: Any, wallet: str, nodes: Nodes
) -> list[tuple[OutgoingTransaction, TransactionEnd]] | None:
    """The end of each part of a batch by the logs of its receipt; None while one is missing that
    the receipt's own filter has, and the coins are not where they were. Raises RpcError."""
    ends: list[tuple[OutgoingTransaction, TransactionEnd]] = []
    for part in parts_of(batch) if batch.purpose == _Purpose.SWEEP_BATCH else ():
        if int(receipt["status"], 16) != 1:
            ends.append((part, TransactionEnd(_Status.FAILED, Reason.REVERTED)))
            continue
        move = _move_of(part, batch)
        if not calls.arrived(move, receipt) and not calls.taken(move, receipt):
            if calls.hides(move, receipt) and not _is_still_there(part, receipt, nodes):
                return None
            ends.append((part, TransactionEnd(_Status.FAILED, Reason.MOVED_NOTHING)))
            continue
        end = receipts.end_of(part, receipt, wallet, nodes, move)
        if end is None:
            return None
        ends.append((part, end))
    return _passed_on(batch, ends, receipt)


def _move_of(part: OutgoingTransaction, batch: OutgoingTransaction) -> TokenTransfer:
    """The transfer of a part; coins that were signed for arrive at the contract, which passes all
    of them on at once."""
    move = calls.move_of(part)
    if move is None:
        raise ValueError(f"{part.pk} moves no tokens")
    return replace(move, to=batch.to_address) if is_by_signature(batch) else move


def _passed_on(
    batch: OutgoingTransaction, ends: Ends, receipt: Any
) -> list[tuple[OutgoingTransaction, TransactionEnd]] | None:
    """The ends, where the contract has passed on just what it got; None while the log of that is
    missing that the receipt's own filter has."""
    arrived = [part for part, end in ends if end.status == _Status.CONFIRMED]
    if not arrived or not is_by_signature(batch):
        return list(ends)
    total = sum(part.amount_atomic for part in arrived)
    contract = str(batch.asset.contract_address)
    move = TokenTransfer(contract, batch.to_address, arrived[0].to_address, total)
    if calls.arrived(move, receipt) == total == calls.taken(move, receipt):
        return list(ends)
    if not calls.arrived(move, receipt) and calls.hides(move, receipt):
        return None
    other = TransactionEnd(_Status.REVIEW, Reason.MOVED_OTHERWISE)
    return [(part, other if part in arrived else end) for part, end in ends]


def _is_still_there(part: OutgoingTransaction, receipt: Any, nodes: Nodes) -> bool:
    method, (call, _) = balances.call_for_token(part.asset, part.from_address)
    held = nodes.call(method, [call, str(receipt["blockNumber"])])
    return balances.read_tokens(held) >= part.amount_atomic


def finish_parts(
    batch: OutgoingTransaction,
    ends: Ends,
    receipt: Any,
    at: datetime,
) -> None:
    """With the batch, in its transaction. A signature that the mined bytes didn't carry has used no
    nonce."""
    tx_hash = str(receipt["transactionHash"]).lower()
    mined = batch.candidates.filter(tx_hash=tx_hash).first()
    carries = mined is None or not mined.raw or mined.raw.startswith(DELEGATING)
    for part, end in ends:
        status, reason, text = end.status, end.reason, end.text
        was_other = part.handled_status in MINED and part.handled_status != status
        if part.status not in IN_FLIGHT and part.status == status:
            continue
        if was_other or part.status not in IN_FLIGHT:
            status, reason, text = _Status.REVIEW, Reason.UNDONE, ""
        if part.status == _Status.REVIEW:
            continue
        OUTGOING.change_status(
            part,
            Step(status),
            at=at,
            finished_at=at,
            tx_hash=tx_hash,
            block_number=int(receipt["blockNumber"], 16),
            block_hash=str(receipt["blockHash"]).lower(),
            received_atomic=end.received_atomic,
            nonce=part.nonce if carries else None,
            **because(reason, text),
        )
        if status == _Status.REVIEW:
            code = part.reason_code
            log.error(
                "outgoing_needs_review", outgoing=str(part.pk), chain=part.chain_id, reason=code
            )
    if ends:
        jobs.announce(lanes.news_of(_Purpose.SWEEP), mode=batch.mode)


def reopen_parts(batch: OutgoingTransaction, at: datetime) -> list[str]:
    """With a batch that the chain has undone, in its transaction; their addresses."""
    addresses = []
    for part in batch.parts.select_for_update().filter(status__in=MINED):
        if part.block_number is None:
            continue
        UndoneTransaction.objects.create(
            outgoing=part,
            status=part.status,
            tx_hash=part.tx_hash,
            block_number=part.block_number,
            block_hash=part.block_hash,
            network_fee_atomic=part.network_fee_atomic,
            found_at=at,
        )
        OUTGOING.change_status(
            part,
            Step(_Status.SUBMITTED),
            at=at,
            finished_at=None,
            block_number=None,
            block_hash="",
            undone_count=part.undone_count + 1,
            **because(None),
        )
        addresses.append(part.from_address)
    return addresses


def end_orphans(at: datetime) -> int:
    """Parts whose batch has failed otherwise than by its receipt: nothing of them was sent, and no
    nonce is used."""
    rows = OutgoingTransaction.objects.filter(
        batch__isnull=False, batch__status=_Status.FAILED, status__in=UNMINED
    )

    def end(part: OutgoingTransaction) -> None:
        reason = Reason(part.batch.reason_code) if part.batch and part.batch.reason_code else None
        OUTGOING.change_status(
            part, Step(_Status.FAILED), at=at, finished_at=at, nonce=None, **because(reason)
        )

    return ORPHANS.walk(rows.select_related("batch").order_by("requested_at"), end)
