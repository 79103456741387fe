"""What a hot wallet has sent beyond our records: read back from the chain, and held against what is still to be signed.

After a backup was brought back, callers and schedules ask again for what was paid after it; the chain alone still knows.
"""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.chain.calls import call_of
from apps.chain.models import HotWallet, OutgoingTransaction, UnknownTransaction
from apps.chain.providers.base import Nodes
from apps.core.errors import Flat

CHUNK, BLOCKS_MAX = 50, 100_000


class HistoryUnread(Flat):
    """The wallet's own transactions can't all be told; the text says why."""


def read(wallet: HotWallet, nodes: Nodes, at: datetime) -> int:
    """Keep every transaction of the wallet from its next nonce on; how many there were. Raises HistoryUnread and RpcError."""
    tip, pending = nodes.batch([("eth_getBlockByNumber", ["latest", False]), ("eth_getTransactionCount", [wallet.address, "pending"])])
    limit, age = settings.CHAIN_TIP_MAX_AGE_SECONDS, at.timestamp() - int(tip["timestamp"], 16)
    if limit and age > limit:
        raise HistoryUnread(f"The node is behind: its newest block is {age:.0f} seconds old, and knows nothing of what was sent since")
    number = int(tip["number"], 16)
    used = int(nodes.call("eth_getTransactionCount", [wallet.address, tip["number"]]), 16)
    if int(pending, 16) > max(used, wallet.next_nonce):
        raise HistoryUnread("The wallet has transactions that we don't know and no block has yet: try again when they are mined")
    recorded = OutgoingTransaction.objects.filter(chain=wallet.pk, from_address=wallet.address, nonce__gte=wallet.next_nonce)
    wanted = set(range(wallet.next_nonce, used)) - set(recorded.values_list("nonce", flat=True))
    found = _found(wallet, nodes, number, wanted)
    if wanted:
        raise HistoryUnread(f"{len(wanted)} of the wallet's transactions are in none of the last {BLOCKS_MAX} blocks")
    with transaction.atomic():
        for one in found:
            UnknownTransaction.objects.get_or_create(
                chain_id=wallet.pk,
                from_address=wallet.address,
                nonce=int(one["nonce"], 16),
                defaults={
                    "tx_hash": str(one["hash"]).lower(),
                    "to_address": str(one["to"] or "").lower(),
                    "value_atomic": int(one["value"], 16),
                    "data": str(one["input"]).lower(),
                    "found_at": at,
                },
            )
    return len(found)


def _found(wallet: HotWallet, nodes: Nodes, tip: int, wanted: set[int]) -> list[Any]:
    """The wanted nonces' transactions, from the tip backwards; what was found is wanted no more."""
    found = []
    for last in range(tip, max(-1, tip - BLOCKS_MAX), -CHUNK):
        if not wanted:
            break
        numbers = range(last, max(-1, last - CHUNK), -1)
        for block in nodes.batch([("eth_getBlockByNumber", [hex(number), True]) for number in numbers]):
            mine = [one for one in block["transactions"] if str(one["from"]).lower() == wallet.address and int(one["nonce"], 16) in wanted]
            found += mine
            wanted -= {int(one["nonce"], 16) for one in mine}
    return found


def is_explained(chain_id: str, address: str) -> bool:
    """Whether the wallet did nothing that nobody has explained yet."""
    return not UnknownTransaction.objects.filter(chain=chain_id, from_address=address, settled_at=None).exists()


def same_as(row: OutgoingTransaction, address: str) -> UnknownTransaction | None:
    """One of the wallet's that did what this would do, and that nobody has explained yet."""
    unsettled = UnknownTransaction.objects.filter(chain=row.chain_id, from_address=address, settled_at=None)
    if not unsettled.exists():
        return None
    to, value, data = call_of(row)
    return unsettled.filter(to_address=to.lower(), value_atomic=value, data=data.lower()).order_by("nonce").first()


def settle(row: OutgoingTransaction, address: str, at: datetime, tx_hash: str = "") -> None:
    """A person has said what did it, or that those that did the same were something else."""
    rows = UnknownTransaction.objects.filter(chain=row.chain_id, from_address=address, settled_at=None)
    if tx_hash:
        rows = rows.filter(tx_hash=tx_hash)
    else:
        to, value, data = call_of(row)
        rows = rows.filter(to_address=to.lower(), value_atomic=value, data=data.lower())
    rows.update(settled_at=at)
