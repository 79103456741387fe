"""Reads of what the watcher knows."""

from collections.abc import Collection
from datetime import datetime

from django.conf import settings

from apps.chain.models import Deposit, Head, HotWallet
from apps.core import clock


def heads() -> dict[str, Head]:
    """How far each chain has been read."""
    return {head.chain_id: head for head in Head.objects.all()}


def confirmations(deposit: Deposit, head_number: int) -> int:
    """Blocks on top of the deposit's, its own included; a failed one has none."""
    if deposit.block_number is None or deposit.status == Deposit.Status.FAILED:
        return 0
    return max(0, head_number - deposit.block_number + 1)


def is_watched(chain_id: str) -> bool:
    return bool(settings.CHAIN_URLS.get(chain_id))


def is_caught_up(chain_id: str, deadline: datetime) -> bool:
    """Whether everything mined before the deadline has been read; a chain that nobody watches has nothing to wait for."""
    if not is_watched(chain_id):
        return True
    head = Head.objects.filter(chain_id=chain_id).first()
    return head is not None and head.synced_at >= deadline


def hot_addresses(chain_ids: Collection[str]) -> list[str]:
    """The wallets that send on these chains."""
    return sorted(set(HotWallet.objects.filter(chain__in=chain_ids).values_list("address", flat=True)))


def lag_seconds(chain_id: str) -> int | None:
    """Seconds since the watcher last stood at the tip; None when it never did."""
    head = Head.objects.filter(chain_id=chain_id).first()
    return None if head is None else max(0, int((clock.real_now() - head.synced_at).total_seconds()))
