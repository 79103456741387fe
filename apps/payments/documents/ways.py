"""The ways to pay an intent as its page shows them: steady coins first, and among those the network
that confirms first.

The API tells them in the order in which they were made. What a wallet is to send is made here,
never in the page.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from apps.assets.networks import STABLECOINS, network_of
from apps.chain.addresses import checksummed
from apps.chain.sending.calls import transfer
from apps.core import money
from apps.payments.documents.checkout import CheckoutAddress, CheckoutFacts
from apps.payments.selectors import Received

_LONG = 24 * 3600 * 1000


@dataclass(frozen=True)
class Way:
    """One coin on one network. `transaction` and `network` are what a wallet is asked for, as JSON;
    empty where none can be."""

    address: CheckoutAddress
    rate: str  # what one coin is worth in the currency of the settlement
    is_stable: bool
    wait_milliseconds: (
        int  # from the block with the payment to its last confirmation; 0 when nobody knows
    )
    transaction: str
    network: str

    @property
    def asset_id(self) -> str:
        return self.address.asset.asset_id

    @property
    def wait_minutes(self) -> int:
        """Rounded up; 0 for what is over in less than one."""
        return math.ceil(self.wait_milliseconds / 60_000) if self.wait_milliseconds >= 60_000 else 0

    @property
    def wait_seconds(self) -> int:
        """The same in fives of seconds, for what is over in less than a minute."""
        return 0 if self.wait_minutes else math.ceil(self.wait_milliseconds / 5_000) * 5


def ways_of(facts: CheckoutFacts, received: list[Received]) -> list[Way]:
    """Of the document's addresses, which were made from these."""
    ways = [
        _way(address, intake)
        for address, intake in zip(facts.payment_addresses, received, strict=True)
    ]
    return sorted(ways, key=lambda way: (not way.is_stable, way.wait_milliseconds or _LONG))


def grouped(ways: list[Way]) -> list[tuple[bool, list[Way]]]:
    """(whether they are stablecoins, those ways), as they stand in a list with a heading each."""
    return [
        (is_stable, list(group))
        for is_stable, group in groupby(ways, key=lambda way: way.is_stable)
    ]


def _way(address: CheckoutAddress, intake: Received) -> Way:
    network = network_of(address.asset.chain_id)
    return Way(
        address=address,
        rate=money.short_rate(intake.address.exchange_rate),
        is_stable=address.asset.coin_symbol in STABLECOINS,
        wait_milliseconds=network.block_milliseconds * address.required_confirmations
        if network
        else 0,
        transaction=_transaction(address, intake),
        network=_network(address, intake),
    )


def _transaction(address: CheckoutAddress, intake: Received) -> str:
    """The only transaction that a wallet is asked to sign: what is still due, to this address, on
    this network."""
    asset = intake.address.asset
    amount_atomic = int(address.outstanding_atomic)
    if not amount_atomic or not (asset.is_native or asset.contract_address):
        return ""
    to, value, data = transfer(asset, address.address, amount_atomic)
    fields = {
        "chainId": hex(asset.chain.chain_id),
        "to": checksummed(to),
        "value": hex(value),
        "data": data,
    }
    return _compact(fields | {"amount": hex(amount_atomic)})


def _compact(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, separators=(",", ":"))


def _network(address: CheckoutAddress, intake: Received) -> str:
    """What a wallet that doesn't know the network is asked to add (EIP-3085)."""
    chain = intake.address.asset.chain
    network = network_of(address.asset.chain_id)
    if network is None or not network.rpc_url:
        return ""  # every wallet has Ethereum
    coin = {"name": network.coin_symbol, "symbol": network.coin_symbol, "decimals": 18}
    added = {
        "chainId": hex(chain.chain_id),
        "chainName": chain.name,
        "nativeCurrency": coin,
        "rpcUrls": [network.rpc_url],
    }
    return _compact(
        added | ({"blockExplorerUrls": [chain.explorer_url]} if chain.explorer_url else {})
    )
