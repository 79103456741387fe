"""Takes requests for transfers, broadcasts what the signer has signed, and reads from receipts what
became of it.

Only stored bytes are ever sent, as often as needed. "Not found" is never "not sent": an end is a
receipt buried under enough blocks, and a nonce that somebody else used is a person's affair once
every node was asked for minutes (`doubts`).
"""

import uuid
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet

from apps.assets.models import Asset
from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction
from apps.chain.networks.evm.block_receipts import Blocks
from apps.chain.networks.families import has_coins, stored
from apps.chain.networks.finality import final_block
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending import (
    approvals,
    balances,
    coin_purse,
    coin_sender,
    doubts,
    holds,
    hot_wallets,
    paid_fees,
    receipts,
    refused_bytes,
    sweep_batch_ends,
    undone,
)
from apps.chain.states import ENDED, IN_FLIGHT, MINED, OUTGOING
from apps.core import clock, jobs
from apps.core.db import locks
from apps.core.machine import Step
from apps.core.process.failpoints import failpoint
from apps.core.rows import Job

log = structlog.get_logger(__name__)
FOLLOW_MAX = 200
BROADCAST_MAX = 200
CHAINS = Job("chain.send_due", in_transaction=False, is_vital=True)
BROADCAST, FOLLOW = (
    Job(name, in_transaction=False, is_vital=True, raises=(RpcError,))
    for name in ("chain.broadcast", "chain.follow")
)
REBROADCAST = timedelta(seconds=30)
# Full nodes keep the state of so many blocks; a nonce is looked up no deeper.
HISTORY_BLOCKS = 100
_Status = OutgoingTransaction.Status
_SWEEP = OutgoingTransaction.Purpose.SWEEP
# What the same purpose and reference may not ask for otherwise.
_ASKED = (
    "chain_id",
    "asset_id",
    "to_address",
    "amount_atomic",
    "mode",
    "call_data",
    "receives_asset_id",
)
_DID: dict[str, str] = {
    _Status.CONFIRMED: "moved coins",
    _Status.FAILED: "was reverted",
    _Status.REVIEW: "moved other coins than it was to",
}


def request(
    *,
    chain_id: str,
    asset_id: str,
    to: str,
    amount_atomic: int,
    purpose: str,
    reference: object,
    mode: str,
    at: datetime,
    call_data: str = "",
    receives_asset_id: str | None = None,
    sweeps: str = "",
    store_id: uuid.UUID | None = None,
) -> OutgoingTransaction:
    """Ask for a transfer, inside the caller's transaction, and approve it. The same purpose and
    reference is the same transfer, once.

    `at` is machine time. The caller learns of the end through `handled_status` and its own job. A
    call of the exchange brings its `call_data` and the asset that comes back; a sweep names the
    deposit address that it empties; `store_id` is whose turn it takes.
    """
    return request_one(
        OutgoingTransaction(
            purpose=purpose,
            reference=str(reference),
            mode=mode,
            store_id=store_id,
            chain_id=chain_id,
            asset_id=asset_id,
            to_address=stored(to),
            amount_atomic=amount_atomic,
            call_data=call_data,
            receives_asset_id=receives_asset_id,
            from_address=sweeps,
            requested_at=at,
        )
    )


def request_one(new: OutgoingTransaction) -> OutgoingTransaction:
    """Requests a transfer whose row isn't written yet."""
    rows = OutgoingTransaction.objects.filter(purpose=new.purpose, reference=new.reference)
    row = rows.first()
    if row is None:
        request_many([new])
        row = rows.get()
    else:
        jobs.enqueue("chain.send", row.pk, mode=new.mode)
    names = (*_ASKED, "from_address") if new.from_address else _ASKED
    if any(getattr(row, name) != getattr(new, name) for name in names):
        raise ValueError(f"{new.purpose} {new.reference} was asked for already, as something else")
    return row


def request_many(rows: Sequence[OutgoingTransaction]) -> None:
    """Requests transfers of one mode in one statement. One whose purpose and reference are known
    already is left as it is."""
    for row in rows:
        row.approval = approvals.approve(row)
    if rows:
        OutgoingTransaction.objects.bulk_create(rows, ignore_conflicts=True)
        failpoint("send.K1")
        jobs.enqueue("chain.send", mode=rows[0].mode)


def run_due(mode: str = "") -> None:
    """Broadcast and follow what is signed, for every hot wallet (of a mode) that has something in
    flight."""
    wallets = HotWallet.objects.select_related("chain").order_by("pk")
    CHAINS.walk(wallets.filter(chain__mode=mode) if mode else wallets, _run)


