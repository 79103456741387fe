"""Reads of what the watcher knows."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings

from apps.assets.models import Asset, Chain
from apps.chain.models import AddressLook, Block, Deposit, Head, HotWallet, SightingRecord
from apps.chain.networks import finality
from apps.core import clock
from apps.core.models import Mode

BLOCK_ON_ITS_WAY = timedelta(seconds=15)
# A chain that wasn't read for longer is late, and a transaction that wasn't signed or mined.
READ_LATE = timedelta(minutes=5)
SENT_LATE = timedelta(minutes=30)


def heads() -> dict[str, Head]:
    """Read position of each chain."""
    return {head.chain_id: head for head in Head.objects.all()}


def confirmations(deposit: Deposit, head_number: int) -> int:
    """Blocks on top of the deposit's, its own included; a failed one has none."""
    if deposit.block_number is None or deposit.status == Deposit.Status.FAILED:
        return 0
    return finality.confirmations(deposit.block_number, head_number)


def is_final(deposit: Deposit) -> bool:
    """True if it counts by its network's rule, in a block that is still canonical; asked of one
    that nobody follows any more."""
    if deposit.is_simulated:
        return deposit.simulated_confirmations >= deposit.required_confirmations
    head = Head.objects.filter(chain=deposit.chain_id).first()
    stands = Block.objects.filter(
        chain=deposit.chain_id, hash=deposit.block_hash, is_canonical=True
    ).exists()
    if head is None or not stands or deposit.block_number is None:
        return False
    newest, counts_confirmations = finality.reach(deposit.chain, head.number, head.tagged_number)
    if deposit.block_number > newest:
        return False
    has_confirmations = confirmations(deposit, head.number) >= deposit.required_confirmations
    return has_confirmations or not counts_confirmations


def is_watched(chain_id: str) -> bool:
    return bool(settings.CHAIN_URLS.get(chain_id))


def is_simulated_only() -> bool:
    """True if this machine has no chain at all, as a demo may: what comes in is simulated, in live
    mode too. Never in production."""
    return settings.CHAINS_ARE_OPTIONAL and not any(settings.CHAIN_URLS.values())


_begun: set[str] = set()  # chains that a watcher has begun to read, which is never undone


def offered_chains(mode: str) -> list[str] | None:
    """Chains on which payments may be made: those that a watcher reads. None: on any, where coins
    may be simulated."""
    if mode == Mode.TEST or is_simulated_only():
        return None
    configured = {chain for chain, urls in settings.CHAIN_URLS.items() if urls}
    if not configured <= _begun:
        _begun.update(Head.objects.values_list("chain_id", flat=True))
    return sorted(configured & _begun)


def chains_without_node() -> list[str]:
    """Chains of live mode with an asset in use, which nobody can read."""
    if is_simulated_only():
        return []
    rows = (
        Asset.objects.filter(is_active=True, chain__mode=Mode.LIVE)
        .order_by("chain_id")
        .values_list("chain_id", flat=True)
    )
    return [chain for chain in rows.distinct() if not is_watched(chain)]


def is_caught_up(chain_id: str, deadline: datetime) -> bool:
    """True if everything mined by the deadline has been read. A chain of live mode that nobody
    reads tells nothing.

    A block carries the time at which it was begun and arrives later: the one after the deadline
    must have come, or at the tip of a chain without new blocks that much time must have passed.
    """
    if not is_watched(chain_id):
        return is_simulated_only() or Chain.objects.filter(pk=chain_id, mode=Mode.TEST).exists()
    head = Head.objects.filter(chain_id=chain_id).first()
    return head is not None and deadline <= covered_until(head)


def covered_until(head: Head) -> datetime:
    """The latest moment by which everything mined has been read."""
    before_block = min(head.synced_at, head.block_time - timedelta(microseconds=1))
    return max(before_block, head.synced_at - BLOCK_ON_ITS_WAY)


def are_looked_at(addresses: Collection[str], deadline: datetime) -> bool:
    """Tell whether nothing but what is booked had come to any of these by then: what each held was
    compared in a block after it."""
    looks = AddressLook.objects.filter(address__in=addresses, looked_until__gte=deadline)
    return looks.count() == len(addresses)


ON_ITS_WAY_MAX = timedelta(days=1)


def are_on_their_way(addresses: Collection[str], deadline: datetime) -> bool:
    """Tell whether coins that were seen by then wait to be mined, for less than a day."""
    return SightingRecord.objects.filter(
        address__in=addresses,
        status=SightingRecord.Status.WAITING,
        seen_at__lte=deadline,
        seen_at__gt=clock.real_now() - ON_ITS_WAY_MAX,
    ).exists()


def hot_addresses(chain_ids: Collection[str]) -> list[str]:
    """The wallets that send on these chains."""
    return sorted(
        set(HotWallet.objects.filter(chain__in=chain_ids).values_list("address", flat=True))
    )


def lag_seconds(chain_id: str) -> int | None:
    """Seconds since the watcher was last at the tip; None when it never did."""
    head = Head.objects.filter(chain_id=chain_id).first()
    return (
        None if head is None else max(0, int((clock.real_now() - head.synced_at).total_seconds()))
    )
