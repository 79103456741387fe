"""Forwarders of a merchant's that hold coins of an asset now, as a node says: what one call to the
factory would pass on."""

from contextlib import closing
from dataclasses import dataclass

from apps.assets.models import Asset
from apps.chain.models import Deposit, OwnWallet
from apps.chain.networks.evm import forwarders
from apps.chain.networks.families import shown_address
from apps.chain.nodes import nodes_of
from apps.chain.own.wallets import BITS
from apps.chain.watching.holdings import holders_now

LOOKED_AT_MAX = 500
PATIENCE_SECONDS = 3.0  # somebody waits for the page


@dataclass(frozen=True)
class FlushCall:
    """A transaction that anybody may send; `count` forwarders are in it, and `is_all` when these
    are all that hold something, as far as was looked."""

    to: str
    data: str
    wallet_request: dict[str, str]
    count: int
    is_all: bool


def flush_call(wallet: OwnWallet, asset: Asset) -> FlushCall | None:
    """None where nothing waits. Raises RpcError. Not inside a transaction."""
    first = wallet.number << BITS
    rows = (
        Deposit.objects.filter(
            asset=asset,
            is_simulated=False,
            address__purpose="own",
            address__mode=wallet.mode,
            address__index__gte=first,
            address__index__lt=first + (1 << BITS),
        )
        .exclude(status=Deposit.Status.FAILED)
        .order_by("-detected_at")
        .values_list("address_id", "address__index")[:LOOKED_AT_MAX]
    )
    indexes = dict(rows)
    if not indexes:
        return None
    with closing(nodes_of(asset.chain, patience_seconds=PATIENCE_SECONDS)) as nodes:
        holders = holders_now(nodes, dict.fromkeys(indexes, asset))
    if not holders:
        return None
    chosen = sorted(indexes[address] for address in holders)[: forwarders.FLUSH_MAX]
    contract = asset.contract_address or ""
    to, data = forwarders.flush_call(wallet.content, chosen, contract)
    request = {"chainId": hex(asset.chain.chain_id), "to": to, "value": "0x0", "data": data}
    return FlushCall(shown_address(to), data, request, len(chosen), len(chosen) == len(holders))
