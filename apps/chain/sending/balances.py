"""A hot wallet's balances, and the part promised to transactions that are signed and not yet
mined."""

from dataclasses import dataclass

from django.db.models import Count, ExpressionWrapper, F, Sum

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction, SignedTransaction
from apps.chain.providers.base import Call, Nodes
from apps.chain.sending.fee_coins import fee_coin, unit_wei
from apps.chain.sending.transfer_gas import transfer_gas
from apps.chain.states import IN_FLIGHT, TAKES_NO_TOKENS
from apps.core.models import AtomicField


@dataclass(frozen=True)
class CommittedAmounts:
    """`fee_wei` holds amounts of the coin that pays fees and the most that gas can cost;
    `tokens_atomic` is by asset, and `count` of transactions."""

    fee_wei: int
    tokens_atomic: dict[str, int]
    count: int = 0


def promised(chain_id: str, holder: str, nonce: int) -> CommittedAmounts:
    """Amounts that a holder's transactions from `nonce` on (the chain's count of mined ones) will
    take."""
    ahead = OutgoingTransaction.objects.filter(
        chain=chain_id, from_address=holder, status__in=IN_FLIGHT, nonce__gte=nonce
    )
    most = ExpressionWrapper(
        F("max_fee_wei") * F("outgoing__gas_limit"), output_field=AtomicField()
    )
    newest = SignedTransaction.objects.filter(
        outgoing__in=ahead, outgoing__tx_hash=F("tx_hash"), outgoing__gas_limit__isnull=False
    )
    gas = newest.aggregate(wei=Sum(most, output_field=AtomicField()), count=Count("pk"))
    taking = ahead.exclude(purpose__in=TAKES_NO_TOKENS)
    by_asset = {
        asset: int(amount)
        for asset, amount in taking.values_list("asset").annotate(Sum("amount_atomic"))
    }
    paying = Asset.objects.filter(pk__in=by_asset, pays_fees=True)
    units = {asset.pk: unit_wei(asset) for asset in paying}
    return CommittedAmounts(
        int(gas["wei"] or 0) + sum(by_asset[asset] * unit for asset, unit in units.items()),
        {asset: amount for asset, amount in by_asset.items() if asset not in units},
        gas["count"],
    )


def call_for_token(asset: Asset, holder: str) -> Call:
    return "eth_call", [
        {"to": asset.contract_address, "data": f"0x70a08231{holder[2:]:0>64}"},
        "latest",
    ]


def read_tokens(answer: object) -> int:
    """A holder's tokens; none when there is no such contract."""
    return int(str(answer), 16) if answer not in ("0x", None) else 0


def of_token(asset: Asset, holder: str, nodes: Nodes) -> int:
    return read_tokens(nodes.call(*call_for_token(asset, holder)))


def can_afford(asset: Asset, holder: str, amount_atomic: int, nodes: Nodes) -> bool:
    """True if the amount and its gas at twice today's price are there and not promised. Raises
    RpcError."""
    return amount_atomic <= free(asset, holder, nodes)


def free(asset: Asset, holder: str, nodes: Nodes) -> int:
    """Amount that can be sent now besides a transfer's gas at twice today's price; -1 without
    enough for the gas. Raises RpcError."""
    coin = fee_coin(asset.chain)
    calls: list[Call] = [
        ("eth_getTransactionCount", [holder, "latest"]),
        coin.call(holder),
        ("eth_gasPrice", []),
    ]
    count, held, told = nodes.batch(calls)
    nonce, price = int(count, 16), int(told, 16)
    transfer = transfer_gas(asset.chain, nodes)
    commitments = promised(asset.chain_id, holder, nonce)
    gas = 2 * price * transfer.of(is_native=asset.is_native)
    beside = (commitments.count + 1) * transfer.beside_wei
    remainder = coin.wei(held) - commitments.fee_wei - gas - beside
    if asset.pays_fees or remainder < 0:
        return max(remainder // unit_wei(asset) if asset.pays_fees else remainder, -1)
    return of_token(asset, holder, nodes) - commitments.tokens_atomic.get(asset.pk, 0)
