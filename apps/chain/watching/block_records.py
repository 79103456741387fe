"""Effects of a block, and their record: block, deposits, confirmations and head in one transaction.

Head only moves from a block to its child, or back to a common ancestor together with what replaces
the lost blocks. So the canonical blocks are without gaps, and a watcher that is killed anywhere
goes on exactly where it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog
from django.db import connection, transaction

from apps.assets.models import Chain
from apps.chain.addresses import derived
from apps.chain.models import (
    Address,
    AddressLook,
    BalanceCheck,
    Block,
    Head,
)
from apps.chain.networks.base import Arrival, BlockHeader, BlockRead, Reader, Transfer
from apps.chain.watching import coins, deposits, sightings
from apps.chain.watching.watched import WatchedChain
from apps.core import jobs

log = structlog.get_logger(__name__)
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class HeadMoved(Exception):
    """Another watcher has written in the meantime; nothing was done."""


@dataclass(frozen=True)
class MatchedBlock:
    """A block with the transfers that did reach one of our addresses, each with its asset."""

    header: BlockHeader
    transfers: list[Arrival]
    # Of the coins that waiting transactions take those that this block spends, and by which.
    takers: dict[str, str] = field(default_factory=dict)
    # Outputs of ours with whether each is at a deposit address, and our coins that it spends.
    coins: list[tuple[Transfer, bool]] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)


def match(
    reader: Reader, facts: WatchedChain, block: BlockRead, *, compares_always: bool = False
) -> MatchedBlock:
    """The transfers to our deposit addresses. One from an address whose key is ours is our own
    doing, and from one that is only listed as ours it isn't. Where there are any, or always, the
    block is compared with what its header commits to."""
    candidates = [
        (asset, transfer)
        for transfer in block.transfers
        if (asset := facts.asset_of(transfer)) is not None
    ]
    deposit_addresses = _deposit_addresses({transfer.to_address for _, transfer in candidates})
    arrivals = [
        (asset, transfer)
        for asset, transfer in candidates
        if transfer.to_address in deposit_addresses
    ]
    if arrivals or compares_always:
        reader.check(block, arrivals)
        senders = {transfer.from_address for _, transfer in arrivals}
        listed = Address.objects.filter(address__in=senders)
        own = derived(listed.values_list("address", "mode", "index"))
        gas = sightings.gas_of_sweeps({transfer.tx_hash for _, transfer in arrivals})
        arrivals = [
            (asset, transfer)
            for asset, transfer in arrivals
            if transfer.from_address not in own and transfer.tx_hash not in gas
        ]
    arrived = (
        reader.arrived(block, arrivals, facts.contracts) if arrivals or compares_always else []
    )
    outputs = coins.brought(facts, block, deposit_addresses)
    return MatchedBlock(
        block.header,
        arrived,
        sightings.takers_in(reader, facts, block),
        outputs,
        coins.taken(reader, facts, block, outputs),
    )


def begin(facts: WatchedChain, first: BlockHeader, genesis_hash: str) -> Head:
    """Place the head before the first block that is to be read."""
    head, _ = Head.objects.get_or_create(
        chain=facts.chain,
        defaults={
            "number": first.number - 1,
            "hash": first.parent_hash,
            "genesis_hash": genesis_hash,
            "block_time": first.mined_at,
            "synced_at": NEVER,
        },
    )
    return head


def record_blocks(facts: WatchedChain, blocks: Sequence[MatchedBlock], at: datetime) -> None:
    """Write what follows the head, each the child of the one before. Raises HeadMoved when the
    first isn't the head's any more."""
    with transaction.atomic():
        _lock_head(facts.chain, blocks[0].header.parent_hash)
        changed = _write(facts, blocks, at)
        _finish(facts, blocks[-1].header, changed, at)


def record_branch(
    facts: WatchedChain,
    head: Head,
    ancestor: BlockHeader,
    branch: Sequence[MatchedBlock],
    at: datetime,
) -> None:
    """Replace every block above the ancestor by another branch; what the branch has not got again
    has failed."""
    if facts.tagged_number is not None:
        facts = replace(facts, tagged_number=min(facts.tagged_number, ancestor.number))
    with transaction.atomic():
        _lock_head(facts.chain, head.hash)
        Block.objects.filter(
            chain=facts.chain, number__gt=ancestor.number, is_canonical=True
        ).update(is_canonical=False)
        for model in (BalanceCheck, AddressLook):
            model.objects.filter(chain=facts.chain, block_number__gt=ancestor.number).delete()
        coins.take_back(facts, ancestor.number)
        changed = _write(facts, branch, at)
        changed += deposits.fail_orphans(facts.chain.pk, ancestor.number, at)
        _finish(facts, branch[-1].header if branch else ancestor, changed, at)


def record_more(
    facts: WatchedChain, header: BlockHeader, transfers: list[Arrival], at: datetime
) -> list[object]:
    """Add transfers to a block that was written before; the ids of the deposits that are new.
    Raises HeadMoved when it is no block of ours any more."""
    with transaction.atomic():
        head = Head.objects.select_for_update().get(chain=facts.chain)
        if not Block.objects.filter(
            chain=facts.chain, hash=header.hash, is_canonical=True
        ).exists():
            raise HeadMoved
        added = deposits.put(facts, header, transfers, at)
        changed = added + deposits.confirm(facts, head.number, at)
        if changed:
            jobs.announce("chain.deposits_changed", *dict.fromkeys(changed))
    return added


def _lock_head(chain: Chain, expected_hash: str) -> Head:
    head = Head.objects.select_for_update().get(chain=chain)
    if head.hash != expected_hash:
        raise HeadMoved
    return head


def _write(facts: WatchedChain, blocks: Sequence[MatchedBlock], at: datetime) -> list[object]:
    Block.objects.bulk_create(
        [
            Block(
                chain=facts.chain,
                number=block.header.number,
                hash=block.header.hash,
                parent_hash=block.header.parent_hash,
                mined_at=block.header.mined_at,
                scanned_at=at,
            )
            for block in blocks
        ],
        update_conflicts=True,  # a branch may come back
        unique_fields=["chain", "hash"],
        update_fields=["is_canonical", "scanned_at"],
    )
    changes = [
        change
        for block in blocks
        if block.transfers
        for change in deposits.put(facts, block.header, block.transfers, at)
    ]
    for block in blocks:
        if block.coins or block.taken:
            coins.record(facts, block.header, block.coins, block.taken)
    takers = {place: taker for block in blocks for place, taker in block.takers.items()}
    if changes or takers:
        sightings.end_mined(facts, takers, changes, at)
    return changes


def confirm_at(facts: WatchedChain, head: Head, at: datetime) -> None:
    """Confirm what became due without another block. Raises HeadMoved."""
    with transaction.atomic():
        _lock_head(facts.chain, head.hash)
        Head.objects.filter(chain=facts.chain).update(tagged_number=facts.tagged_number)
        if confirmed := deposits.confirm(facts, head.number, at):
            jobs.announce("chain.deposits_changed", *dict.fromkeys(confirmed))


def _finish(facts: WatchedChain, header: BlockHeader, changed: list[object], at: datetime) -> None:
    """Count confirmations from the new head, move it there, and wake those who act upon
    deposits."""
    changed += deposits.confirm(facts, header.number, at)
    Head.objects.filter(chain=facts.chain).update(
        number=header.number,
        hash=header.hash,
        block_time=header.mined_at,
        tagged_number=facts.tagged_number,
    )
    if changed:
        jobs.announce("chain.deposits_changed", *dict.fromkeys(changed))


def _deposit_addresses(addresses: set[str]) -> set[str]:
    if not addresses:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT address FROM chain_address WHERE address = ANY(%s)"
            " AND purpose IN ('deposit', 'own')",
            [list(addresses)],
        )
        return {address for (address,) in cursor.fetchall()}
