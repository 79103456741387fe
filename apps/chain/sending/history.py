"""A hot wallet's transactions beyond our records: read back from the chain, and compared with rows
that are still to be signed.

After a backup was brought back, callers and schedules ask again for what was paid after it; the
chain alone still knows.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from apps.chain.models import HotWallet, OutgoingTransaction, UnknownTransaction
from apps.chain.providers.base import Nodes
from apps.chain.sending.calls import call_of
from apps.core.errors import Failure

CHUNK = 50
BLOCKS_MAX = 100_000
# How much of a call's data names the function, and the function with the recipient of a token's
# transfer.
_SELECTOR = 10
_RECIPIENT = 74


class HistoryUnread(Failure):
    """The wallet's own transactions can't all be determined; the text says why."""


def read(wallet: HotWallet, nodes: Nodes, at: datetime) -> int:
    """Keep every transaction of the wallet from its next nonce on; how many there were. Raises
    HistoryUnread and RpcError."""
    tip, pending = nodes.batch(
        [
            ("eth_getBlockByNumber", ["latest", False]),
            ("eth_getTransactionCount", [wallet.address, "pending"]),
        ]
    )
    if tip is None:
        raise HistoryUnread("The node has no newest block: try again later")
    limit = settings.CHAIN_TIP_MAX_AGE_SECONDS
    age = at.timestamp() - int(tip["timestamp"], 16)
    if limit and age > limit:
        raise HistoryUnread(
            f"The node is behind: its newest block is {age:.0f} seconds old, and knows nothing of"
            " what was sent since"
        )
    number = int(tip["number"], 16)
    used = int(nodes.call("eth_getTransactionCount", [wallet.address, tip["number"]]), 16)
    if int(pending, 16) > max(used, wallet.next_nonce):
        raise HistoryUnread(
            "The wallet has transactions that we don't know and no block has yet: try again when"
            " they are mined"
        )
    nonces = _unrecorded(wallet, used)
    transactions = _found(wallet, nodes, number, nonces)
    if nonces:
        raise HistoryUnread(
            f"{len(nonces)} of the wallet's transactions are in none of the last {BLOCKS_MAX}"
            " blocks"
        )
    with transaction.atomic():
        for entry in transactions:
            # Tempo's have a list of calls, of which ours have one.
            call = (entry.get("calls") or [entry])[0]
            UnknownTransaction.objects.get_or_create(
                chain_id=wallet.chain_id,
                from_address=wallet.address,
                nonce=int(entry["nonce"], 16),
                defaults={
                    "tx_hash": str(entry["hash"]).lower(),
                    "to_address": str(call["to"] or "").lower(),
                    "value_atomic": int(call["value"], 16),
                    "data": str(call["input"]).lower(),
                    "found_at": at,
                },
            )
    return len(transactions)


def is_unread(wallet: HotWallet, nonce_on_chain: int) -> bool:
    """True if the wallet has sent something, up to that nonce of the chain, that is neither of our
    records nor kept as unknown."""
    nonces = _unrecorded(wallet, nonce_on_chain)
    if not nonces:
        return False
    unknown = UnknownTransaction.objects.filter(
        chain=wallet.chain_id, from_address=wallet.address, nonce__in=nonces
    )
    return unknown.count() < len(nonces)


def _unrecorded(wallet: HotWallet, nonce_on_chain: int) -> set[int]:
    """The nonces from the wallet's next one to that of the chain that no record of ours has."""
    nonces = set(range(wallet.next_nonce, nonce_on_chain))
    if not nonces:
        return nonces
    recorded = OutgoingTransaction.objects.filter(
        chain=wallet.chain_id, from_address=wallet.address, nonce__gte=wallet.next_nonce
    )
    return nonces - set(recorded.values_list("nonce", flat=True))


def _found(wallet: HotWallet, nodes: Nodes, tip: int, nonces: set[int]) -> list[Any]:
    """The wanted nonces' transactions, from the tip backwards; what was found is wanted no more."""
    transactions = []
    for last in range(tip, max(-1, tip - BLOCKS_MAX), -CHUNK):
        if not nonces:
            break
        numbers = range(last, max(-1, last - CHUNK), -1)
        blocks = nodes.anyone([("eth_getBlockByNumber", [hex(number), True]) for number in numbers])
        if None in blocks:
            raise HistoryUnread(
                f"No node has block {numbers[blocks.index(None)]} now: try again later"
            )
        for block in blocks:
            matches = [
                entry
                for entry in block["transactions"]
                if str(entry["from"]).lower() == wallet.address
                and int(entry["nonce"], 16) in nonces
            ]
            transactions += matches
            nonces -= {int(entry["nonce"], 16) for entry in matches}
    return transactions


def is_explained(chain_id: str, addresses: Collection[str]) -> bool:
    """True if the wallets did nothing that nobody has explained yet."""
    return not _unsettled(chain_id, addresses).exists()


def same_as(row: OutgoingTransaction, addresses: Collection[str]) -> UnknownTransaction | None:
    """An unexplained transaction of the wallets with the same effect as this row."""
    if is_explained(row.chain_id, addresses):
        return None
    return _alike(row, addresses).order_by("nonce").first()


def explain(
    row: OutgoingTransaction, addresses: Collection[str], at: datetime, tx_hash: str = ""
) -> None:
    """A person has said what did it, or that those that did the same were something else."""
    rows = (
        _unsettled(row.chain_id, addresses).filter(tx_hash=tx_hash)
        if tx_hash
        else _alike(row, addresses)
    )
    rows.update(settled_at=at)


def _unsettled(chain_id: str, addresses: Collection[str]) -> QuerySet[UnknownTransaction]:
    return UnknownTransaction.objects.filter(
        chain=chain_id, from_address__in=addresses, settled_at=None
    )


def _alike(row: OutgoingTransaction, addresses: Collection[str]) -> QuerySet[UnknownTransaction]:
    """Those that did the same, though at another moment.

    A payout that bears its gas is asked for anew with what the gas of that moment leaves of it, so
    transfers are alike from half to twice the amount; a swap has another deadline and another
    limit.
    """
    to, value, data = call_of(row)
    to = to.lower()
    data = data.lower()
    least = row.amount_atomic // 2
    most = row.amount_atomic * 2
    rows = _unsettled(row.chain_id, addresses).filter(to_address=to)
    if row.purpose == OutgoingTransaction.Purpose.SWAP:
        return rows.filter(data__startswith=data[:_SELECTOR])
    if row.call_data:
        return rows.filter(value_atomic=value, data=data)
    if row.asset.is_native:
        return rows.filter(value_atomic__range=(least, most), data=data)
    recipient = data[:_RECIPIENT]
    return rows.filter(
        value_atomic=0, data__range=(f"{recipient}{least:064x}", f"{recipient}{most:064x}")
    )
