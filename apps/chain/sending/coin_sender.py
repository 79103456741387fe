"""Sends the signed transactions of a network with coins, and reads what became of them: an end is a
block that is buried deep enough, or a first coin that somebody else has taken.

"Not found" is never "not sent": only the same bytes are sent again.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import QuerySet

from apps.chain.models import (
    Block,
    CoinRecord,
    Deposit,
    Head,
    HotWallet,
    OutgoingTransaction,
    SpendCandidate,
    SpendRecord,
)
from apps.chain.networks.base import Carrier, CoinPlace, SpendStatus
from apps.chain.networks.coins import carrier_of
from apps.chain.networks.finality import final_number
from apps.chain.providers.base import Nodes
from apps.chain.reasons import Reason
from apps.chain.sending import holds, hot_wallets
from apps.chain.sending.plans import unpacked
from apps.chain.states import IN_FLIGHT, OUTGOING
from apps.core.db import locks
from apps.core.machine import Step
from apps.core.process.failpoints import failpoint

log = structlog.get_logger(__name__)
AGAIN_AFTER = timedelta(seconds=30)
SPENDS_MAX = 200
FOLLOWED_TIMES = 10
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose


def run(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """Sends and follows a wallet's spends, in one run at a time. Raises RpcError."""
    with locks.try_hold(locks.LockKind.CHAIN_SENDER, wallet.pk) as is_mine:
        if is_mine:
            carrier = carrier_of(wallet.chain, nodes)
            send_due(wallet, carrier, at)
            follow(wallet, carrier, at)
            recheck(wallet, carrier, at)


def send_due(wallet: HotWallet, carrier: Carrier, at: datetime) -> None:
    """Send the newest bytes of what no block has yet. Raises RpcError."""
    if wallet.halted_at is not None or holds.held_on(wallet.chain).is_everything:
        return
    for spend in _open(wallet):
        candidate = spend.candidates.last()
        if candidate is None or _was_sent_just_now(candidate, at):
            continue
        refusal = carrier.send(candidate.raw)
        if not refusal:
            failpoint("send.K6")
            _note_sent(candidate, at)
            continue
        log.warning("broadcast_refused", spend=spend.pk, tx_hash=candidate.tx_hash, error=refusal)
        _send_earlier(spend, candidate, carrier, at)


def _was_sent_just_now(candidate: SpendCandidate, at: datetime) -> bool:
    return candidate.broadcast_at is not None and candidate.broadcast_at > at - AGAIN_AFTER


def _send_earlier(
    spend: SpendRecord, refused: SpendCandidate, carrier: Carrier, at: datetime
) -> None:
    """A node that takes no replacement has the bytes before it, or gets them again: what it takes
    is what is on its way."""
    for earlier in spend.candidates.exclude(pk=refused.pk).order_by("-pk"):
        if _was_sent_just_now(earlier, at):
            return
        if not carrier.send(earlier.raw):
            _note_sent(earlier, at)
            return


def _open(wallet: HotWallet) -> Iterable[SpendRecord]:
    return SpendRecord.objects.filter(
        chain=wallet.chain_id, wallet_address=wallet.address, ended_at=None
    ).order_by("pk")[:SPENDS_MAX]


def _note_sent(candidate: SpendCandidate, at: datetime) -> None:
    with transaction.atomic():
        SpendCandidate.objects.filter(pk=candidate.pk).update(broadcast_at=at)
        OutgoingTransaction.objects.filter(spend=candidate.spend_id, status__in=IN_FLIGHT).exclude(
            tx_hash=candidate.tx_hash
        ).update(tx_hash=candidate.tx_hash)
        rows = list(
            OutgoingTransaction.objects.filter(spend=candidate.spend_id, status=_Status.SIGNED)
        )
        moved = OUTGOING.change_many(
            rows, Step(_Status.SUBMITTED), ats=[at] * len(rows), each={}, submitted_at=at
        )
        for row in {row.purpose: row for row in rows}.values() if moved else ():
            hot_wallets.wake(row)


