"""Transactions of ours whose nonce the chain has counted and of which no receipt is to be had.

One empty answer says nothing: behind one address of a provider are many nodes, some of them late.
So every node is asked, for all bytes that were signed with the nonce, until PATIENCE is over; then
a person is asked, and the wallet halts. It is asked on: a receipt that turns up ends the review and
the halt, and nothing is signed again for it.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import QuerySet

from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.networks.evm.block_receipts import committed
from apps.chain.providers.base import Nodes
from apps.chain.reasons import Reason, because
from apps.chain.sending import calls, hot_wallets
from apps.chain.states import OUTGOING
from apps.core import jobs
from apps.core.machine import Step
from apps.stores.auditing import audit

log = structlog.get_logger(__name__)
PATIENCE = timedelta(minutes=10)
IN_REVIEW_MAX = 50
_Status = OutgoingTransaction.Status


def receipt_of(row: OutgoingTransaction, receipts: Mapping[str, Any]) -> Any:
    """Of whichever of its bytes was mined; None when none has one. A receipt of a transaction that
    no block has yet is none."""
    hashes = [candidate.tx_hash for candidate in row.candidates.all()]
    return next(
        (
            receipt
            for tx_hash in hashes
            if (receipt := receipts.get(tx_hash)) and receipt.get("blockNumber")
        ),
        None,
    )


def ask_everyone(
    rows: Collection[OutgoingTransaction], nodes: Nodes
) -> tuple[Mapping[str, Any], set[str]]:
    """The receipts that any node has of these, by hash, and the hashes that are in a block though
    their receipts are still to come. Raises RpcError when no node answers."""
    hashes = [candidate.tx_hash for row in rows for candidate in row.candidates.all()]
    answers = nodes.anyone(
        [("eth_getTransactionReceipt", [tx_hash]) for tx_hash in hashes]
        + [("eth_getTransactionByHash", [tx_hash]) for tx_hash in hashes]
    )
    receipts = dict(zip(hashes, answers, strict=False))
    transactions = zip(hashes, answers[len(hashes) :], strict=True)
    return receipts, {
        tx_hash for tx_hash, answer in transactions if answer and answer.get("blockNumber")
    }


def doubt(
    row: OutgoingTransaction, wallet: HotWallet, in_blocks: Collection[str], at: datetime
) -> None:
    """Its nonce is used, and no node has a receipt for it."""
    if any(candidate.tx_hash in in_blocks for candidate in row.candidates.all()):
        trust(row)  # it is ours, and only its receipt is late
        return
    if row.unknown_since is None:
        OutgoingTransaction.objects.filter(pk=row.pk, unknown_since=None).update(unknown_since=at)
        log.warning("receipt_missing", outgoing=str(row.pk), chain=row.chain_id, nonce=row.nonce)
        return
    if at - row.unknown_since < PATIENCE:
        return
    if row.from_address == wallet.address:
        hot_wallets.halt(
            wallet,
            f"Nonce {row.nonce} was used by a transaction that we do not know",
            at,
            Reason.NONCE_UNKNOWN,
        )
    hot_wallets.finish(row, _Status.REVIEW, at, Reason.NONCE_UNKNOWN)


def trust(row: OutgoingTransaction) -> None:
    """There is something of it again."""
    if row.unknown_since is not None:
        OutgoingTransaction.objects.filter(pk=row.pk).update(unknown_since=None)
        row.unknown_since = None


def in_review(wallet: HotWallet) -> "QuerySet[OutgoingTransaction]":
    """Those that wait for a person for no other reason than that their receipt was missing."""
    return OutgoingTransaction.objects.filter(
        hot_wallets.own(wallet),
        chain=wallet.chain_id,
        status=_Status.REVIEW,
        reason_code=Reason.NONCE_UNKNOWN,
    )


def recheck(wallet: HotWallet, nodes: Nodes, at: datetime) -> int:
    """Let go on what was halted in vain; how many there were. Raises RpcError."""
    rows = in_review(wallet).order_by("finished_at").prefetch_related("candidates")[:IN_REVIEW_MAX]
    if not rows:
        return 0
    receipts, _ = ask_everyone(rows, nodes)
    return sum(
        _go_on(row, receipt, at)
        for row in rows
        if (receipt := receipt_of(row, receipts)) is not None
    )


def _go_on(row: OutgoingTransaction, receipt: Any, at: datetime) -> bool:
    """Back to submitted, which the next look ends; with the last of a wallet its halt is over, if
    it was for that alone. False when a person was faster."""
    reviewed_at = row.finished_at
    with transaction.atomic():
        wallet = (
            HotWallet.objects.select_for_update()
            .filter(chain=row.chain_id, address=row.from_address)
            .first()
        )
        if not OUTGOING.change_status(
            row,
            Step(_Status.SUBMITTED),
            at=at,
            finished_at=None,
            unknown_since=None,
            **because(None),
        ):
            return False
        details = {"hash": receipt["transactionHash"], "nonce": row.nonce}
        audit.record("outgoing.found", target=row, name=str(row.reference), details=details)
        if (
            wallet is not None
            and wallet.halted_code == Reason.NONCE_UNKNOWN
            and wallet.halted_at is not None
            and reviewed_at is not None
            and wallet.halted_at <= reviewed_at  # since a restore it has another reason
        ):
            _lift(wallet)
        hot_wallets.wake(row)
    log.warning("outgoing_found", outgoing=str(row.pk), chain=row.chain_id, nonce=row.nonce)
    return True


def _lift(wallet: HotWallet) -> None:
    """Unless another of its transactions is still unknown."""
    if in_review(wallet).filter(from_address=wallet.address).exists():
        return
    audit.record(
        "hot_wallet.resumed",
        target=wallet,
        name=wallet.pk,
        reason="The transactions that it was halted for were found",
        details={"halted_at": str(wallet.halted_at), "halted_for": wallet.halted_reason},
    )
    HotWallet.objects.filter(pk=wallet.pk).update(halted_at=None, halted_reason="", halted_code="")
    log.warning("hot_wallet_resumed", chain=wallet.pk)
    jobs.nudge("chain.send", mode=wallet.chain.mode)


def _has_moved_nothing(row: OutgoingTransaction, receipt: Any) -> bool:
    """Tell whether the token reports that nothing left and nothing arrived."""
    move = calls.move_of(row)
    if move is None:
        return False
    return not calls.arrived(move, receipt) and not calls.taken(move, receipt)


def refuse_if_mined(row: OutgoingTransaction, nodes: Nodes) -> None:
    """Before a person says that it wasn't sent. Raises ResolutionRefused, and RpcError."""
    sent = row.batch or row
    if not sent.candidates.exists():
        return
    receipts, in_blocks = ask_everyone([sent], nodes)
    receipt = receipt_of(sent, receipts)
    if receipt is not None and row.reason_code == Reason.MOVED_OTHERWISE:
        receipt = committed(nodes, row.chain_id, receipt, {})
        if _has_moved_nothing(row, receipt):
            return
    if receipt is not None or in_blocks:
        tx_hash = receipt["transactionHash"] if receipt else sorted(in_blocks)[0]
        raise hot_wallets.ResolutionRefused(f"The chain has it: {tx_hash}")
