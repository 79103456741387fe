"""The contract that makes merchants' forwarders, on each network that needs it."""

from collections.abc import Iterator
from contextlib import closing

from django.utils.translation import gettext_noop

from apps.assets.models import Chain, NetworkFamily
from apps.chain.networks.evm import forwarders
from apps.chain.networks.families import shown_address
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.selectors import is_watched

MISSING = gettext_noop("The forwarders’ contract is not on this network yet")
SILENT = gettext_noop("No node of this network answers")


def missing_on(chain: Chain) -> str | None:
    """Obstacle to giving out forwarders on a network; asks its nodes."""
    try:
        with closing(nodes_of(chain)) as nodes:
            code = nodes.call("eth_getCode", [forwarders.factory(), "latest"])
    except RpcError:
        return SILENT
    return None if code == forwarders.factory_deployed() else MISSING


def states() -> Iterator[tuple[Chain, str]]:
    """Of each network that is read."""
    for chain in Chain.objects.filter(family=NetworkFamily.EVM).order_by("pk"):
        if is_watched(chain.pk):
            yield chain, missing_on(chain) or "It is there"


def deployment() -> tuple[str, str, str]:
    """Its address, and recipient and data of the transaction that brings it there, no matter who
    sends it."""
    to, data = forwarders.factory_deployment()
    return shown_address(forwarders.factory()), shown_address(to), data
