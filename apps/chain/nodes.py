"""Nodes that answer for a chain."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets.models import Chain, NetworkFamily
from apps.chain.models import Head
from apps.chain.providers.base import Nodes

if TYPE_CHECKING:
    from apps.chain.rpc.announcements import Announcements
    from apps.chain.rpc.notifications import Notifications

_KINDS: dict[str, str] = {NetworkFamily.EVM: "chain", NetworkFamily.BITCOIN: "coin_chain"}


def nodes_of(
    chain: Chain, *, patience_seconds: float | None = None, urls: Sequence[str] | None = None
) -> Nodes:
    """The configured nodes of a chain, or those at `urls`, for use in one thread. They must agree
    with the first block that we know.

    With `patience_seconds` each answer may take so long and no longer.
    """
    entry = settings.PROVIDERS[_KINDS[chain.family]][chain.mode][0]
    head = Head.objects.filter(chain=chain).first()
    options = {
        "urls": settings.CHAIN_URLS.get(chain.pk, []) if urls is None else [*urls],
        "genesis_hash": head.genesis_hash if head else "",
        **entry["OPTIONS"],
    }
    if patience_seconds is not None:
        options["patience_seconds"] = patience_seconds
    return cast(
        Nodes, import_string(entry["BACKEND"])(chain=chain.pk, chain_id=chain.chain_id, **options)
    )


def announcements_of(chain_id: str) -> "Announcements | Notifications | None":
    """Announcements of a network's nodes, from now on; None where none has an address for it."""
    sockets = settings.CHAIN_WS_URLS.get(chain_id)
    publishers = settings.CHAIN_ZMQ_URLS.get(chain_id)
    if not (sockets or publishers):
        return None
    chain = Chain.objects.get(pk=chain_id)
    if chain.family == NetworkFamily.BITCOIN:
        return _notifications_of(chain, publishers) if publishers else None
    if not sockets:
        return None
    from apps.chain.rpc.announcements import Announcements

    return Announcements(chain.pk, chain.chain_id, sockets, (chain.block_milliseconds or 0) / 1000)


def _notifications_of(chain: Chain, urls: Sequence[str]) -> "Notifications":
    from apps.chain.rpc.notifications import Notifications

    return Notifications(chain.pk, urls)
