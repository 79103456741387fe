"""Fork point of two branches: the youngest block that we and the node have in common."""

import structlog

from apps.assets.models import Chain
from apps.chain.models import Block, Head
from apps.chain.networks.base import BlockHeader, Inconsistent, Reader

DEPTH_MAX = 512
STEP = 16

log = structlog.get_logger(__name__)


class TooDeep(Inconsistent):
    """The branches part further back than any honest reorg: an operator has to look."""


def is_other_branch(head: Head, tip: BlockHeader) -> bool:
    """True if a tip contradicts what we read. A shorter chain is a node that lags, even on another
    branch: it is not followed."""
    return tip.number == head.number and tip.hash != head.hash


def common_ancestor(reader: Reader, chain: Chain, head: Head) -> BlockHeader:
    """Walk back from the head. When even the first block that we read is gone, what was before it
    is as good an ancestor."""
    recorded = dict(
        Block.objects.filter(
            chain=chain, is_canonical=True, number__gt=head.number - DEPTH_MAX
        ).values_list("number", "hash")
    )
    first = min(recorded, default=head.number + 1)
    for top in range(head.number, first - 1, -STEP):
        for header in reader.headers(range(top, max(top - STEP, first - 1), -1)):
            if recorded[header.number] == header.hash:
                return header
    if first == 0 or first <= head.number - DEPTH_MAX + 1:
        log.error("branch_too_deep", chain=chain.pk, head=head.number, looked_back_to=first)
        raise TooDeep(f"{chain.pk}: no common block down to {first}")
    return reader.headers([first - 1])[0]
