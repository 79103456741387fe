"""Tokens whose transfers a payer can sign (EIP-3009): those whose EIP-712 domain we know, and in
test mode simulated ones, which represent the coins of test networks and which no chain knows.

An asset that was made signable here has the domain of its token, and is never saved.
"""

import copy
import uuid

from apps.access.access import Access
from apps.assets.lowest_prices import refused_now
from apps.assets.models import Asset, NetworkFamily
from apps.assets.selectors import accepted_assets
from apps.chain.own.choices import own_assets
from apps.chain.selectors import is_watched
from apps.chain.sending import permits
from apps.core import clock
from apps.core.models import Mode

# Of the simulated token on each test network. Nobody has its key or its code: "test", ten times.
SIMULATED_TOKEN = "0x" + "7e57" * 10
SIMULATED_NAME = "Simulated {symbol}"
SIMULATED_VERSION = "1"


def signable(asset: Asset) -> Asset | None:
    """The asset with the domain that payers sign under; None when nobody can sign transfers of
    it."""
    if asset.contract_address and asset.eip712_name and asset.eip712_version:
        return asset
    if not (
        asset.is_native and asset.mode == Mode.TEST and asset.chain.family == NetworkFamily.EVM
    ):
        return None
    simulated = copy.copy(asset)
    simulated.contract_address = SIMULATED_TOKEN
    simulated.eip712_name = SIMULATED_NAME.format(symbol=asset.coin_symbol)
    simulated.eip712_version = SIMULATED_VERSION
    return simulated


def signable_at_checkout(asset: Asset) -> Asset | None:
    """The asset as `signable` gives it, on the page of a payment: there a token without
    authorizations can be paid by way of Permit2."""
    return asset if permits.is_for(asset) else signable(asset)


def is_simulated(asset: Asset) -> bool:
    """True if a settlement moves nothing on a chain."""
    return asset.contract_address == SIMULATED_TOKEN


def offered_tokens(access: Access) -> list[Asset]:
    """Assets that the store takes over x402 at their present price, as payers sign them."""
    left_out = own_assets(access) | refused_now(access.store_id, access.mode, clock.real_now())
    return [
        token
        for token in accepted_tokens(access.store_id, access.mode)
        if token.pk not in left_out and (is_simulated(token) or is_watched(token.chain_id))
    ]


def accepted_tokens(store_id: uuid.UUID, mode: str) -> list[Asset]:
    """The accepted assets of a store that payers can sign."""
    tokens = map(signable, accepted_assets(store_id, mode))
    return [token for token in tokens if token is not None]
