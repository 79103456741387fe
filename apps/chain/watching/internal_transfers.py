"""Native coins that contracts send to us are in no transaction's value: they are found as balances
that nothing explains.

Every few blocks a bounded number of open addresses is checked. A surplus is traced to its block by
bisection, and to its transaction where the node can trace; an address whose coins are on their way
to the hot wallet is checked once it is known what that took.
"""

from datetime import datetime

import structlog
from django.db import models
from prometheus_client import Counter

from apps.assets.models import Chain
from apps.chain.models import Address, BalanceCheck, Block, Deposit, Head, OutgoingTransaction
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.states import IN_FLIGHT, MINED
from apps.chain.watching import block_records
from apps.chain.watching.blocks import BlockHeader, Inconsistent, Transfer, balances, sent_counts
from apps.chain.watching.traces import FIRST_LOG_INDEX, inner_transfers

ADDRESSES_MAX = 1000
FINDS_MAX = 20
NOBODY = "0x" + "0" * 40

log = structlog.get_logger(__name__)
_unread = Counter(
    "tillgate_chain_balances_unread",
    "Balances that no node would tell",
    ["chain"],
)
_traces_failed = Counter(
    "tillgate_chain_traces_failed",
    "Coins of contracts that were booked without their transaction, though the node traces",
    ["chain"],
)
_Status = OutgoingTransaction.Status


class BalanceWatch:
    """Goes round the open addresses of a chain, some at each look."""

    def __init__(self, nodes: Nodes, facts: block_records.WatchedChain) -> None:
        self._nodes = nodes
        self._facts = facts
        self._last: tuple[datetime, str] | None = None

    def look(self, head: Head, at: datetime) -> None:
        """Compare balances after the head with what the deposits explain."""
        if self._facts.native_asset_id is None:
            return
        addresses = self._next(at)
        checks = {
            item.address_id: item
            for item in BalanceCheck.objects.filter(chain=self._facts.chain, address__in=addresses)
        }
        holdings = dict(zip(addresses, balances(self._nodes, addresses, head.hash), strict=True))
        moving = set(
            _sweeps(self._facts.chain, addresses)
            .filter(status__in=IN_FLIGHT)
            .values_list("from_address", flat=True)
        )
        changed = [
            item
            for item in addresses
            if item not in moving
            and holdings[item] != (checks[item].balance_atomic if item in checks else 0)
        ]
        for address, count in zip(
            changed, sent_counts(self._nodes, changed, head.hash), strict=True
        ):
            before = checks.get(address)
            search = _BalanceSearch(self._nodes, self._facts, address, before)
            check = {
                "block_number": head.number,
                "balance_atomic": holdings[address],
                "sent_count": count,
            }
            try:
                if count == (before.sent_count if before else 0) + len(search.swept(head.number)):
                    self._explain(
                        search, head.number, at
                    )  # else somebody else has its key, and what came in can't be told
            except RpcError as error:
                if not error.is_refusal and not isinstance(error, Inconsistent):
                    raise
                # The nodes answer, so the next address may be told.
                note_unread(self._facts.chain, error, address)
                continue
            BalanceCheck.objects.update_or_create(
                chain=self._facts.chain, address_id=address, defaults=check
            )

    def _next(self, at: datetime) -> list[str]:
        open_ones = Address.objects.filter(
            native_chain=self._facts.chain, watch_balance_until__gt=at
        )
        rest = open_ones
        if self._last is not None:
            after, last = self._last
            rest = open_ones.filter(
                models.Q(watch_balance_until__gt=after)
                | models.Q(watch_balance_until=after, address__gt=last)
            )
        rows = list(
            rest.order_by("watch_balance_until", "address").values_list(
                "watch_balance_until", "address"
            )[:ADDRESSES_MAX]
        )
        until, address = rows[-1] if len(rows) == ADDRESSES_MAX else (None, "")
        self._last = None if until is None else (until, address)
        return [address for _, address in rows]

    def _explain(self, search: "_BalanceSearch", number: int, at: datetime) -> None:
        """Find what came in since the last look and isn't known yet, block by block."""
        address = search.address
        for _ in range(FINDS_MAX):
            block, is_exact = search.first_surplus(number)
            if block is None:
                return
            amount = search.surplus(block)
            traced = inner_transfers(self._nodes, block, address) if is_exact else None
            unknown = [
                transfer
                for transfer in (traced.transfers if traced else ())
                if not search.is_known(transfer, block)
            ]
            remainder = amount - sum(transfer.amount_atomic for transfer in unknown)
            if remainder > 0 and (traced is None or traced.untraced or not traced.can_trace):
                unknown.append(_untraced(block, address, remainder))
                if traced is not None and traced.can_trace:
                    _traces_failed.labels(block.chain_id).inc()
            block_records.record_inner(
                self._facts,
                _header(block),
                [(str(self._facts.native_asset_id), transfer) for transfer in unknown],
                at,
            )
            if sum(transfer.amount_atomic for transfer in unknown) != amount:
                log.error(
                    "balance_unexplained",
                    chain=self._facts.chain.pk,
                    address=address,
                    block=block.number,
                    amount_atomic=str(amount),
                )
                return


