"""What a block means for us, and writing it down: block, deposits, confirmations and head in one
transaction.

Head only moves from a block to its child, or back to a common ancestor together with what replaces
the lost blocks. So the canonical blocks are without gaps, and a watcher that is killed anywhere
goes on exactly where it stood.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from django.db import connection, transaction

from apps.assets.models import Asset, Chain
from apps.chain.addresses import derived
from apps.chain.models import (
    Address,
    AddressLook,
    BalanceCheck,
    Block,
    Head,
    OutgoingTransaction,
    SignedTransaction,
)
from apps.chain.providers.base import Nodes
from apps.chain.watching import deposits
from apps.chain.watching.block_headers import BlockHeader
from apps.chain.watching.block_receipts import read_receipts
from apps.chain.watching.block_transactions import check_transactions
from apps.chain.watching.blocks import BlockRead, Transfer, check_transfers, succeeded
from apps.core import jobs

log = structlog.get_logger(__name__)
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class HeadMoved(Exception):
    """Another watcher has written in the meantime; nothing was done."""


@dataclass(frozen=True)
class WatchedChain:
    """What the watcher has to know of a chain."""

    chain: Chain
    native_asset_id: str | None
    asset_by_contract: dict[str, str]

    @property
    def contracts(self) -> list[str]:
        return sorted(self.asset_by_contract)

    def asset_of(self, transfer: Transfer) -> str | None:
        return (
            self.asset_by_contract.get(transfer.contract)
            if transfer.contract
            else self.native_asset_id
        )


@dataclass(frozen=True)
class MatchedBlock:
    """A block with the transfers that did reach one of our addresses, each with its asset."""

    header: BlockHeader
    transfers: list[tuple[str, Transfer]]


def facts_of(chain_id: str) -> WatchedChain:
    assets = list(Asset.objects.filter(chain_id=chain_id))
    native = next((asset.pk for asset in assets if asset.is_native), None)
    return WatchedChain(
        Chain.objects.get(pk=chain_id),
        native,
        {asset.contract_address.lower(): asset.pk for asset in assets if asset.contract_address},
    )


def match(
    nodes: Nodes, facts: WatchedChain, block: BlockRead, *, compares_always: bool = False
) -> MatchedBlock:
    """The transfers to our deposit addresses. One from an address whose key is ours is our own
    doing, and from one that is only listed as ours it isn't; a reverted one moved nothing. Where
    there are any, or always, the header's roots are compared."""
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
        paying = {transfer.tx_hash for _, transfer in arrivals if not transfer.contract}
        check_transactions(facts.chain.pk, block.told, paying)
        senders = {transfer.from_address for _, transfer in arrivals}
        listed = Address.objects.filter(address__in=senders)
        own = derived(listed.values_list("address", "mode", "index"))
        gas = _gas_of_sweeps({transfer.tx_hash for _, transfer in arrivals})
        arrivals = [
            (asset, transfer)
            for asset, transfer in arrivals
            if transfer.from_address not in own and transfer.tx_hash not in gas
        ]
    if not arrivals and not compares_always:
        return MatchedBlock(block.header, [])
    receipts = read_receipts(nodes, facts.chain.pk, block.told)
    if receipts is not None:
        check_transfers(block, receipts, facts.contracts)
    native = [transfer.tx_hash for _, transfer in arrivals if not transfer.contract]
    if native:
        moved = succeeded(nodes, block.header.hash, native, receipts)
        arrivals = [
            (asset, transfer)
            for asset, transfer in arrivals
            if transfer.contract or transfer.tx_hash in moved
        ]
    return MatchedBlock(block.header, arrivals)


def begin(facts: WatchedChain, first: BlockHeader, genesis_hash: str) -> Head:
    """Stand before the first block that is to be read."""
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
        _finish(facts.chain, blocks[-1].header, changed, at)


def record_branch(
    facts: WatchedChain,
    head: Head,
    ancestor: BlockHeader,
    branch: Sequence[MatchedBlock],
    at: datetime,
) -> None:
    """Replace every block above the ancestor by another branch; what the branch has not got again
    has failed."""
    with transaction.atomic():
        _lock_head(facts.chain, head.hash)
        Block.objects.filter(
            chain=facts.chain, number__gt=ancestor.number, is_canonical=True
        ).update(is_canonical=False)
        for model in (BalanceCheck, AddressLook):
            model.objects.filter(chain=facts.chain, block_number__gt=ancestor.number).delete()
        changed = _write(facts, branch, at)
        changed += deposits.fail_orphans(facts.chain.pk, ancestor.number, at)
        _finish(facts.chain, branch[-1].header if branch else ancestor, changed, at)


def record_more(
    facts: WatchedChain, header: BlockHeader, transfers: list[tuple[str, Transfer]], at: datetime
) -> list[object]:
    """Add transfers to a block that was written before; the ids of the deposits that are new.
    Raises HeadMoved when it is no block of ours any more."""
    with transaction.atomic():
        head = Head.objects.select_for_update().get(chain=facts.chain)
        if not Block.objects.filter(
            chain=facts.chain, hash=header.hash, is_canonical=True
        ).exists():
            raise HeadMoved
        added = deposits.put(facts.chain, header, transfers, at)
        changed = added + deposits.confirm(facts.chain.pk, head.number, at)
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
    return [
        change
        for block in blocks
        if block.transfers
        for change in deposits.put(facts.chain, block.header, block.transfers, at)
    ]


def _finish(chain: Chain, header: BlockHeader, changed: list[object], at: datetime) -> None:
    """Count confirmations from the new head, move it there, and wake those who act upon
    deposits."""
    changed += deposits.confirm(chain.pk, header.number, at)
    Head.objects.filter(chain=chain).update(
        number=header.number, hash=header.hash, block_time=header.mined_at
    )
    if changed:
        jobs.announce("chain.deposits_changed", *dict.fromkeys(changed))


def _gas_of_sweeps(hashes: set[str]) -> set[str]:
    """Those of the transactions that bring gas from the hot wallet: they were stored before anybody
    could see them."""
    rows = SignedTransaction.objects.filter(
        tx_hash__in=hashes, outgoing__purpose=OutgoingTransaction.Purpose.SWEEP_GAS
    )
    return set(rows.values_list("tx_hash", flat=True))


def _deposit_addresses(addresses: set[str]) -> set[str]:
    if not addresses:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT address FROM chain_address WHERE address = ANY(%s) AND purpose = 'deposit'",
            [list(addresses)],
        )
        return {address for (address,) in cursor.fetchall()}
