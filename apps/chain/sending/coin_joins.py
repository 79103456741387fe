"""Coins of the hot wallet that go back to it: the change of a transaction that is stuck, with a fee
for both (CPFP), and many small ones made one while fees are low.

A worker asks for either, and the signer makes the same plan again. What nothing helps is reported
(`spend_stuck`).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import QuerySet

from apps.assets.models import Asset, Chain, TokenStandard
from apps.chain.models import HotWallet, OutgoingTransaction, SpendCandidate, SpendRecord
from apps.chain.networks.base import Builder, CoinsShort, Rates, RateTooHigh, SpendPlan
from apps.chain.networks.coins import builder_of, carrier_of
from apps.chain.providers.base import Nodes
from apps.chain.sending import coin_purse, sender
from apps.chain.sending.plans import unpacked
from apps.chain.states import IN_FLIGHT, UNMINED
from apps.core.rows import Job

log = structlog.get_logger(__name__)
# A block may take a while to come; a higher fee before that is paid in vain.
PATIENCE = timedelta(minutes=30)
# Nodes take chains of 25 transactions that wait; each lift costs a fee.
LIFTS_MAX = 4
# So many coins make every spend dear that takes small ones; the largest stay for what is asked for
# meanwhile.
JOINED_FROM = 50
KEPT = 10
JOB = Job("chain.join_coins", limit=200, in_transaction=False)
_Purpose = OutgoingTransaction.Purpose
_Status = OutgoingTransaction.Status
_LIFT = "lift"


def patience() -> timedelta:
    return max(PATIENCE, timedelta(seconds=settings.SIGNER_STUCK_SECONDS))


def ask_due(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """Ask for the lifts and the joining that are due. Raises RpcError."""
    stuck = _stuck(wallet, at)
    coins = coin_purse.spendable(wallet.chain).count()
    if not stuck and coins < JOINED_FROM:
        return
    rates = carrier_of(wallet.chain, nodes).rates()
    builder = builder_of(wallet.chain)
    ids = [spend.pk for spend in stuck]
    JOB.walk(SpendRecord.objects.filter(pk__in=ids), lambda spend: _lift(spend, wallet, rates, at))
    waiting = OutgoingTransaction.objects.filter(chain=wallet.chain_id, status=_Status.REQUESTED)
    if coins >= JOINED_FROM and not waiting.exists() and not _open(wallet).exists():
        number = OutgoingTransaction.objects.filter(
            chain=wallet.chain_id, purpose=_Purpose.JOIN
        ).count()
        reference = f"{wallet.chain_id}:{number}"
        try:
            _ask(wallet, reference, plan_of(reference, wallet, builder, rates), at)
        except (CoinsShort, RateTooHigh):
            return


def plan_of(reference: str, wallet: HotWallet, builder: Builder, rates: Rates) -> SpendPlan:
    """Plan of a joining as of now. Raises CoinsShort where there is nothing to do any more, and
    RateTooHigh."""
    kind, _, rest = reference.partition(":")
    if kind != _LIFT:
        coins = coin_purse.coins_of(coin_purse.spendable(wallet.chain))
        return builder.consolidate(coins[KEPT:], rates, wallet.address)
    candidate = SpendCandidate.objects.filter(
        tx_hash=rest.partition(":")[0],
        spend__chain=wallet.chain_id,
        spend__ended_at=None,
        broadcast_at__isnull=False,
    ).first()
    if candidate is None or _children([candidate]).exists():
        raise CoinsShort(0)
    plan = unpacked(candidate.plan)
    if not plan.change_atomic or plan.change_address != wallet.address:
        raise CoinsShort(0)
    waiting = [candidate, *_before(candidate.spend)]
    plans = [unpacked(each.plan) for each in waiting]
    # What it is said to weigh and to pay decides what lifting it costs, and others than the signer
    # may write such records: its bytes say the same, or it isn't lifted.
    are_true = (
        builder.is_told(each, row.tx_hash, row.raw)
        for each, row in zip(plans, waiting, strict=True)
    )
    if len(waiting) > LIFTS_MAX or not all(are_true):
        raise CoinsShort(0)
    return builder.lift(plans, candidate.tx_hash, rates)


def is_lifted(spend: SpendRecord) -> bool:
    """Tells whether another transaction of ours that waits takes its change: then nothing may take
    its place."""
    return _children(list(spend.candidates.all())).exists()


def _children(candidates: Sequence[SpendCandidate]) -> "QuerySet[SpendRecord]":
    hashes = [candidate.tx_hash for candidate in candidates]
    return SpendRecord.objects.filter(first_tx_hash__in=hashes, ended_at=None)


def _before(spend: SpendRecord) -> list[SpendCandidate]:
    """The transactions that wait before it."""
    found: list[SpendCandidate] = []
    while len(found) < LIFTS_MAX:
        parent = SpendCandidate.objects.filter(
            tx_hash=spend.first_tx_hash, spend__ended_at=None
        ).first()
        if parent is None:
            break
        found.append(parent)
        spend = parent.spend
    return found


def _open(wallet: HotWallet) -> "QuerySet[OutgoingTransaction]":
    return OutgoingTransaction.objects.filter(
        chain=wallet.chain_id, purpose=_Purpose.JOIN, status__in=(*UNMINED, _Status.REVIEW)
    )


def _stuck(wallet: HotWallet, at: datetime) -> list[SpendRecord]:
    """Transactions that wait for too long and weren't replaced: nodes have refused that, or the
    signer can't. Joined coins may wait while nothing else waits for them."""
    rows = SpendRecord.objects.filter(
        chain=wallet.chain_id,
        wallet_address=wallet.address,
        ended_at=None,
        orders__status__in=IN_FLIGHT,
    )
    oldest = list(rows.order_by("pk").distinct()[: JOB.limit])
    return [spend for spend in oldest if _is_stuck(spend, wallet, at) and not is_lifted(spend)]


