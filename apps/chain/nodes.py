"""Nodes that answer for a chain."""

from collections.abc import Sequence
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets.models import Chain, NetworkFamily
from apps.chain.models import Head
from apps.chain.providers.base import Nodes

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
