"""What the network asks for a payout: in the chain's own coin, and as a part of the amount when the store bears it."""

from contextlib import closing

from django.conf import settings

from apps.assets.models import Asset
from apps.assets.selectors import current_rate, native_asset_id
from apps.chain.balances import NATIVE_GAS, TOKEN_GAS
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.core import clock, money


def fee_for_store(asset: Asset) -> int | None:
    """The network's fee of a transfer at today's price, in units of the asset; None when nobody can say. Not inside a transaction."""
    gas = _gas_atomic(asset)
    if gas is None or asset.is_native:
        return gas
    at = clock.real_now()
    native = Asset.objects.get(pk=native_asset_id(asset))
    native_rate, rate = (current_rate(one.pk, "USD", at) for one in (native, asset))
    if native_rate is None or rate is None:
        return None
    return money.exchanged(gas, native_rate.rate, native.atomic_decimals, rate.rate, asset.atomic_decimals, 0)


def _gas_atomic(asset: Asset) -> int | None:
    if not settings.CHAIN_URLS.get(asset.chain_id):
        return None
    with closing(nodes_of(asset.chain)) as nodes:
        try:
            price = int(nodes.call("eth_gasPrice", []), 16)
        except RpcError:
            return None
    return price * (NATIVE_GAS if asset.is_native else TOKEN_GAS)
