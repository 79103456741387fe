"""Takes requests for transfers, broadcasts what the signer has signed, and reads from receipts what became of it.

Only stored bytes are ever sent, as often as needed. "Not found" is never "not sent": an end is a receipt buried under
enough blocks, and a nonce that somebody else used is a person's affair.
"""

from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet

from apps.assets.models import Asset
from apps.chain import balances, calls, hot_wallets, recheck
from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.states import ENDED, IN_FLIGHT, MINED, OUTGOING
from apps.core import clock, jobs, locks
from apps.core.failpoints import failpoint
from apps.core.rows import Job

log = structlog.get_logger(__name__)
FOLLOW_MAX = 200
CHAINS = Job("chain.send_due", in_transaction=False, is_vital=True)
BROADCAST, FOLLOW = (Job(name, in_transaction=False, is_vital=True, raises=(RpcError,)) for name in ("chain.broadcast", "chain.follow"))
REBROADCAST = timedelta(seconds=30)
# Full nodes keep the state of so many blocks; a nonce is looked up no deeper.
HISTORY_BLOCKS = 100
_Status, _SWEEP = OutgoingTransaction.Status, OutgoingTransaction.Purpose.SWEEP


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
) -> OutgoingTransaction:
    """Ask for a transfer, inside the caller's transaction. The same purpose and reference is the same transfer, once.

    `at` is machine time. The caller learns of the end through `handled_status` and its own job. A call of the exchange brings
    its `call_data` and the asset that comes back; a sweep names the deposit address that it empties.
    """
    wanted = {"chain_id": chain_id, "asset_id": asset_id, "to_address": to.lower(), "amount_atomic": amount_atomic, "mode": mode}
    wanted |= {"call_data": call_data, "receives_asset_id": receives_asset_id}
    if sweeps:
        wanted["from_address"] = sweeps
    row, is_new = OutgoingTransaction.objects.get_or_create(
        purpose=purpose, reference=str(reference), defaults={**wanted, "requested_at": at}
    )
    if not is_new and any(getattr(row, name) != value for name, value in wanted.items()):
        raise ValueError(f"{purpose} {reference} was asked for already, as something else")
    failpoint("send.K1")
    jobs.enqueue("chain.send", row.pk)
    return row


def run_due() -> None:
    """Broadcast and follow what is signed, on every chain that has something in flight."""
    CHAINS.walk(HotWallet.objects.select_related("chain").order_by("pk"), _run)


def _run(wallet: HotWallet) -> None:
    is_due = hot_wallets.in_flight(wallet.chain_id) or recheck.is_due(wallet.chain_id)
    if not settings.CHAIN_URLS.get(wallet.chain_id) or not is_due:
        return
    # Who comes second leaves it to the first and to the next sweep.
    with locks.try_hold(locks.Turn.CHAIN_SENDER, wallet.chain_id) as is_mine, closing(nodes_of(wallet.chain)) as nodes:
        if not is_mine:
            return
        at = clock.real_now()
        try:
            failpoint("send.K5")
            recheck.recheck(wallet, nodes, at)
            broadcast(wallet, nodes, at)
            follow(wallet, nodes, at)
        except RpcError as error:
            log.warning("chain_not_asked", chain=wallet.chain_id, error=str(error))


