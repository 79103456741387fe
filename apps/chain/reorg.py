"""Where two branches of a chain part: the youngest block that we and the node have in common."""

from apps.assets.models import Chain
from apps.chain.blocks import Header, read_headers
from apps.chain.models import Block, Head
from apps.chain.providers.base import Nodes, RpcError

DEPTH_MAX = 512
STEP = 16


class TooDeep(RpcError):
    """The branches part further back than any honest reorg: an operator has to look."""


def is_other_branch(chain: Chain, head: Head, tip: Header) -> bool:
    """Whether a tip contradicts what we read. A shorter chain is a node that lags, even on another branch: it is not followed."""
    return tip.number == head.number and tip.hash != head.hash


def common_ancestor(nodes: Nodes, chain: Chain, head: Head) -> Header:
    """Walk back from the head. When even the first block that we read is gone, what stood before it is as good an ancestor."""
    ours = dict(Block.objects.filter(chain=chain, is_canonical=True, number__gt=head.number - DEPTH_MAX).values_list("number", "hash"))
    first = min(ours, default=head.number + 1)
    for top in range(head.number, first - 1, -STEP):
        for theirs in read_headers(nodes, range(top, max(top - STEP, first - 1), -1)):
            if ours[theirs.number] == theirs.hash:
                return theirs
    if first <= head.number - DEPTH_MAX + 1:
        raise TooDeep(f"{chain.pk}: no common block in {DEPTH_MAX}")
    if first == 0:
        raise TooDeep(f"{chain.pk}: the first block is another")
    return read_headers(nodes, [first - 1])[0]
