"""What a transfer costs on a chain at today's price of gas: remembered for a few seconds, so that a
request asks no node."""

import time
from contextlib import closing

from django.conf import settings

from apps.assets.models import Asset, Chain
from apps.assets.selectors import native_asset_id, price_of
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending.balances import NATIVE_GAS, TOKEN_GAS
from apps.core import clock
from apps.core.money import Amount, exchanged

FRESH_SECONDS = 15.0
KNOWN_SECONDS = 300.0
# By chain: when it was asked, and what it said; a node that didn't answer isn't asked again at
# once.
_prices: dict[str, tuple[float, int | None]] = {}


def look(chain: Chain) -> int | None:
    """The price of gas in wei; None when nobody can say. Not inside a transaction."""
    if not settings.CHAIN_URLS.get(chain.pk):
        return None
    asked_at, price = _prices.get(chain.pk, (float("-inf"), None))
    if time.monotonic() - asked_at < FRESH_SECONDS:
        return price
    with closing(nodes_of(chain)) as nodes:
        try:
            price = int(nodes.call("eth_gasPrice", []), 16)
        except RpcError:
            price = None
    _prices[chain.pk] = time.monotonic(), price
    return price


def remember(mode: str) -> None:
    """Hear the price on each chain of a mode that is read. Not inside a transaction."""
    for chain in Chain.objects.filter(
        mode=mode, pk__in=[chain_id for chain_id, urls in settings.CHAIN_URLS.items() if urls]
    ):
        look(chain)


def fee(asset: Asset) -> int | None:
    """What a transfer costs in units of the asset; None when nobody can say. Not inside a
    transaction."""
    return _in_units(asset, look(asset.chain))


def known_fee(asset: Asset) -> int | None:
    """The same by the last price that was heard in a while: nobody is asked, so it may be called
    anywhere."""
    asked_at, price = _prices.get(asset.chain_id, (float("-inf"), None))
    return _in_units(asset, price) if time.monotonic() - asked_at < KNOWN_SECONDS else None


def _in_units(asset: Asset, price: int | None) -> int | None:
    if price is None:
        return None
    if asset.is_native:
        return price * NATIVE_GAS
    at = clock.real_now()
    native = Asset.objects.get(pk=native_asset_id(asset))
    paid = price_of(native, "USD", at)
    asset_price = price_of(asset, "USD", at)
    if paid is None or asset_price is None:
        return None
    return exchanged(Amount(native, price * TOKEN_GAS), paid, asset_price).atomic