def _run(wallet: HotWallet) -> None:
    was_undone = coin_sender.is_due if has_coins(wallet.chain) else undone.is_due
    is_waiting = hot_wallets.in_flight(wallet) or doubts.in_review(wallet).exists()
    is_due = is_waiting or was_undone(wallet)
    if not settings.CHAIN_URLS.get(wallet.chain_id) or not is_due:
        return
    at = clock.real_now()
    with closing(nodes_of(wallet.chain)) as nodes:
        try:
            if has_coins(wallet.chain):
                coin_sender.run(wallet, nodes, at)
                return
            _send_due(wallet, nodes, at)
            # A turn of its own: what is signed meanwhile is sent by another run.
            with locks.try_hold(locks.LockKind.CHAIN_FOLLOWER, wallet.pk) as is_mine:
                if is_mine:
                    doubts.recheck(wallet, nodes, at)
                    follow(wallet, nodes, at)
        except RpcError as error:
            log.warning("chain_not_asked", chain=wallet.chain_id, error=str(error))


def _send_due(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """Sends due rows; a second run at the same time leaves them to the first and to the next
    sweep."""
    with locks.try_hold(locks.LockKind.CHAIN_SENDER, wallet.pk) as is_mine:
        if not is_mine:
            return
        failpoint("send.K5")
        undone.recheck(wallet, nodes, at)
        tried = broadcast(wallet, nodes, at)
    # What was signed meanwhile woke a run that found this one's turn taken.
    if tried is not None and any(
        candidate.pk not in tried for candidate in _unsent(wallet, clock.real_now())
    ):
        jobs.nudge("chain.send", mode=wallet.chain.mode)


def broadcast(wallet: HotWallet, nodes: Nodes, at: datetime) -> set[int] | None:
    """Send the bytes of each transaction in flight that wasn't sent lately, in the order of nonces,
    many at a time.

    The ids of the bytes that were tried; None when it stopped before the end, which the next sweep
    asks about again.
    """
    tried: set[int] = set()
    if wallet.halted_at is not None or holds.held_on(wallet.chain).is_everything:
        return None
    while due := _unsent(wallet, at):
        tried |= {candidate.pk for candidate in due}
        try:
            accepted = _send(due, nodes, at)
        except (RpcError, InterfaceError, OperationalError):
            raise  # nobody's row: the node's affair, or the database's
        except Exception:
            log.exception("not_broadcast_together", chain=wallet.pk, count=len(due))
            _send_one_by_one(due, nodes, at)
            return None
        if accepted < len(due):
            return None
        if len(due) < BROADCAST_MAX:
            break
    return tried


def _send_one_by_one(due: Sequence[SignedTransaction], nodes: Nodes, at: datetime) -> None:
    """Sends rows of a failed batch one by one: a bad one costs only itself."""
    BROADCAST.each(lambda: due, lambda candidate: _send([candidate], nodes, at))


def _send(due: Sequence[SignedTransaction], nodes: Nodes, at: datetime) -> int:
    """Sends rows, and returns the number that the chain has."""
    accepted = _accepted(due, nodes)
    if accepted:
        failpoint("send.K6")
        _note_sent(accepted, at)
    return len(accepted)


def _unsent(wallet: HotWallet, at: datetime) -> list[SignedTransaction]:
    """The bytes of each, the hot wallet's in the order of its nonces and then the sweeps' to it."""
    # The newest bytes; of one that the chain has undone, those that it had.
    rows = SignedTransaction.objects.filter(
        hot_wallets.own(wallet, "outgoing__"),
        outgoing__chain=wallet.chain_id,
        outgoing__status__in=IN_FLIGHT,
        tx_hash=F("outgoing__tx_hash"),
    )
    rows = (
        BROADCAST.ready(rows)
        .exclude(raw="")
        .exclude(broadcast_at__gt=at - REBROADCAST)
        .select_related("outgoing")
    )
    is_sweep = ExpressionWrapper(Q(outgoing__purpose=_SWEEP), output_field=BooleanField())
    return list(rows.order_by(is_sweep, "outgoing__nonce", "pk")[:BROADCAST_MAX])


def _accepted(due: Sequence[SignedTransaction], nodes: Nodes) -> list[SignedTransaction]:
    """Those that the chain has now. An error tells nothing: a node that knows the hash has the
    bytes."""
    again = [candidate for candidate in due if candidate.broadcast_at is not None]
    on_chain = _known(again, nodes)
    candidates = [candidate for candidate in due if candidate.pk not in on_chain]
    answers = _send_each(
        [("eth_sendRawTransaction", [candidate.raw]) for candidate in candidates], nodes
    )
    refused = {
        candidate.pk: answer
        for candidate, answer in zip(candidates, answers, strict=True)
        if isinstance(answer, RpcError)
    }
    known_after = _known([candidate for candidate in candidates if candidate.pk in refused], nodes)
    for candidate in candidates:
        if candidate.pk in refused and candidate.pk not in known_after:
            error = str(refused[candidate.pk])
            log.warning(
                "broadcast_refused",
                outgoing=str(candidate.outgoing_id),
                tx_hash=candidate.tx_hash,
                error=error,
            )
            refused_bytes.note(candidate, refused[candidate.pk])
    return [
        candidate
        for candidate in due
        if candidate.pk in on_chain or candidate.pk not in refused or candidate.pk in known_after
    ]


def _send_each(calls: Sequence[Call], nodes: Nodes) -> list[Any]:
    try:
        return nodes.each(calls)
    except RpcError as error:  # of all of them nothing is known
        return [error] * len(calls)


def _known(rows: Sequence[SignedTransaction], nodes: Nodes) -> set[int]:
    answers = (
        nodes.batch([("eth_getTransactionByHash", [candidate.tx_hash]) for candidate in rows])
        if rows
        else []
    )
    return {
        candidate.pk for candidate, answer in zip(rows, answers, strict=True) if answer is not None
    }


def _note_sent(accepted: Sequence[SignedTransaction], at: datetime) -> None:
    first = [
        candidate.outgoing for candidate in accepted if candidate.outgoing.status == _Status.SIGNED
    ]
    with transaction.atomic():
        SignedTransaction.objects.filter(pk__in=[candidate.pk for candidate in accepted]).update(
            broadcast_at=at
        )
        moved = OUTGOING.change_many(
            first, Step(_Status.SUBMITTED), ats=[at] * len(first), each={}, submitted_at=at
        )
        sweep_batch_ends.note_sent(moved, at)
        for row in (
            {(candidate.purpose, candidate.mode): candidate for candidate in first}.values()
            if moved
            else ()
        ):
            hot_wallets.wake(row)


def follow(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """Read receipts; the nonces are asked for first, so that what they count has a receipt by
    then."""
    chain = wallet.chain
    head = int(nodes.call("eth_blockNumber", []), 16)
    # After the head: whatever another run sends meanwhile is in no block up to there, so no nonce
    # of an unread candidate counts as foreign.
    rows = _in_flight(wallet, FOLLOW)
    buried = max(0, head - min(chain.required_confirmations, HISTORY_BLOCKS))
    holders = sorted({row.from_address for row in rows})
    counts = nodes.batch([("eth_getTransactionCount", [item, hex(buried)]) for item in holders])
    used = {holder: int(count, 16) for holder, count in zip(holders, counts, strict=True)}
    hashes = [candidate.tx_hash for row in rows for candidate in row.candidates.all()]
    receipt_of = dict(
        zip(
            hashes,
            nodes.batch([("eth_getTransactionReceipt", [item]) for item in hashes]),
            strict=True,
        )
    )

    def is_missing(row: OutgoingTransaction) -> bool:
        return (
            row.nonce is not None
            and row.nonce < used[row.from_address]
            and doubts.receipt_of(row, receipt_of) is None
        )

    in_blocks: set[str] = set()
    if missing := [row for row in rows if is_missing(row)]:
        more_receipts, in_blocks = doubts.ask_everyone(missing, nodes)
        receipt_of |= more_receipts

    newest_final = final_block(chain, head)
    by_block: Blocks = {}

    def look(row: OutgoingTransaction) -> None:
        receipt = doubts.receipt_of(row, receipt_of)
        if receipt is not None:
            doubts.trust(row)
            if int(receipt["blockNumber"], 16) <= newest_final:
                receipt = receipts.believed(row, receipt, nodes, by_block)
                if receipt is not None:
                    _finish(row, receipt, wallet, nodes, at)
        elif is_missing(row):
            doubts.doubt(row, wallet, in_blocks, at)

    FOLLOW.each(lambda: rows, look)


def _in_flight(wallet: HotWallet, job: Job) -> list[OutgoingTransaction]:
    """The hot wallet's transactions in flight, in the order of its nonces; then the sweeps to it,
    each from an address with nonces of its own."""
    rows = OutgoingTransaction.objects.filter(
        hot_wallets.own(wallet), chain=wallet.chain_id, status__in=IN_FLIGHT
    ).select_related("asset", "receives_asset")
    rows = job.ready(rows).prefetch_related("candidates")
    own = rows.exclude(purpose=_SWEEP).order_by("nonce")
    sweeps = rows.filter(purpose=_SWEEP, batch=None).order_by("signed_at", "pk")
    return [*own[:FOLLOW_MAX], *sweeps[:FOLLOW_MAX]]


def _finish(
    row: OutgoingTransaction, receipt: Any, wallet: HotWallet, nodes: Nodes, at: datetime
) -> None:
    fee = paid_fees.of(row, receipt, nodes)
    end = receipts.end_of(row, receipt, wallet.address, nodes)
    parts = sweep_batch_ends.ends_of(row, receipt, wallet.address, nodes)
    if end is None or parts is None:
        return
    failpoint("send.K7")
    status, reason, text = end.status, end.reason, end.text
    if row.handled_status in MINED and row.handled_status != status:
        text = (
            f"It was {row.handled_status}, the chain undid it, and the second time it"
            f" {_DID[status]}"
        )
        status = _Status.REVIEW
        reason = Reason.UNDONE
    with transaction.atomic():
        is_mine = hot_wallets.finish(
            row,
            status,
            at,
            reason,
            text,
            tx_hash=receipt["transactionHash"],
            block_number=int(receipt["blockNumber"], 16),
            block_hash=str(receipt["blockHash"]).lower(),
            network_fee_atomic=fee,
            received_atomic=end.received_atomic,
        )
        if is_mine:
            sweep_batch_ends.finish_parts(row, parts, receipt, at)
    failpoint("send.K8")


def unhandled(*purposes: str) -> "QuerySet[OutgoingTransaction]":
    """Transactions that ended (or are in review) and that their app hasn't handled yet, oldest
    first."""
    ended = OutgoingTransaction.objects.filter(purpose__in=purposes, status__in=ENDED)
    return ended.exclude(status=F("handled_status")).order_by("finished_at")


class Undone(Exception):
    """While it was booked the chain has undone it: the caller's transaction is to be rolled
    back."""


def mark_handled(row: OutgoingTransaction) -> None:
    """Inside the caller's transaction, with what it did about the row as it has read it. Raises
    Undone when it isn't so any more."""
    now = OutgoingTransaction.objects.filter(pk=row.pk, status=row.status)
    acted_upon = {
        "handled_fee_atomic": row.network_fee_atomic,
        "handled_received_atomic": row.received_atomic,
    }
    if not now.update(handled_status=row.status, **acted_upon):
        raise Undone(f"{row.purpose} {row.reference}")


def mined_otherwise() -> "QuerySet[OutgoingTransaction]":
    """Transactions that were mined a second time with another cost or yield than their app has
    booked."""
    rows = OutgoingTransaction.objects.filter(
        undone_count__gt=0, status__in=MINED, handled_status=F("status")
    )
    as_booked = Q(
        handled_fee_atomic=F("network_fee_atomic"), handled_received_atomic=F("received_atomic")
    )
    return rows.exclude(as_booked).order_by("finished_at")


def mark_many_handled(rows: Sequence[OutgoingTransaction]) -> None:
    """Marks many transactions of the same status as handled."""
    for status in {row.status for row in rows}:
        alike = [row for row in rows if row.status == status]
        now = OutgoingTransaction.objects.filter(pk__in=[row.pk for row in alike], status=status)
        acted_upon = {
            "handled_fee_atomic": F("network_fee_atomic"),
            "handled_received_atomic": F("received_atomic"),
        }
        if now.update(handled_status=status, **acted_upon) < len(alike):
            raise Undone(f"{len(alike)} {alike[0].purpose}")


def can_afford(chain_id: str, asset_id: str, amount_atomic: int) -> bool:
    """True if a hot wallet could send this now; False also when nobody can be asked. Not inside a
    transaction."""
    return amount_atomic <= free(chain_id, asset_id)


def free(chain_id: str, asset_id: str) -> int:
    """Largest amount that could be sent now in one transaction; -1 also without an answer. Not
    inside a transaction."""
    return max(free_by_wallet(chain_id, asset_id), default=-1)


def free_by_wallet(chain_id: str, asset_id: str) -> list[int]:
    """Largest amount that each hot wallet without a halt could send now; empty without an answer.
    Not inside a transaction."""
    wallets = HotWallet.objects.filter(chain=chain_id, halted_at=None).select_related("chain")
    open_wallets = list(wallets.order_by("number"))
    asset = Asset.objects.filter(pk=asset_id, chain=chain_id).first()
    is_on_chain = asset is not None and (asset.is_native or bool(asset.contract_address))
    if (
        not open_wallets
        or asset is None
        or not is_on_chain
        or not settings.CHAIN_URLS.get(chain_id)
    ):
        return []
    if has_coins(open_wallets[0].chain):
        return [coin_purse.free(open_wallets[0].chain)]
    with closing(nodes_of(open_wallets[0].chain)) as nodes:
        try:
            return [balances.free(asset, wallet.address, nodes) for wallet in open_wallets]
        except RpcError:
            return []
