"""The reader of each family, for anyone who reads blocks: nobody else loads one."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.assets.models import Chain, NetworkFamily
from apps.chain.networks.base import Reader
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes

_Announcements = Callable[[], list[Any]]


def _evm(chain: Chain, nodes: Nodes, announcements: _Announcements | None) -> Reader:
    from apps.chain.networks.evm.reader import EvmReader

    return EvmReader(chain, nodes, announcements)


def _bitcoin(chain: Chain, nodes: Nodes, _: _Announcements | None) -> Reader:
    from apps.chain.networks.bitcoin.reader import BitcoinReader

    return BitcoinReader(chain, nodes)


READERS: Mapping[str, Callable[[Chain, Nodes, _Announcements | None], Reader]] = {
    NetworkFamily.EVM: _evm,
    NetworkFamily.BITCOIN: _bitcoin,
}


def reader_of(
    chain: Chain, nodes: Nodes | None = None, announcements: _Announcements | None = None
) -> Reader:
    """Of a network, by its configured nodes unless given others. `announcements` brings the
    transactions that nodes have announced by themselves."""
    return READERS[chain.family](chain, nodes or nodes_of(chain), announcements)
