"""The block that a network's nodes call safe or final, as far as it can be believed."""

import structlog

from apps.assets.models import Chain
from apps.chain.models import Block, Head
from apps.chain.networks.base import BlockHeader, Inconsistent, Reader

log = structlog.get_logger(__name__)


def tagged_number(reader: Reader, chain: Chain, head: Head) -> int | None:
    """The number of the newest block up to the head that has the network's tag; None where it has
    no such rule, no node has it, or its answer can't be: a block of another branch than the one
    that was read, or, where the tag alone decides, the newest block itself. Raises RpcError."""
    if not chain.finality_tag:
        return None
    try:
        told = reader.tagged(chain.finality_tag)
    except Inconsistent:
        told = None
    if told is None or _is_newest(chain, head, told):
        return None
    if told.number > head.number:
        return head.tagged_number  # blocks that are still to be read can't be compared
    rows = Block.objects.filter(chain=chain, number=told.number, is_canonical=True)
    ours = rows.values_list("hash", flat=True).first()
    if ours is not None and ours != told.hash:
        log.warning("tag_of_another_branch", chain=chain.pk, block=told.number)
        return None
    return told.number


def _is_newest(chain: Chain, head: Head, told: BlockHeader) -> bool:
    """A node that calls every block final at once has no rule of its own."""
    return not chain.counts_confirmations and told.hash == head.hash
