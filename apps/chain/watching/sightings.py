"""Sightings of transactions that pay one of our addresses and wait to be mined: noted when seen,
until a block has it, another transaction has taken its coins, or nobody knows it any more.

Nothing here makes a deposit or counts. One of another hash than it is mined by (`is_private`) ends
with the deposit that pays the same address the same amount.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from apps.chain.addresses import derived
from apps.chain.models import Address, Deposit, SightingRecord
from apps.chain.networks.base import BlockRead, Reader, Sighting, Transfer
from apps.chain.networks.families import tells_all
from apps.chain.own.wallets import derived_own
from apps.chain.selectors import ON_ITS_WAY_MAX
from apps.chain.states import SIGHTING
from apps.chain.watching.watched import WatchedChain
from apps.core.machine import Step

# Nodes forget what waits when they start anew, and hear of it again from others.
GONE_AFTER = timedelta(minutes=10)
# Of what is mined by another hash nobody can tell that it isn't.
PRIVATE_GONE_AFTER = timedelta(days=14)
OPEN_MAX = 5000

log = structlog.get_logger(__name__)
_Status = SightingRecord.Status


class WaitingWatch:
    """Remembers which transactions it has read."""

    def __init__(self, reader: Reader, facts: WatchedChain) -> None:
        self._reader = reader
        self._facts = facts
        self._known: frozenset[str] = frozenset()

    def look(self, at: datetime) -> None:
        """Note what is new, and what has ended without a block. Raises RpcError."""
        waiting = self._reader.waiting(self._known)
        if waiting is None:
            return
        new = _to_us(self._facts, waiting.new)
        with transaction.atomic():
            _note(self._facts, new, at)
            takers = {place: item.tx_hash for item in waiting.new for place in item.spends}
            _end_taken(self._facts, takers, at)
            _end_gone(self._facts, waiting.hashes, at)
        # Only what was read whole is known; a reader may bring what is new part by part.
        read = self._known | {item.tx_hash for item in waiting.new}
        self._known = waiting.hashes & read


def _to_us(facts: WatchedChain, found: Iterable[Sighting]) -> list[Sighting]:
    """Those that pay our deposit addresses, with these transfers alone."""
    found = list(found)
    paid = {transfer.to_address for item in found for transfer in item.transfers}
    purposes = (Address.Purpose.DEPOSIT, Address.Purpose.OWN)
    rows = Address.objects.filter(pk__in=paid, purpose__in=purposes) if paid else []
    listed = [(row.pk, row.mode, row.index) for row in rows]
    own = derived(listed) | derived_own(listed)
    return [
        Sighting(
            item.tx_hash,
            transfers,
            item.spends,
            is_private=item.is_private,
            is_replaceable=item.is_replaceable,
        )
        for item in found
        if facts.native_asset_id is not None
        and (
            transfers := tuple(
                transfer
                for transfer in item.transfers
                if transfer.to_address in own and transfer.amount_atomic > 0
            )
        )
    ]


def _note(facts: WatchedChain, sightings: Iterable[Sighting], at: datetime) -> None:
    """One that had ended waits again, as after a reorganization; when it was first seen stays."""
    rows = [
        SightingRecord(
            chain=facts.chain,
            asset_id=str(facts.native_asset_id),
            address_id=transfer.to_address,
            tx_hash=item.tx_hash,
            log_index=transfer.log_index,
            amount_atomic=transfer.amount_atomic,
            spends=list(item.spends),
            is_private=item.is_private,
            is_replaceable=item.is_replaceable,
            seen_at=at,
        )
        for item in sightings
        for transfer in item.transfers
    ]
    if rows:
        SightingRecord.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["chain", "tx_hash", "log_index"],
            update_fields=["status", "gone_since", "ended_at", "ended_by"],
        )


def _open(facts: WatchedChain) -> list[SightingRecord]:
    rows = SightingRecord.objects.filter(chain=facts.chain, status=_Status.WAITING)
    return list(rows.order_by("seen_at", "pk")[:OPEN_MAX])


def _end_taken(facts: WatchedChain, takers: Mapping[str, str], at: datetime) -> None:
    """End those whose coins another transaction takes."""
    if not takers:
        return
    for row in _open(facts):
        taken_by = {takers[place] for place in row.spends if place in takers} - {row.tx_hash}
        if taken_by:
            _end(row, _Status.REPLACED, at, min(taken_by))


def _end_gone(facts: WatchedChain, hashes: Collection[str], at: datetime) -> None:
    """End those that no node has had for a while. One that a node has again waits on."""
    for row in _open(facts):
        if row.tx_hash in hashes:
            if row.gone_since is not None:
                SightingRecord.objects.filter(pk=row.pk).update(gone_since=None)
            continue
        since = row.gone_since or at
        if row.gone_since is None:
            SightingRecord.objects.filter(pk=row.pk).update(gone_since=at)
        if at - since >= (PRIVATE_GONE_AFTER if row.is_private else GONE_AFTER):
            _end(row, _Status.DROPPED, at)


def _end(row: SightingRecord, status: str, at: datetime, by: str = "") -> None:
    SIGHTING.change_status(row, Step(status), at=at, ended_at=at, ended_by=by)
    if status != _Status.MINED:
        log.warning(
            "sighting_ended",
            chain=row.chain_id,
            tx_hash=row.tx_hash,
            address=row.address_id,
            status=status,
            ended_by=by,
        )


def takers_in(reader: Reader, facts: WatchedChain, block: BlockRead) -> dict[str, str]:
    """Of the coins that waiting transactions take those that a block spends, and by which."""
    if not tells_all(facts.chain):
        return {}
    places = {place for row in _open(facts) for place in row.spends}
    return reader.spenders(block, places) if places else {}


def end_mined(
    facts: WatchedChain, takers: Mapping[str, str], deposit_ids: Sequence[object], at: datetime
) -> None:
    """Within the transaction that writes a block's deposits: end what was waiting for them, and
    what the block has made impossible."""
    rows = _open(facts) if tells_all(facts.chain) else []
    if not rows:
        return
    found = Deposit.objects.filter(pk__in=[str(pk) for pk in deposit_ids])
    deposits = list(found.exclude(status=Deposit.Status.FAILED).order_by("block_number"))
    by_place = {(deposit.tx_hash, deposit.log_index): deposit for deposit in deposits}
    rest = []
    for row in rows:
        deposit = by_place.pop((row.tx_hash, row.log_index), None)
        if deposit is None:
            rest.append(row)
        else:
            _end(row, _Status.MINED, at, deposit.tx_hash)
    private = [row for row in rest if row.is_private]
    for deposit in by_place.values():
        same = [
            row
            for row in private
            if (row.address_id, row.amount_atomic) == (deposit.address_id, deposit.amount_atomic)
        ]
        if same:
            private.remove(same[0])
            _end(same[0], _Status.MINED, at, deposit.tx_hash)
    _end_taken(facts, takers, at)


def first_seen(
    facts: WatchedChain, transfers: Sequence[Transfer], mined_at: datetime
) -> list[datetime]:
    """When each of these transfers of a block arrived: with the block, or when it was first seen
    waiting. Coins that were on their way came in time, however long the network took, up to a
    day."""
    if not tells_all(facts.chain):
        return [mined_at] * len(transfers)
    since = mined_at - ON_ITS_WAY_MAX
    rows = SightingRecord.objects.filter(
        chain=facts.chain,
        address__in={transfer.to_address for transfer in transfers},
        seen_at__gte=since,
    )
    by_place = {}
    by_amount = {}
    for row in rows.order_by("-seen_at"):
        by_place[row.tx_hash, row.log_index] = row.seen_at
        if row.is_private:
            by_amount[row.address_id, row.amount_atomic] = row.seen_at
    return [
        min(
            mined_at,
            by_place.get((transfer.tx_hash, transfer.log_index), mined_at),
            by_amount.get((transfer.to_address, transfer.amount_atomic), mined_at),
        )
        for transfer in transfers
    ]