def broadcast(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """Send the bytes of each transaction in flight that wasn't sent lately, in the order of nonces."""
    if wallet.halted_at is not None:
        return
    BROADCAST.each(lambda: _in_flight(wallet, BROADCAST), lambda row: _broadcast(row, nodes, at))


def _broadcast(row: OutgoingTransaction, nodes: Nodes, at: datetime) -> None:
    # The newest; of one that the chain has undone, those that it had.
    newest = next((one for one in row.candidates.all() if one.raw and one.tx_hash == row.tx_hash), None)
    if newest is None or (newest.broadcast_at is not None and newest.broadcast_at > at - REBROADCAST):
        return
    if _is_accepted(newest, nodes):
        failpoint("send.K6")
        with transaction.atomic():
            SignedTransaction.objects.filter(pk=newest.pk).update(broadcast_at=at)
            if row.status == _Status.SIGNED:
                OUTGOING.move(row, _Status.SUBMITTED, submitted_at=at)


def _is_accepted(candidate: SignedTransaction, nodes: Nodes) -> bool:
    """Whether the chain has the bytes now. An error tells nothing: a node that knows the hash has them."""
    if candidate.broadcast_at is not None and _is_known(candidate, nodes):
        return True
    try:
        nodes.call("eth_sendRawTransaction", [candidate.raw])
    except RpcError as error:
        if _is_known(candidate, nodes):
            return True
        log.warning("broadcast_refused", outgoing=str(candidate.outgoing_id), tx_hash=candidate.tx_hash, error=str(error))
        return False
    return True


def _is_known(candidate: SignedTransaction, nodes: Nodes) -> bool:
    return nodes.call("eth_getTransactionByHash", [candidate.tx_hash]) is not None


def follow(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """Read receipts; the nonces are asked for first, so that what they count has a receipt by then."""
    chain, rows = wallet.chain, _in_flight(wallet, FOLLOW)
    head = int(nodes.call("eth_blockNumber", []), 16)
    buried = max(0, head - min(chain.required_confirmations, HISTORY_BLOCKS))
    holders = sorted({row.from_address for row in rows})
    counts = nodes.batch([("eth_getTransactionCount", [one, hex(buried)]) for one in holders])
    used = {holder: int(count, 16) for holder, count in zip(holders, counts, strict=True)}
    hashes = [candidate.tx_hash for row in rows for candidate in row.candidates.all()]
    receipts = dict(zip(hashes, nodes.batch([("eth_getTransactionReceipt", [one]) for one in hashes]), strict=True))

    def look(row: OutgoingTransaction) -> None:
        found = next((receipt for candidate in row.candidates.all() if (receipt := receipts[candidate.tx_hash])), None)
        if found is not None:
            _settle(row, found, head - chain.required_confirmations + 1, wallet, at)
        elif row.nonce is not None and row.nonce < used[row.from_address]:
            reason = "Its nonce was used by a transaction that we do not know"
            if row.from_address == wallet.address:
                hot_wallets.halt(wallet, f"Nonce {row.nonce} was used by a transaction that we do not know", at)
            hot_wallets.finish(row, _Status.REVIEW, at, reason=reason)

    FOLLOW.each(lambda: rows, look)


def _in_flight(wallet: HotWallet, job: Job) -> list[OutgoingTransaction]:
    """What the hot wallet has sent, in the order of its nonces; then the sweeps, each from an address with nonces of its own."""
    rows = OutgoingTransaction.objects.filter(chain=wallet.chain_id, status__in=IN_FLIGHT).select_related("receives_asset")
    rows = job.ready(rows).prefetch_related("candidates")
    own, sweeps = rows.exclude(purpose=_SWEEP).order_by("nonce"), rows.filter(purpose=_SWEEP).order_by("signed_at", "pk")
    return [*own[:FOLLOW_MAX], *sweeps[:FOLLOW_MAX]]


def _settle(row: OutgoingTransaction, receipt: Any, newest_final: int, wallet: HotWallet, at: datetime) -> None:
    number = int(receipt["blockNumber"], 16)
    if number > newest_final:
        return
    fee = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16) + int(receipt.get("l1Fee") or "0x0", 16)
    is_moved = int(receipt["status"], 16) == 1
    got = calls.received(row, receipt, wallet.address) if is_moved else 0
    if is_moved and row.receives_asset_id and not got:
        log.error("receipt_without_what_it_brought", outgoing=str(row.pk), tx_hash=receipt["transactionHash"])
        return
    failpoint("send.K7")
    status, reason = (_Status.CONFIRMED, "") if is_moved else (_Status.FAILED, "The chain reverted it")
    if row.handled_status in MINED and row.handled_status != status:
        reason = f"It was {row.handled_status}, the chain undid it, and the second time it {'moved coins' if is_moved else 'was reverted'}"
        status = _Status.REVIEW
    hot_wallets.finish(
        row,
        status,
        at,
        reason=reason,
        tx_hash=receipt["transactionHash"],
        block_number=number,
        block_hash=str(receipt["blockHash"]).lower(),
        network_fee_atomic=fee,
        received_atomic=got,
    )
    failpoint("send.K8")


def unhandled(*purposes: str) -> "QuerySet[OutgoingTransaction]":
    """What came to an end (or to review) and whose app has not acted upon it, oldest first."""
    ended = OutgoingTransaction.objects.filter(purpose__in=purposes, status__in=ENDED)
    return ended.exclude(status=F("handled_status")).order_by("finished_at")


class Undone(Exception):
    """While it was booked the chain has undone it: the caller's transaction is to be rolled back."""


def mark_handled(row: OutgoingTransaction) -> None:
    """Inside the caller's transaction, with what it did about the row as it has read it. Raises Undone when it isn't so any more."""
    now = OutgoingTransaction.objects.filter(pk=row.pk, status=row.status)
    acted_upon = {"handled_fee_atomic": row.network_fee_atomic, "handled_received_atomic": row.received_atomic}
    if not now.update(handled_status=row.status, **acted_upon):
        raise Undone(f"{row.purpose} {row.reference}")


def mined_otherwise() -> "QuerySet[OutgoingTransaction]":
    """What was mined a second time, and cost or brought something else than what its app has booked."""
    rows = OutgoingTransaction.objects.filter(undone_count__gt=0, status__in=MINED, handled_status=F("status"))
    as_booked = Q(handled_fee_atomic=F("network_fee_atomic"), handled_received_atomic=F("received_atomic"))
    return rows.exclude(as_booked).order_by("finished_at")


def can_afford(chain_id: str, asset_id: str, amount_atomic: int) -> bool:
    """Whether the hot wallet could send this now; False also when nobody can be asked. Not inside a transaction."""
    wallet = HotWallet.objects.filter(chain=chain_id, halted_at=None).select_related("chain").first()
    asset = Asset.objects.filter(pk=asset_id, chain=chain_id).first()
    is_on_chain = asset is not None and (asset.is_native or bool(asset.contract_address))
    if wallet is None or asset is None or not is_on_chain or not settings.CHAIN_URLS.get(chain_id):
        return False
    with closing(nodes_of(wallet.chain)) as nodes:
        try:
            return balances.can_afford(asset, wallet.address, amount_atomic, nodes)
        except RpcError:
            return False
