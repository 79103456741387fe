"""When a block counts: by a number of blocks, by the tag that its network's nodes give it, or by
both. A deposit keeps the number that its network had when it was seen
(`Deposit.required_confirmations`)."""

from typing import NamedTuple

from apps.assets.models import Chain
from apps.chain.models import Head


class Reach(NamedTuple):
    """The last block that may count, and whether it takes its confirmations as well."""

    newest: int
    counts_confirmations: bool


def confirmations(block_number: int, head_number: int) -> int:
    """Blocks on top of one, its own included."""
    return max(0, head_number - block_number + 1)


def reach(chain: Chain, head_number: int, tagged_number: int | None) -> Reach:
    """How far blocks may count at a head. `tagged_number` is the block that has the network's tag,
    None while no node tells it: then only those count that are deep enough to have it."""
    if not chain.finality_tag:
        return Reach(head_number, True)
    if tagged_number is None:
        return Reach(head_number - chain.tag_confirmations + 1, True)
    return Reach(min(head_number, tagged_number), chain.counts_confirmations)


def final_number(chain: Chain, head_number: int, tagged_number: int | None = None) -> int:
    """The last block that counts for good at a head; 0 before any does."""
    newest, counts_confirmations = reach(chain, head_number, tagged_number)
    if counts_confirmations:
        newest = min(newest, head_number - chain.required_confirmations + 1)
    return max(0, newest)


def final_block(chain: Chain, head_number: int) -> int:
    """The newest final block, with the tag as the watcher last read it."""
    rows = Head.objects.filter(chain=chain)
    tagged_number = rows.values_list("tagged_number", flat=True).first()
    return final_number(chain, head_number, tagged_number)


def awaits_tag(chain: Chain, has_confirmations: bool) -> bool:
    """Tell whether a block that doesn't count yet waits for the network rather than for more
    confirmations."""
    return bool(chain.finality_tag) and (has_confirmations or not chain.counts_confirmations)
