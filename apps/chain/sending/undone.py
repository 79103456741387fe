"""Transactions of ours that were final and that a reorg has undone: found, reported to a person,
and sent again as the same bytes.

What ended is followed for FOLLOWED_TIMES its confirmations. Nothing is signed here, and no
transaction gets another nonce.
"""

import uuid
from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Max, QuerySet
from prometheus_client import Counter

from apps.chain.models import (
    Block,
    Deposit,
    HotWallet,
    OutgoingTransaction,
    UndoneTransaction,
)
from apps.chain.networks.finality import final_block
from apps.chain.providers.base import Nodes
from apps.chain.reasons import Reason, because
from apps.chain.sending import hot_wallets, sweep_batch_ends
from apps.chain.states import MINED, OUTGOING
from apps.core.machine import Step
from apps.core.rows import Job
from apps.stores.auditing import audit

log = structlog.get_logger(__name__)
_undone = Counter(
    "tillgate_chain_undone_transactions",
    "Final transactions of ours that a reorg has undone",
    ["chain"],
)
FOLLOWED_TIMES = 10
HOLDERS_MAX = 200
JOB = Job("chain.recheck", in_transaction=False, is_vital=True)
_Status = OutgoingTransaction.Status
_SWEEP = OutgoingTransaction.Purpose.SWEEP


def is_due(wallet: HotWallet) -> bool:
    """True if the wallet has anything on the chain that could be undone."""
    return _final(wallet).exists()


def recheck(wallet: HotWallet, nodes: Nodes, at: datetime) -> int:
    """Find what was undone and open it again; how many there were. Raises RpcError."""
    confirmations = wallet.chain.required_confirmations
    head = int(nodes.call("eth_blockNumber", []), 16)
    rows = _final(wallet).filter(block_number__gt=head - FOLLOWED_TIMES * confirmations)
    # A chain that doesn't reach up to where we saw them final is a node that lags: it undoes
    # nothing.
    rows = rows.filter(block_number__lte=final_block(wallet.chain, head))
    ids = _without_their_nonce(rows, nodes, head) | _in_orphaned_blocks(rows, nodes)
    ids -= _still_there(rows.filter(pk__in=ids), nodes) if ids else set()
    return (
        JOB.each(
            lambda: list(JOB.ready(rows.filter(pk__in=ids)).order_by("nonce")),
            lambda row: _reopen(row, at),
        )
        if ids
        else 0
    )


def _final(wallet: HotWallet) -> "QuerySet[OutgoingTransaction]":
    return OutgoingTransaction.objects.filter(
        hot_wallets.own(wallet),
        chain=wallet.chain_id,
        status__in=MINED,
        nonce__isnull=False,
        block_number__isnull=False,
        batch=None,  # which the hot wallet's transaction takes along
    )


def _without_their_nonce(
    rows: "QuerySet[OutgoingTransaction]", nodes: Nodes, head: int
) -> set[uuid.UUID]:
    """Those whose sender has, on the chain as it is now, not come as far as their nonce."""
    own = rows.exclude(purpose=_SWEEP)
    sweeps = rows.filter(purpose=_SWEEP)
    newest: dict[str, int] = dict(own.values_list("from_address").annotate(last=Max("nonce")))
    recent = (
        sweeps.values("from_address")
        .annotate(last=Max("nonce"), mined=Max("block_number"))
        .order_by("-mined")[:HOLDERS_MAX]
    )
    newest |= {holder["from_address"]: holder["last"] for holder in recent}
    holders = sorted(newest)
    counts = (
        nodes.batch([("eth_getTransactionCount", [holder, hex(head)]) for holder in holders])
        if holders
        else []
    )
    behind = {
        holder: int(count, 16)
        for holder, count in zip(holders, counts, strict=True)
        if int(count, 16) <= newest[holder]
    }
    return {
        pk
        for holder, used in behind.items()
        for pk in rows.filter(from_address=holder, nonce__gte=used).values_list("pk", flat=True)
    }


def _in_orphaned_blocks(rows: "QuerySet[OutgoingTransaction]", nodes: Nodes) -> set[uuid.UUID]:
    """Those in a block that the watcher saw go, once this node says so too: they may be in
    another one, as they were or reverted."""
    orphans = Block.objects.filter(chain__in=rows.values("chain"), is_canonical=False).values(
        "hash"
    )
    mined = list(
        rows.filter(block_hash__in=orphans).values_list("pk", "block_number", "block_hash")
    )
    numbers = sorted({number for _, number, _ in mined if number is not None})
    blocks = (
        nodes.batch([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
        if numbers
        else []
    )
    hashes = {
        number: block and str(block["hash"]).lower()
        for number, block in zip(numbers, blocks, strict=True)
    }
    return {
        pk
        for pk, number, block_hash in mined
        if number is not None and hashes[number] not in (None, block_hash)
    }


def _still_there(rows: "QuerySet[OutgoingTransaction]", nodes: Nodes) -> set[uuid.UUID]:
    """Those that any node has where they were: another one is late, or has taken the other branch
    first. They are looked at again by the next run."""
    mined = list(rows.values_list("pk", "tx_hash", "block_hash"))
    receipts = nodes.anyone([("eth_getTransactionReceipt", [tx_hash]) for _, tx_hash, _ in mined])
    return {
        pk
        for (pk, _, block_hash), receipt in zip(mined, receipts, strict=True)
        if receipt and str(receipt.get("blockHash")).lower() == block_hash
    }


def _reopen(snapshot: OutgoingTransaction, at: datetime) -> None:
    """Back to submitted, with a line for what it was. What its app did when it ended stays done:
    `handled_status` remembers it.

    One that failed and gave its coins back is not sent again without a person: the second time it
    might succeed.
    """
    with transaction.atomic():
        row = OutgoingTransaction.objects.select_for_update(of=("self",)).get(pk=snapshot.pk)
        if (
            row.status != snapshot.status
            or row.block_hash != snapshot.block_hash
            or row.block_number is None
        ):
            return
        UndoneTransaction.objects.create(
            outgoing=row,
            status=row.status,
            tx_hash=row.tx_hash,
            block_number=row.block_number,
            block_hash=row.block_hash,
            network_fee_atomic=row.network_fee_atomic,
            found_at=at,
        )
        is_given_back = row.status == row.handled_status == _Status.FAILED
        changes = {"block_number": None, "block_hash": "", "undone_count": row.undone_count + 1}
        if is_given_back:
            OUTGOING.change_status(
                row,
                Step(_Status.REVIEW),
                at=at,
                **because(Reason.GIVEN_BACK),
                finished_at=at,
                **changes,
            )
        else:
            OUTGOING.change_status(
                row, Step(_Status.SUBMITTED), at=at, **because(None), finished_at=None, **changes
            )
        row.candidates.filter(tx_hash=row.tx_hash).update(broadcast_at=None)
        if row.purpose == OutgoingTransaction.Purpose.SWEEP_BATCH and not is_given_back:
            emptied = sweep_batch_ends.reopen_parts(row, at)
            Deposit.objects.filter(address__in=emptied).update(is_unswept=True)
        if row.purpose == _SWEEP:
            Deposit.objects.filter(address=row.from_address).update(is_unswept=True)
        audit.record(
            "outgoing.undone",
            target=row,
            name=str(row.reference),
            details={"hash": row.tx_hash, "nonce": row.nonce},
        )
    _undone.labels(row.chain_id).inc()
    log.error(
        "outgoing_undone",
        outgoing=str(row.pk),
        chain=row.chain_id,
        purpose=row.purpose,
        nonce=row.nonce,
        tx_hash=row.tx_hash,
        now=row.status,
    )