def follow(wallet: HotWallet, carrier: Carrier, at: datetime) -> None:
    """Read what became of each spend. Raises RpcError."""
    head = Head.objects.filter(chain=wallet.chain_id).first()
    if head is None:
        return
    newest_final = final_number(wallet.chain, head.number)
    for spend in _open(wallet):
        candidates = {row.tx_hash: row for row in spend.candidates.all()}
        first = CoinPlace(spend.first_tx_hash, spend.first_output)
        look = carrier.look(list(candidates), first)
        if look.tx_hash and look.block_number <= newest_final:
            _finish(spend, candidates[look.tx_hash], look, at)
        elif _is_orphaned(spend):
            _give_up(spend, at)
        elif look.is_taken:
            _doubt(spend, wallet, newest_final, at)


def _is_orphaned(spend: SpendRecord) -> bool:
    """Tells whether its first coin is the change of bytes of ours that will never be mined."""
    parent = SpendCandidate.objects.filter(tx_hash=spend.first_tx_hash).first()
    return (
        parent is not None
        and parent.spend.ended_at is not None
        and parent.spend.mined_as != parent.tx_hash
    )


def _give_up(spend: SpendRecord, at: datetime) -> None:
    with transaction.atomic():
        rows = OutgoingTransaction.objects.select_for_update(of=("self",)).filter(
            spend=spend, status__in=IN_FLIGHT
        )
        for row in rows:
            hot_wallets.finish(row, _Status.FAILED, at, Reason.NOTHING_TO_JOIN)
        SpendRecord.objects.filter(pk=spend.pk).update(ended_at=at)


def _undone(wallet: HotWallet) -> "QuerySet[SpendRecord]":
    """Those that were final in a block that the watcher has seen go since."""
    blocks = Block.objects.filter(chain=wallet.chain_id, is_canonical=False)
    head = Head.objects.filter(chain=wallet.chain_id).values_list("number", flat=True).first() or 0
    recent = blocks.filter(number__gt=head - FOLLOWED_TIMES * wallet.chain.required_confirmations)
    hashes = list(recent.values_list("hash", flat=True))
    if not hashes:
        return SpendRecord.objects.none()
    rows = OutgoingTransaction.objects.filter(
        chain=wallet.chain_id, block_hash__in=hashes, status=_Status.CONFIRMED
    )
    ids = rows.exclude(spend=None).values("spend")
    return SpendRecord.objects.filter(pk__in=ids, wallet_address=wallet.address)


def is_due(wallet: HotWallet) -> bool:
    """True if something that was final has to be sent again."""
    return _undone(wallet).exists()


def recheck(wallet: HotWallet, carrier: Carrier, at: datetime) -> None:
    """Sends again what was final and a reorg has undone, as the same bytes, until a block has them;
    a transaction whose place another one has taken is a person's affair. What was booked stays.
    Raises RpcError."""
    for spend in _undone(wallet).order_by("pk")[:SPENDS_MAX]:
        first = CoinPlace(spend.first_tx_hash, spend.first_output)
        hashes = [candidate.tx_hash for candidate in spend.candidates.all()]
        look = carrier.look(hashes, first)
        if look.tx_hash == spend.mined_as:
            OutgoingTransaction.objects.filter(spend=spend, status=_Status.CONFIRMED).update(
                block_number=look.block_number, block_hash=look.block_hash
            )
        elif look.tx_hash or look.is_taken:
            if wallet.halted_at is None:
                taker = look.tx_hash or look.taken_by or "another transaction"
                reason = f"{spend.mined_as} was final and undone, and {taker} has its coin"
                hot_wallets.halt(wallet, reason, at)
                wallet.refresh_from_db()
        else:
            _send_undone(spend, carrier, at)


def _send_undone(spend: SpendRecord, carrier: Carrier, at: datetime) -> None:
    candidate = spend.candidates.get(tx_hash=spend.mined_as)
    if _was_sent_just_now(candidate, at):
        return
    refusal = carrier.send(candidate.raw)
    SpendCandidate.objects.filter(pk=candidate.pk).update(broadcast_at=at)
    log.error(
        "outgoing_undone",
        chain=spend.chain_id,
        spend=spend.pk,
        tx_hash=candidate.tx_hash,
        refusal=refusal,
    )