def _is_stuck(spend: SpendRecord, wallet: HotWallet, at: datetime) -> bool:
    newest, sent = spend.candidates.last(), _sent(spend)
    if newest is None or sent is None:
        return False
    joining = spend.orders.filter(purpose=_Purpose.JOIN).first()
    if joining is None:
        # The signer has had its turn to replace it.
        return _is_refused(newest, sent) or newest.signed_at <= at - 2 * patience()
    is_wanted = joining.reference.startswith(_LIFT) or wallet.short_since is not None
    return is_wanted and newest.signed_at <= at - patience()


def _is_refused(newest: SpendCandidate, sent: SpendCandidate) -> bool:
    """Tells whether nodes were sent the bytes before the newest ones again, since they don't take
    these."""
    return (
        newest.broadcast_at is None
        and sent.broadcast_at is not None
        and sent.broadcast_at > newest.signed_at
    )


def _sent(spend: SpendRecord) -> SpendCandidate | None:
    return spend.candidates.filter(broadcast_at__isnull=False).order_by("broadcast_at").last()


def _lift(spend: SpendRecord, wallet: HotWallet, rates: Rates, at: datetime) -> None:
    sent = _sent(spend)
    if sent is None:
        return
    asked = OutgoingTransaction.objects.filter(
        purpose=_Purpose.JOIN, reference__startswith=f"{_LIFT}:{sent.tx_hash}:"
    )
    if asked.filter(status__in=(*UNMINED, _Status.REVIEW)).exists():
        return
    reference = f"{_LIFT}:{sent.tx_hash}:{asked.count()}"
    try:
        plan = plan_of(reference, wallet, builder_of(wallet.chain), rates)
    except (CoinsShort, RateTooHigh):
        log.error("spend_stuck", spend=spend.pk, chain=spend.chain_id, tx_hash=sent.tx_hash)
        return
    _ask(wallet, reference, plan, at)


def _ask(wallet: HotWallet, reference: str, plan: SpendPlan, at: datetime) -> None:
    sender.request(
        chain_id=wallet.chain_id,
        asset_id=_coin_of(wallet.chain),
        to=wallet.address,
        amount_atomic=sum(coin.amount_atomic for coin in plan.coins),
        purpose=_Purpose.JOIN,
        reference=reference,
        mode=wallet.chain.mode,
        at=at,
    )


def _coin_of(chain: Chain) -> str:
    return Asset.objects.get(chain=chain, token_standard=TokenStandard.NATIVE).pk
