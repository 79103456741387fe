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

from apps.assets.networks import STEADY_COINS
from apps.chain.networks.families import links_of
from apps.core import money
from apps.payments.documents.checkout import CheckoutAddress, CheckoutFacts
from apps.payments.selectors import Received

_LONG = 24 * 3600 * 1000


@dataclass(frozen=True)
class WayToPay:
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
        """Seconds of waiting in fives, for what is over in less than a minute."""
        return 0 if self.wait_minutes else math.ceil(self.wait_milliseconds / 5_000) * 5


def ways_of(facts: CheckoutFacts, received: list[Received]) -> list[WayToPay]:
    """Of the document's addresses, which were made from these."""
    ways = [
        _way(address, intake)
        for address, intake in zip(facts.payment_addresses, received, strict=True)
    ]
    return sorted(ways, key=lambda way: (not way.is_stable, way.wait_milliseconds or _LONG))


def grouped(ways: list[WayToPay]) -> list[tuple[bool, list[WayToPay]]]:
    """(whether they are stablecoins, those ways), as they are in a list with a heading each."""
    return [
        (is_stable, list(group))
        for is_stable, group in groupby(ways, key=lambda way: way.is_stable)
    ]


def _way(address: CheckoutAddress, intake: Received) -> WayToPay:
    chain = intake.address.asset.chain
    return WayToPay(
        address=address,
        rate=money.short_rate(intake.address.exchange_rate),
        is_stable=address.asset.coin_symbol in STEADY_COINS,
        wait_milliseconds=0
        if chain.is_local
        else chain.block_milliseconds * address.required_confirmations,
        transaction=_transaction(address, intake),
        network=_network(intake),
    )


def _transaction(address: CheckoutAddress, intake: Received) -> str:
    """The only transaction that a wallet is asked to sign: what is still due, to this address, on
    this network."""
    asset = intake.address.asset
    amount_atomic = int(address.outstanding_atomic)
    return _compact(links_of(asset).wallet_request(asset, intake.address.address_id, amount_atomic))


def _compact(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, separators=(",", ":")) if fields else ""


def _network(intake: Received) -> str:
    """Network as a wallet is asked to add it (EIP-3085)."""
    asset = intake.address.asset
    return _compact(links_of(asset).wallet_network(asset))
