"""The rows of the chains that this machine stands in for. They carry no id, name or explorer of a
network with real coins.

A wallet that scans a code of such a chain must find no network to send real coins on: the keys of a
demo are public.
"""

from apps.assets.models import Chain
from config import embedded

NAMES = {
    embedded.ETHEREUM: ("ethereum", "Local Ethereum"),
    embedded.SEPOLIA: ("sepolia", "Ethereum Sepolia"),
}


def introduce() -> None:
    """Tell the database; the chains of a service with nodes of its own stay as they are."""
    for service in embedded.local_chains():
        pk, name = NAMES[service]
        Chain.objects.filter(pk=pk).update(
            chain_id=embedded.CHAIN_IDS[service], name=name, explorer_url=""
        )
