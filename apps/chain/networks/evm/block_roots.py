"""Compares what a node says of a block with the roots in its header (decisions 650 and 652). A node
that contradicts its header isn't believed. What can't be compared is believed as before, which the
log says once.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from django.conf import settings
from prometheus_client import Counter

from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm.block_headers import integer

MALFORMED = (TypeError, KeyError, ValueError, AttributeError, OverflowError)

log = structlog.get_logger(__name__)
_compared = Counter(
    "tillgate_chain_roots_compared",
    "Blocks of which something was to be compared with a root in their header, by what came of it",
    ["chain", "root", "result"],
)
RESULTS = ("agrees", "contradicts", "not_compared")
Found = TypeVar("Found")
_silent: set[tuple[str, str, str]] = set()


class NotComparable(Exception):
    """The text says why nobody can say whether this is what a block has."""


def _begin(chain_id: str, root: str) -> None:
    """Export each result from zero, so that the first contradiction counts as an increase."""
    for result in RESULTS:
        _compared.labels(chain_id, root, result)


def agreed(
    chain_id: str, root: str, block: Any, compare: Callable[[], tuple[Found, bool]]
) -> Found | None:
    """Value that was found if its root is the header's; None where they can't be compared. Raises
    Inconsistent, and what comparing raises but NotComparable."""
    _begin(chain_id, root)
    try:
        if chain_id in settings.CHAIN_UNCOMPARED_ROOTS:
            raise NotComparable("CHAIN_UNCOMPARED_ROOTS names the chain")
        found, agrees = compare()
    except NotComparable as error:
        _compared.labels(chain_id, root, "not_compared").inc()
        if (chain_id, root, str(error)) not in _silent:
            _silent.add((chain_id, root, str(error)))
            log.info("root_not_compared", chain=chain_id, root=root, reason=str(error))
        return None
    _compared.labels(chain_id, root, "agrees" if agrees else "contradicts").inc()
    if not agrees:
        raise Inconsistent(f"block {integer(block['number'])} has {root} that its header denies")
    return found
