"""A person has found the transaction that paid an order in review, on a network with coins: a block
has it for good, it spends coins of ours alone, and it pays exactly what was asked for."""

from datetime import datetime

from django.db import transaction

from apps.chain.models import (
    CoinRecord,
    Head,
    HotWallet,
    OutgoingTransaction,
    SpendCandidate,
    SpendRecord,
)
from apps.chain.networks.base import Coin, MinedTransaction, Order, SpendPlan
from apps.chain.networks.coins import builder_of, carrier_of
from apps.chain.networks.finality import final_number
from apps.chain.providers.base import Nodes
from apps.chain.reasons import because
from apps.chain.sending import coin_sender, hot_wallets
from apps.chain.sending.hot_wallets import ResolutionRefused
from apps.chain.sending.plans import packed, unpacked

_Status = OutgoingTransaction.Status


def resolve_as_sent(row: OutgoingTransaction, tx_hash: str, nodes: Nodes, at: datetime) -> None:
    """Confirm it with its part of the fee. Raises ResolutionRefused and RpcError."""
    found = carrier_of(row.chain, nodes).found(tx_hash)
    head = Head.objects.filter(chain=row.chain_id).values_list("number", flat=True).first()
    if found is None or head is None or found.look.block_number > final_number(row.chain, head):
        raise ResolutionRefused("No block has it, or not for long enough: try again later")
    with transaction.atomic():
        [wallet] = hot_wallets.locked(row.chain).values()
        spend = _spend_of(wallet, tx_hash, found, at)
        plan = unpacked(spend.candidates.get(tx_hash=tx_hash).plan)
        fee_atomic = _fee_of(row, tx_hash, plan)
        hot_wallets.leave_review(
            row,
            _Status.CONFIRMED,
            at,
            spend=spend,
            from_address=wallet.address,
            tx_hash=tx_hash,
            block_number=found.look.block_number,
            block_hash=found.look.block_hash,
            network_fee_atomic=fee_atomic,
            submitted_at=at,
            finished_at=at,
            **because(None),
        )
        coin_sender.note_sweeps(spend, found.look, at)
        hot_wallets.wake(row)


def _fee_of(row: OutgoingTransaction, tx_hash: str, plan: SpendPlan) -> int:
    """Of the first output that pays it and that no other order has."""
    asked = (row.to_address, int(row.amount_atomic))
    fees = [
        fee
        for order, fee in zip(plan.orders, plan.fees, strict=True)
        if (order.address, order.amount_atomic) == asked
    ]
    others = OutgoingTransaction.objects.filter(
        chain=row.chain_id, tx_hash=tx_hash, to_address=asked[0], amount_atomic=asked[1]
    ).exclude(pk=row.pk)
    taken = others.filter(status=_Status.CONFIRMED).count()
    if not fees:
        raise ResolutionRefused("That transaction pays something else")
    if taken >= len(fees):
        raise ResolutionRefused("That transaction belongs to another record")
    return fees[taken]


def _spend_of(
    wallet: HotWallet, tx_hash: str, found: MinedTransaction, at: datetime
) -> SpendRecord:
    """Its record, made once: several orders may have been paid by it."""
    known = SpendCandidate.objects.filter(tx_hash=tx_hash).select_related("spend").first()
    if known is not None:
        if known.spend.mined_as != tx_hash:
            raise ResolutionRefused("It is followed already: wait for its end")
        return known.spend
    rows = CoinRecord.objects.filter(chain=wallet.chain_id, spent_by=tx_hash)
    coins = {(row.tx_hash, row.output): row for row in rows}
    places = [(place.tx_hash, place.output) for place in found.places]
    if set(places) != set(coins) or not all(address for address, _ in found.outputs):
        raise ResolutionRefused("It takes coins that the watcher hasn’t seen it take from us")
    taken = tuple(
        Coin(place, coin.address, int(coin.amount_atomic))
        for place in found.places
        if (coin := coins[place.tx_hash, place.output])
    )
    plan = _plan(wallet, taken, found)
    first = found.places[0]
    spend = SpendRecord.objects.create(
        chain=wallet.chain,
        wallet_address=wallet.address,
        first_tx_hash=first.tx_hash,
        first_output=first.output,
        created_at=at,
        ended_at=at,
        mined_as=tx_hash,
    )
    SpendCandidate.objects.create(
        spend=spend,
        tx_hash=tx_hash,
        raw=found.raw,
        plan=packed(plan),
        fee_atomic=plan.fee_atomic,
        signed_at=at,
        broadcast_at=at,
    )
    rows.update(spend=spend)
    return spend


def _plan(wallet: HotWallet, coins: tuple[Coin, ...], found: MinedTransaction) -> SpendPlan:
    """Plan whose coins come back to the wallet as change."""
    orders = tuple(
        Order("", address, amount) for address, amount in found.outputs if address != wallet.address
    )
    paid = sum(amount for _, amount in found.outputs)
    fee_atomic = sum(coin.amount_atomic for coin in coins) - paid
    fees = builder_of(wallet.chain).shares(fee_atomic, [order.address for order in orders])
    return SpendPlan(
        coins,
        orders,
        wallet.address,
        paid - sum(order.amount_atomic for order in orders),
        fee_atomic,
        found.size,
        tuple(fees),
    )
