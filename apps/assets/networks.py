"""What is publicly known of the networks that customers pay on: facts of the networks, not of this
service's nodes.

A network that isn't here, a local one above all, has no known pace, and no wallet is told how to
add it.
"""

from dataclasses import dataclass

# Coins that keep to the price of a dollar: what a customer pays with knows no weather.
STABLECOINS = ("USDC", "USDT")


@dataclass(frozen=True)
class Network:
    """The usual time between two blocks, a public node for wallets that don't have the network yet,
    and the coin of its fees."""

    block_milliseconds: int
    rpc_url: str
    coin_symbol: str


_NETWORKS = {
    1: Network(12_000, "", "ETH"),
    11155111: Network(12_000, "https://ethereum-sepolia-rpc.publicnode.com", "ETH"),
    137: Network(2_000, "https://polygon-rpc.com", "POL"),
    8453: Network(2_000, "https://mainnet.base.org", "ETH"),
    42161: Network(250, "https://arb1.arbitrum.io/rpc", "ETH"),
}


def network_of(chain_id: int) -> Network | None:
    return _NETWORKS.get(chain_id)
