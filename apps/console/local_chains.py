"""The rows of the chains that this machine runs in place of real networks. They carry no id, name
or explorer of a network with real coins.

A wallet that scans a code of such a chain must find no network to send real coins on: the keys of a
demo are public.
"""

from apps.assets.models import Chain
from apps.core import local_chain

NAMES = {
    local_chain.ETHEREUM: ("ethereum", "Local Ethereum"),
    local_chain.SEPOLIA: ("sepolia", "Ethereum Sepolia"),
    local_chain.LITECOIN: ("litecoin", "Local Litecoin"),
}


def introduce() -> None:
    """Tell the database; the chains of a service with nodes of its own stay as they are."""
    for service in local_chain.local_chains():
        pk, name = NAMES[service]
        facts = {"chain_id": local_chain.CHAIN_IDS[service], "name": name, "explorer_url": ""}
        # The watcher, whose role may not change chains, finds that it is said already.
        if Chain.objects.filter(pk=pk).exclude(**facts).exists():
            Chain.objects.filter(pk=pk).update(**facts)
