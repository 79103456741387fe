"""Blocks that are read a second time, because something in them may not be booked. What is booked
already isn't booked again.

A block is asked for by a row, by anyone who has a reason; the watcher reads it and deletes the row.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import Max, Min

from apps.assets.models import Chain
from apps.chain.models import Block, BlockToRead, Deposit
from apps.chain.networks.base import Inconsistent, Reader
from apps.chain.networks.readers import reader_of
from apps.chain.providers.base import RpcError
from apps.chain.selectors import is_watched
from apps.chain.watching import block_records
from apps.chain.watching.watched import WatchedChain, facts_of
from apps.core.clock import real_now
from apps.core.errors import Failure

AT_ONCE = 20
TRIES_MAX = 3
ASKED_FOR_MAX = timedelta(days=1)
NEAR = timedelta(days=365)

log = structlog.get_logger(__name__)


class NotRead(Inconsistent):
    """The block is none of those that the watcher has read, or the node has another one there."""


def ask(chain_id: str, numbers: Iterable[int]) -> None:
    """Have blocks read again, each once however often it is asked for."""
    at = real_now()
    BlockToRead.objects.bulk_create(
        [
            BlockToRead(chain_id=chain_id, number=number, asked_at=at, tried_at=at)
            for number in numbers
        ],
        ignore_conflicts=True,
    )


def read_asked(reader: Reader, facts: WatchedChain, at: datetime) -> None:
    """Read what was asked for, the longest untried first. One that can't be read now keeps its row
    and holds up no other, until it is over."""
    asked = BlockToRead.objects.filter(chain=facts.chain)
    near = at - NEAR, at + NEAR  # nobody can read a time that is none, and others wait behind it
    rows = asked.filter(asked_at__range=near, tried_at__range=near)
    asked.exclude(pk__in=rows.values("pk")).delete()
    for row in rows.order_by("tried_at", "number")[:AT_ONCE]:
        try:
            read_again(reader, facts, [row.number], at, compares_always=True)
        except (RpcError, block_records.HeadMoved) as error:
            is_silent = isinstance(error, RpcError) and not (
                isinstance(error, Inconsistent) or error.is_refusal
            )
            is_over = not is_silent and _is_over(row, at)
            if is_over:
                row.delete()
            else:
                BlockToRead.objects.filter(pk=row.pk).update(tried_at=at)
            if isinstance(error, Inconsistent) and not isinstance(error, NotRead):
                reader.doubt()
            log.warning(
                "block_not_read_again",
                chain=facts.chain.pk,
                block=row.number,
                error=str(error) or type(error).__name__,
                is_given_up=is_over,
            )
            if is_silent:
                raise  # the others would be asked in vain
        else:
            row.delete()


def _is_over(row: BlockToRead, at: datetime) -> bool:
    """Tell whether a block that can't be read never will be: the watcher has passed it without
    reading it, or for a day no node has had the block that was read. What it held is looked for by
    what the address holds."""
    if row.asked_at < at - ASKED_FOR_MAX:
        return True
    blocks = Block.objects.filter(chain=row.chain_id, is_canonical=True)
    return (
        blocks.filter(number__gt=row.number).exists()
        and not blocks.filter(number=row.number).exists()
    )


def read_again(
    reader: Reader,
    facts: WatchedChain,
    numbers: Sequence[int],
    at: datetime,
    *,
    compares_always: bool = False,
) -> list[Deposit]:
    """Book what blocks that were read before have and the books don't; the deposits that are new.
    With `compares_always` a node that leaves something out again isn't believed. Raises RpcError,
    NotRead, or HeadMoved."""
    hashes = dict(
        Block.objects.filter(
            chain=facts.chain, is_canonical=True, number__in=list(numbers)
        ).values_list("number", "hash")
    )
    for number in numbers:
        if number not in hashes:
            raise NotRead(f"{facts.chain.pk}: block {number} was never read")
    added: list[object] = []
    for block in reader.blocks(numbers, facts.contracts):
        if block.header.hash != hashes[block.header.number]:
            raise NotRead(f"{facts.chain.pk}: the node has another block {block.header.number}")
        matched = _without_explained(
            block_records.match(reader, facts, block, compares_always=compares_always)
        )
        if matched.transfers:
            added += block_records.record_more(facts, matched.header, matched.transfers, at)
    rows = Deposit.objects.filter(pk__in=[str(pk) for pk in added])
    deposits = list(rows.order_by("block_number", "log_index"))
    for deposit in deposits:
        log.warning(
            "deposit_read_again",
            chain=facts.chain.pk,
            block=deposit.block_number,
            deposit=str(deposit.pk),
            address=deposit.address_id,
        )
    return deposits


class NotReadable(Failure):
    """The text says why."""


def check_were_read(chain: Chain, first: int, last: int) -> None:
    """Only what was read once can be read again. Raises NotReadable."""
    blocks = Block.objects.filter(chain=chain, is_canonical=True)
    read = blocks.aggregate(first=Min("number"), last=Max("number"))
    if read["first"] is None:
        raise NotReadable(f"No block of {chain.name} was read yet")
    if not read["first"] <= first <= last <= read["last"]:
        raise NotReadable(f"Blocks {read['first']} to {read['last']} of {chain.name} were read")


def ask_range(chain_id: str, first_text: str, last_text: str) -> int:
    """For an operator whose role may not write deposits: the watcher reads these again, and how
    many they are. Raises NotReadable."""
    numbers = _range_of(chain_id, first_text, last_text)
    ask(chain_id, numbers)
    return len(numbers)


def range_again(chain_id: str, first_text: str, last_text: str) -> Iterator[Deposit]:
    """For an operator: the deposits that are new, part by part. What a node contradicts is asked
    again, of another one where there is one. Raises NotReadable or RpcError."""
    numbers = _range_of(chain_id, first_text, last_text)
    facts = facts_of(chain_id)
    with closing(reader_of(facts.chain)) as reader:
        for start in range(0, len(numbers), AT_ONCE):
            yield from _insist(reader, facts, numbers[start : start + AT_ONCE])


def _range_of(chain_id: str, first_text: str, last_text: str) -> range:
    if not is_watched(chain_id):
        watched = ", ".join(sorted(name for name, urls in settings.CHAIN_URLS.items() if urls))
        raise NotReadable(f"There is no chain {chain_id} with a node; there are: {watched or '-'}")
    if not (first_text.isascii() and first_text.isdigit() and last_text.isdigit()):
        raise NotReadable("FROM and TO are each the number of a block")
    first, last = int(first_text), int(last_text)
    if first > last:
        raise NotReadable("FROM comes after TO")
    check_were_read(Chain.objects.get(pk=chain_id), first, last)
    return range(first, last + 1)


def _insist(reader: Reader, facts: WatchedChain, numbers: Sequence[int]) -> list[Deposit]:
    for _ in range(TRIES_MAX - 1):
        try:
            return read_again(reader, facts, numbers, real_now(), compares_always=True)
        except Inconsistent:
            reader.doubt()
    return read_again(reader, facts, numbers, real_now(), compares_always=True)


def _without_explained(block: block_records.MatchedBlock) -> block_records.MatchedBlock:
    """Native coins that came to an address in this block and are booked as the whole block's, since
    no node could say of which transaction, aren't booked once more."""
    as_blocks = set(
        Deposit.objects.filter(tx_hash=block.header.hash, block_hash=block.header.hash)
        .exclude(status=Deposit.Status.FAILED)
        .values_list("address_id", flat=True)
    )
    transfers = [
        (asset, transfer)
        for asset, transfer in block.transfers
        if transfer.contract or transfer.to_address not in as_blocks or _is_booked(transfer.tx_hash)
    ]
    return block_records.MatchedBlock(block.header, transfers)


def _is_booked(tx_hash: str) -> bool:
    return Deposit.objects.filter(tx_hash=tx_hash).exists()
