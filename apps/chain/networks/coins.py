"""Builders and carriers of transactions on networks with coins: the signer loads the one, the
sender the other."""

from apps.assets.models import Chain
from apps.chain.networks.base import Builder, Carrier
from apps.chain.networks.bitcoin.parameters import parameters_of
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes


def builder_of(chain: Chain) -> Builder:
    from apps.chain.networks.bitcoin.builder import BitcoinBuilder

    return BitcoinBuilder(parameters_of(chain.chain_id))


def carrier_of(chain: Chain, nodes: Nodes | None = None) -> Carrier:
    from apps.chain.networks.bitcoin.carrier import BitcoinCarrier

    return BitcoinCarrier(chain, nodes or nodes_of(chain))
