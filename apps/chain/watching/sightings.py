"""Sightings of transactions that pay one of our addresses and wait to be mined: noted when seen,
until a block has it, another transaction has taken its coins, or nobody knows it any more.

Nothing here makes a deposit or counts. One of another hash than it is mined by (`is_private`) ends
with the deposit that pays the same address the same amount.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction

from apps.assets.models import Chain
from apps.chain.addresses import derived
from apps.chain.models import (
    Address,
    Deposit,
    OutgoingTransaction,
    SightingRecord,
    SignedTransaction,
)
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
# Where nodes don't list what waits, they are asked for each that is open.
ASK_SECONDS = 30.0

log = structlog.get_logger(__name__)
_Status = SightingRecord.Status
_IN_A_BLOCK = (Deposit.Status.CONFIRMING, Deposit.Status.CONFIRMED)


def hears_of_waiting(chain: Chain) -> bool:
    """Tell whether transactions of this network may be seen before a block has them."""
    return tells_all(chain) or bool(settings.CHAIN_WS_URLS.get(chain.pk))


class WaitingWatch:
    """Remembers which transactions it has read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: frozenset[str] = frozenset()
        self._asked_at = -ASK_SECONDS

    def look(self, facts: WatchedChain, at: datetime) -> None:
        """Note what is new, and what has ended without a block. Raises RpcError."""
        if not hears_of_waiting(facts.chain):
            return
        is_listed = tells_all(facts.chain)
        asked = None if is_listed else self._due(facts)
        waiting = self._reader.waiting(self._known, asked or ())
        if waiting is None or not (is_listed or waiting.new or asked):
            return
        new = _to_us(facts, waiting.new)
        with transaction.atomic():
            _note(facts, new, at)
            takers = {place: item.tx_hash for item in waiting.new for place in item.spends}
            _end_taken(facts, takers, at)
            if is_listed or asked:
                _end_gone(facts, waiting.hashes, at, asked)
        if not is_listed:
            return
        # Only what was read whole is known; a reader may bring what is new part by part.
        read = self._known | {item.tx_hash for item in waiting.new}
        self._known = waiting.hashes & read

    def _due(self, facts: WatchedChain) -> set[str]:
        """Hashes that nodes are asked for now; empty between two times."""
        if time.monotonic() - self._asked_at < ASK_SECONDS:
            return set()
        self._asked_at = time.monotonic()
        return {row.tx_hash for row in _open(facts)}


def _to_us(facts: WatchedChain, found: Iterable[Sighting]) -> list[Sighting]:
    """Those that pay our deposit addresses, with these transfers alone. What we send ourselves
    isn't a payment."""
    found = list(found)
    paid = {transfer.to_address for item in found for transfer in item.transfers}
    purposes = (Address.Purpose.DEPOSIT, Address.Purpose.OWN)
    rows = Address.objects.filter(pk__in=paid, purpose__in=purposes) if paid else []
    listed = [(row.pk, row.mode, row.index) for row in rows]
    own = derived(listed) | derived_own(listed)
    if not own:
        return []
    found = _of_strangers(facts.chain, found, own)
    return [
        Sighting(
            item.tx_hash,
            transfers,
            item.spends,
            is_private=item.is_private,
            is_replaceable=item.is_replaceable,
        )
        for item in found
        if (
            transfers := tuple(
                transfer
                for transfer in item.transfers
                if transfer.to_address in own
                and transfer.amount_atomic > 0
                and facts.asset_of(transfer) is not None
            )
        )
    ]


def _of_strangers(chain: Chain, found: list[Sighting], own: Collection[str]) -> list[Sighting]:
    """Without sweeps, the gas for them, and what was read in a block before it was announced."""
    paying = [item for item in found if any(each.to_address in own for each in item.transfers)]
    senders = {transfer.from_address for item in paying for transfer in item.transfers} - {""}
    rows = Address.objects.filter(pk__in=senders).values_list("pk", "mode", "index")
    ours = derived(rows) if senders else set()
    hashes = {item.tx_hash for item in paying}
    mined = Deposit.objects.filter(chain=chain, tx_hash__in=hashes, status__in=_IN_A_BLOCK)
    known = gas_of_sweeps(hashes) | set(mined.values_list("tx_hash", flat=True))
    return [
        item
        for item in paying
        if item.tx_hash not in known
        and not any(transfer.from_address in ours for transfer in item.transfers)
    ]


def gas_of_sweeps(hashes: set[str]) -> set[str]:
    """Those of the transactions that bring gas from the hot wallet: they were stored before anybody
    could see them."""
    rows = SignedTransaction.objects.filter(
        tx_hash__in=hashes, outgoing__purpose=OutgoingTransaction.Purpose.SWEEP_GAS
    )
    return set(rows.values_list("tx_hash", flat=True))


def _note(facts: WatchedChain, sightings: Iterable[Sighting], at: datetime) -> None:
    """One that had ended waits again, as after a reorganization; when it was first seen stays."""
    rows = [
        SightingRecord(
            chain=facts.chain,
            asset_id=str(facts.asset_of(transfer)),
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


def _end_gone(
    facts: WatchedChain, hashes: Collection[str], at: datetime, asked: Collection[str] | None
) -> None:
    """End those that no node has had for a while. One that a node has again waits on. Of `asked`
    alone nodes were asked, unless it is None."""
    for row in _open(facts):
        if asked is not None and row.tx_hash not in asked:
            continue
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
    if not hears_of_waiting(facts.chain):
        return {}
    places = {place for row in _open(facts) for place in row.spends}
    return reader.spenders(block, places) if places else {}


def end_mined(
    facts: WatchedChain, takers: Mapping[str, str], deposit_ids: Sequence[object], at: datetime
) -> None:
    """Within the transaction that writes a block's deposits: end what was waiting for them, and
    what the block has made impossible."""
    rows = _open(facts) if hears_of_waiting(facts.chain) else []
    if not rows:
        return
    found = Deposit.objects.filter(pk__in=[str(pk) for pk in deposit_ids])
    deposits = list(found.exclude(status=Deposit.Status.FAILED).order_by("block_number"))
    by_place = {(deposit.tx_hash, deposit.log_index): deposit for deposit in deposits}
    by_address = {
        (deposit.tx_hash, deposit.address_id, deposit.asset_id): place
        for place, deposit in by_place.items()
    }
    mined = {*takers.values()}
    rest = []
    for row in rows:
        place = (row.tx_hash, row.log_index)
        if place not in by_place:  # a token's is known from its block on
            place = by_address.get((row.tx_hash, row.address_id, row.asset_id), place)
        deposit = by_place.pop(place, None)
        if deposit is None and row.tx_hash in mined and not row.is_private:
            _end(row, _Status.MINED, at, row.tx_hash)  # it has moved nothing
            continue
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
