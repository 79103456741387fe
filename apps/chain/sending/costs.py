"""Cost of a transfer on a chain at today's price of gas: remembered for a few seconds, so that a
request asks no node."""

import time
from contextlib import closing
from dataclasses import dataclass

from django.conf import settings

from apps.assets.models import Asset, Chain
from apps.assets.selectors import fee_asset_id, price_of
from apps.chain.networks.coins import builder_of, carrier_of
from apps.chain.networks.families import addresses_of, has_coins
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.sending.fee_coins import units
from apps.chain.sending.transfer_gas import TransferGas, transfer_gas
from apps.core import clock
from apps.core.money import Amount, exchanged

FRESH_SECONDS = 15.0
KNOWN_SECONDS = 300.0


@dataclass(frozen=True)
class GasPrice:
    """The price of gas, and how much of it transfers take; with coins, the fee that one order
    bears."""

    wei: int
    gas: TransferGas

    def cost(self, *, is_native: bool) -> int:
        """Of a transfer, in wei."""
        return self.wei * self.gas.of(is_native=is_native) + self.gas.beside_wei


# By chain: when it was asked, and what it said; a node that didn't answer isn't asked again at
# once.
_prices: dict[str, tuple[float, GasPrice | None]] = {}


def look(chain: Chain) -> GasPrice | None:
    """None when nobody can say. Not inside a transaction."""
    if not settings.CHAIN_URLS.get(chain.pk):
        return None
    asked_at, price = _prices.get(chain.pk, (float("-inf"), None))
    if time.monotonic() - asked_at < FRESH_SECONDS:
        return price
    with closing(nodes_of(chain)) as nodes:
        try:
            if has_coins(chain):
                price = _of_coins(chain, nodes)
            else:
                wei = int(nodes.call("eth_gasPrice", []), 16)
                price = GasPrice(wei, transfer_gas(chain, nodes))
        except RpcError:
            price = None
    _prices[chain.pk] = time.monotonic(), price
    return price


def _of_coins(chain: Chain, nodes: Nodes) -> GasPrice | None:
    """Part of a transaction's fee that one order to a usual address bears."""
    rates = carrier_of(chain, nodes).rates()
    if rates.now > rates.ceiling:
        return None
    [part] = builder_of(chain).estimate([addresses_of(chain).example], rates)
    return GasPrice(part, TransferGas())


def remember(mode: str) -> None:
    """Hear the price on each chain of a mode that is read. Not inside a transaction."""
    for chain in Chain.objects.filter(
        mode=mode, pk__in=[chain_id for chain_id, urls in settings.CHAIN_URLS.items() if urls]
    ):
        look(chain)


def fee(asset: Asset) -> int | None:
    """Cost of a transfer in units of the asset; None when nobody can say. Not inside a
    transaction."""
    return _in_units(asset, look(asset.chain))


def of_a_token(asset: Asset) -> int | None:
    """The cost of a transfer of tokens, in the coin that the network takes fees in."""
    price = look(asset.chain)
    return None if price is None else units(_paying(asset), price.cost(is_native=False))


def known_fee(asset: Asset) -> int | None:
    """Cost of a transfer at the last known price: no node is asked, so it may be called
    anywhere."""
    asked_at, price = _prices.get(asset.chain_id, (float("-inf"), None))
    return _in_units(asset, price) if time.monotonic() - asked_at < KNOWN_SECONDS else None


def _in_units(asset: Asset, price: GasPrice | None) -> int | None:
    if price is None:
        return None
    if has_coins(asset.chain):
        return price.wei
    paying = _paying(asset)
    return worth_of_gas(asset, units(paying, price.cost(is_native=asset.is_native)))


def worth_of_gas(asset: Asset, paid_atomic: int) -> int | None:
    """So much of the coin that its network takes fees in, in units of the asset at today's prices;
    None when there is no price."""
    if asset.pays_fees:
        return paid_atomic
    at = clock.real_now()
    paying = _paying(asset)
    paid = price_of(paying, "USD", at)
    asset_price = price_of(asset, "USD", at)
    if paid is None or asset_price is None:
        return None
    return exchanged(Amount(paying, paid_atomic), paid, asset_price).atomic


def _paying(asset: Asset) -> Asset:
    return asset if asset.pays_fees else Asset.objects.get(pk=fee_asset_id(asset))