def note_unread(chain: Chain, error: RpcError, address: str = "") -> None:
    """The next look finds what this one did not."""
    _unread.labels(chain.pk).inc()
    log.warning("balances_unread", chain=chain.pk, address=address, error=str(error))


class _BalanceSearch:
    """What an address holds beyond what is known, at any block since the last look."""

    def __init__(
        self,
        nodes: Nodes,
        facts: block_records.WatchedChain,
        address: str,
        before: BalanceCheck | None,
    ) -> None:
        self._nodes = nodes
        self._facts = facts
        self._native = str(facts.native_asset_id)
        self.address = address
        self._after = before.block_number if before else -1
        self._held = before.balance_atomic if before else 0

    def first_surplus(self, number: int) -> tuple[Block | None, bool]:
        """The first block with a surplus, or None. Not exact when the node has no older balances:
        it is block `number` then."""
        blocks = Block.objects.filter(
            chain=self._facts.chain, is_canonical=True, number__gt=self._after, number__lte=number
        )
        low = blocks.aggregate(first=models.Min("number"))["first"]
        last = blocks.filter(number=number).first()
        if last is None or self.surplus(last) <= 0:
            return None, True
        candidate = last
        try:
            while low < candidate.number:
                middle = blocks.get(number=(low + candidate.number) // 2)
                if self.surplus(middle) > 0:
                    candidate = middle
                else:
                    low = middle.number + 1
        except RpcError as error:
            if not error.is_refusal:
                raise
            return last, False
        return candidate, True

    def surplus(self, block: Block) -> int:
        [balance] = balances(self._nodes, [self.address], block.hash)
        return balance - self._held - self._deposited(block.number) + sum(self.swept(block.number))

    def swept(self, number: int) -> list[int]:
        """What each sweep since the last look has taken, up to a block."""
        rows = _sweeps(self._facts.chain, [self.address]).filter(status__in=MINED)
        rows = rows.filter(block_number__gt=self._after, block_number__lte=number)
        return [
            row.network_fee_atomic
            + (
                row.amount_atomic
                if row.status == _Status.CONFIRMED and row.asset_id == self._native
                else 0
            )
            for row in rows
        ]

    def is_known(self, transfer: Transfer, block: Block) -> bool:
        deposits = Deposit.objects.filter(
            chain=self._facts.chain, tx_hash=transfer.tx_hash, log_index=transfer.log_index
        )
        return deposits.filter(block_hash=block.hash).exclude(status="failed").exists()

    def _deposited(self, number: int) -> int:
        canonical = Block.objects.filter(
            chain=self._facts.chain, is_canonical=True, hash=models.OuterRef("block_hash")
        )
        deposits = Deposit.objects.filter(
            models.Exists(canonical),
            chain=self._facts.chain,
            address_id=self.address,
            asset_id=self._native,
            block_number__gt=self._after,
            block_number__lte=number,
        )
        return int(deposits.aggregate(total=models.Sum("amount_atomic"))["total"] or 0)


def _sweeps(chain: Chain, addresses: list[str]) -> "models.QuerySet[OutgoingTransaction]":
    return OutgoingTransaction.objects.filter(
        chain=chain, purpose=OutgoingTransaction.Purpose.SWEEP, from_address__in=addresses
    )


def _untraced(block: Block, address: str, amount_atomic: int) -> Transfer:
    count = Deposit.objects.filter(chain_id=block.chain_id, tx_hash=block.hash).count()
    return Transfer("", block.hash, FIRST_LOG_INDEX - count, NOBODY, address, amount_atomic)


def _header(block: Block) -> BlockHeader:
    return BlockHeader(block.number, block.hash, block.parent_hash, block.mined_at)