def _finish(spend: SpendRecord, candidate: SpendCandidate, look: SpendStatus, at: datetime) -> None:
    """Each order bears its part of the fee, and each deposit's coin is a sweep that cost nothing,
    in one commit."""
    plan = unpacked(candidate.plan)
    with transaction.atomic():
        fees = {order.reference: fee for order, fee in zip(plan.orders, plan.fees, strict=True)}
        whole = {_Purpose.JOIN.value: plan.fee_atomic}  # nobody else's
        rows = OutgoingTransaction.objects.select_for_update(of=("self",)).filter(
            spend=spend, status__in=IN_FLIGHT
        )
        for row in rows.order_by("pk"):
            hot_wallets.finish(
                row,
                _Status.CONFIRMED,
                at,
                None,
                tx_hash=look.tx_hash,
                block_number=look.block_number,
                block_hash=look.block_hash,
                network_fee_atomic=whole.get(row.purpose) or fees[str(row.pk)],
                received_atomic=0,
            )
        # What a replacement was to take besides is free again, and no sweep.
        held = {(coin.place.tx_hash, coin.place.output) for coin in plan.coins}
        for coin in spend.coins.all():
            if (coin.tx_hash, coin.output) not in held:
                CoinRecord.objects.filter(pk=coin.pk).update(spend=None)
        # Its own first coin may have had no block when it was taken.
        first = CoinRecord.objects.filter(chain=spend.chain_id, spend=None)
        first.filter(tx_hash=spend.first_tx_hash, output=spend.first_output).update(spend=spend)
        note_sweeps(spend, look, at)
        SpendRecord.objects.filter(pk=spend.pk).update(ended_at=at, mined_as=look.tx_hash)
    failpoint("send.K8")


def note_sweeps(spend: SpendRecord, look: SpendStatus, at: datetime) -> None:
    """The coins of deposit addresses came to the wallet with the spend: for the books a sweep
    each."""
    wallet = HotWallet.objects.get(chain=spend.chain_id, number=0)
    swept = list(spend.coins.filter(is_deposit=True))
    asset_id = spend.orders.values_list("asset_id", flat=True)[:1].get() if swept else ""
    rows = [
        OutgoingTransaction(
            mode=wallet.chain.mode,
            chain_id=spend.chain_id,
            asset_id=asset_id,
            purpose=_Purpose.SWEEP,
            reference=f"{coin.tx_hash}:{coin.output}",
            to_address=wallet.address,
            from_address=coin.address,
            amount_atomic=coin.amount_atomic,
            status=_Status.CONFIRMED,
            spend=spend,
            tx_hash=look.tx_hash,
            block_number=look.block_number,
            block_hash=look.block_hash,
            requested_at=at,
            signed_at=at,
            submitted_at=at,
            finished_at=at,
        )
        for coin in swept
    ]
    OutgoingTransaction.objects.bulk_create(rows, ignore_conflicts=True)
    for coin in swept:
        Deposit.objects.filter(
            chain=spend.chain_id, tx_hash=coin.tx_hash, log_index=coin.output
        ).update(is_unswept=False, left_atomic=0)
    if rows:
        hot_wallets.wake(rows[0])


def _doubt(spend: SpendRecord, wallet: HotWallet, newest_final: int, at: datetime) -> None:
    """Its first coin is gone, by no bytes of ours: once that is buried, a person has to look, and
    nothing more leaves until then."""
    coin = CoinRecord.objects.filter(
        chain=spend.chain_id, tx_hash=spend.first_tx_hash, output=spend.first_output
    ).first()
    if coin is None or coin.spent_number is None or coin.spent_number > newest_final:
        return
    if spend.candidates.filter(tx_hash=coin.spent_by).exists():
        return  # it is ours, and the node is late
    with transaction.atomic():
        rows = OutgoingTransaction.objects.select_for_update(of=("self",)).filter(
            spend=spend, status__in=IN_FLIGHT
        )
        for row in rows.order_by("pk"):
            hot_wallets.finish(row, _Status.REVIEW, at, Reason.COIN_TAKEN)
        SpendRecord.objects.filter(pk=spend.pk).update(ended_at=at)
        # None of its bytes can be mined any more: its other coins are free.
        CoinRecord.objects.filter(spend=spend, spent_by="").update(spend=None)
        hot_wallets.halt(wallet, f"{coin.spent_by} has spent a coin of ours, and isn't ours", at)
