"""The surplus of an address over what is known of it, at any block since it was last looked at; and
where coins came from of which no block has a trace."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import models

from apps.assets.models import Asset, Chain
from apps.chain.models import (
    BalanceCheck,
    Block,
    Deposit,
    OutgoingTransaction,
    UnexplainedBalance,
)
from apps.chain.networks.base import Inconsistent, Transfer
from apps.chain.networks.evm.block_headers import TRANSFER_TOPIC, integer
from apps.chain.networks.evm.blocks import balances
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.rpc.state import BlockReference
from apps.chain.states import MINED
from apps.chain.watching.watched import WatchedChain

LOG_BLOCKS_MAX = 1000
CLOCKS_APART = timedelta(hours=1)
_Status = OutgoingTransaction.Status


class BalanceSearch:
    """Of a chain's own coin: its balances may be asked at any block whose state the node has."""

    def __init__(
        self,
        nodes: Nodes,
        facts: WatchedChain,
        address: str,
        before: BalanceCheck | None,
    ) -> None:
        self._nodes = nodes
        self._facts = facts
        self.native = str(facts.native_asset_id)
        self.address = address
        self._after = before.block_number if before else -1
        self._held = before.balance_atomic if before else 0

    def first_surplus(self, number: int) -> tuple[Block | None, bool]:
        """The first block with a surplus, or None. Not exact when the node has no older balances:
        it is the first that the node can tell of then."""
        blocks = Block.objects.filter(
            chain=self._facts.chain, is_canonical=True, number__gt=self._after, number__lte=number
        )
        low = blocks.aggregate(first=models.Min("number"))["first"]
        last = blocks.filter(number=number).first()
        if last is None or self.surplus(last) <= 0:
            return None, True
        candidate = last
        is_exact = True
        while low < candidate.number:
            middle = blocks.get(number=(low + candidate.number) // 2)
            try:
                has_surplus = self.surplus(middle) > 0
            except RpcError as error:
                if not error.is_refusal:
                    raise
                is_exact = False
                has_surplus = False
            if has_surplus:
                candidate = middle
            else:
                low = middle.number + 1
        return candidate, is_exact

    def surplus(self, block: Block) -> int:
        [balance] = balances(self._nodes, [self.address], BlockReference(block.number, block.hash))
        return self.surplus_of(balance, block.number)

    def surplus_of(self, balance_atomic: int, number: int) -> int:
        """Part of the balance after a block that no transfer explains."""
        booked = deposited(self._facts.chain, self.native, self.address, self._after, number)
        booked += accepted(self.native, self.address, self._after, number)
        return balance_atomic - self._held - booked + sum(self.swept(number))

    def swept(self, number: int) -> list[int]:
        """The coins that each sweep since the last look has taken, up to a block."""
        rows = sweeps(self._facts.chain, [self.address]).filter(status__in=MINED)
        rows = rows.filter(block_number__gt=self._after, block_number__lte=number)
        return [row.network_fee_atomic + _taken(row, self.native) for row in rows]

    def knows_in(self, block: Block) -> Callable[[Transfer], bool]:
        """Tells of a transfer of the block whether it is booked."""

        def is_known(transfer: Transfer) -> bool:
            deposits = Deposit.objects.filter(
                chain=self._facts.chain, tx_hash=transfer.tx_hash, log_index=transfer.log_index
            )
            return deposits.filter(block_hash=block.hash).exclude(status="failed").exists()

        return is_known


def token_surplus(chain: Chain, asset_id: str, address: str, held_atomic: int, number: int) -> int:
    """The surplus of a token, from the address's first day on."""
    booked = deposited(chain, asset_id, address, -1, number)
    booked += accepted(asset_id, address, -1, number)
    rows = sweeps(chain, [address]).filter(status__in=MINED, block_number__lte=number)
    return held_atomic - booked + sum(_taken(row, asset_id) for row in rows)


def untold_blocks(
    nodes: Nodes, chain: Chain, asset: Asset, address: str, since: datetime, last: int
) -> list[int]:
    """The blocks with transfers of a token to an address that aren't booked, as the node's own
    index has them."""
    booked = set(
        Deposit.objects.filter(chain=chain, address=address)
        .exclude(status=Deposit.Status.FAILED)
        .values_list("tx_hash", "log_index")
    )
    first = _block_since(chain, since - CLOCKS_APART, last)
    untold = set()
    while first <= last:
        until = min(last, first + LOG_BLOCKS_MAX - 1)
        log_filter: dict[str, object] = {
            "fromBlock": hex(first),
            "toBlock": hex(until),
            "address": asset.contract_address,
            "topics": [TRANSFER_TOPIC, None, "0x" + address[2:].rjust(64, "0")],
        }
        try:
            for entry in nodes.call("eth_getLogs", [log_filter]):
                if (entry["transactionHash"].lower(), integer(entry["logIndex"])) not in booked:
                    untold.add(integer(entry["blockNumber"]))
        except (TypeError, KeyError, ValueError, AttributeError):
            raise Inconsistent("a node's answer isn't a log") from None
        first = until + 1
    return sorted(untold)


def deposited(chain: Chain, asset_id: str, address: str, after: int, number: int) -> int:
    """The coins that came to an address in the blocks after one, up to another."""
    canonical = Block.objects.filter(
        chain=chain, is_canonical=True, hash=models.OuterRef("block_hash")
    )
    deposits = Deposit.objects.filter(
        models.Exists(canonical),
        chain=chain,
        address_id=address,
        asset_id=asset_id,
        block_number__gt=after,
        block_number__lte=number,
    )
    return int(deposits.aggregate(total=models.Sum("amount_atomic"))["total"] or 0)


def accepted(asset_id: str, address: str, after: int, number: int) -> int:
    """The coins that operators have accepted without a block that explains them."""
    rows = UnexplainedBalance.objects.filter(
        asset=asset_id, address=address, block_number__gt=after, block_number__lte=number
    ).exclude(accepted_reason="")
    return int(rows.aggregate(total=models.Sum("amount_atomic"))["total"] or 0)


def sweeps(chain: Chain, addresses: list[str]) -> "models.QuerySet[OutgoingTransaction]":
    return OutgoingTransaction.objects.filter(
        chain=chain, purpose=OutgoingTransaction.Purpose.SWEEP, from_address__in=addresses
    )


def _taken(row: OutgoingTransaction, asset_id: str) -> int:
    is_of_asset = row.status == _Status.CONFIRMED and row.asset_id == asset_id
    return row.amount_atomic if is_of_asset else 0


def _block_since(chain: Chain, moment: datetime, last: int) -> int:
    """The first block that was read and isn't older than a moment; `last` without one."""
    blocks = Block.objects.filter(chain=chain, is_canonical=True)
    low = blocks.aggregate(first=models.Min("number"))["first"]
    high = last
    while low is not None and low < high:
        middle = (low + high) // 2
        if blocks.get(number=middle).mined_at < moment:
            low = middle + 1
        else:
            high = middle
    return high
