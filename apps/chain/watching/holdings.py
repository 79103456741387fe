"""Compares what addresses hold with what is booked of them, which finds what no block shows: coins
that contracts sent, and what a node left out.

A surplus has its block read again and traced. What nobody explains stays open, and the address
counts as looked at only when nothing is left (decision 517).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Greatest, Least

from apps.assets.models import Asset, Chain
from apps.chain.models import (
    Address,
    AddressLook,
    BalanceCheck,
    Block,
    Head,
    SightingRecord,
    UnexplainedBalance,
)
from apps.chain.networks.base import BlockHeader, Inconsistent
from apps.chain.networks.evm.block_headers import integer
from apps.chain.networks.evm.block_receipts import receipts_at
from apps.chain.networks.evm.blocks import sent_counts
from apps.chain.networks.families import tells_all
from apps.chain.networks.readers import reader_of
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.rpc.state import BlockReference, each_at
from apps.chain.selectors import covered_until
from apps.chain.states import IN_FLIGHT
from apps.chain.watching import again, block_records
from apps.chain.watching.balance_search import (
    BalanceSearch,
    sweeps,
    token_surplus,
    untold_blocks,
)
from apps.chain.watching.internal_transfers import new_transfers, note_unread
from apps.chain.watching.watched import WatchedChain
from apps.core.errors import ErrorCode

FINDS_MAX = 20
_BALANCE_OF = "0x70a08231"

log = structlog.get_logger(__name__)


class HoldingsLook:
    """The balances of addresses of one chain after its head, for one look."""

    def __init__(self, nodes: Nodes, facts: WatchedChain, head: Head, at: datetime) -> None:
        self._nodes = nodes
        self._reader = reader_of(facts.chain, nodes)
        self._facts = facts
        self._head = head
        self._block = BlockReference(head.number, head.hash)
        self._at = at
        self._read: set[int] = set()

    def look(self, assets: Mapping[str, str]) -> set[str]:
        """Those of the addresses, each with its asset, whose coins are all explained. Raises
        RpcError when no node answers, and HeadMoved."""
        if tells_all(self._facts.chain):
            self._close(assets)
            return set(assets)
        native = [address for address, asset in assets.items() if self._is_native(asset)]
        tokens = {address: asset for address, asset in assets.items() if address not in native}
        moving = set(
            sweeps(self._facts.chain, list(assets))
            .filter(status__in=IN_FLIGHT)
            .values_list("from_address", flat=True)
        )
        explained = self._look_at_native([item for item in native if item not in moving])
        explained |= self._look_at_tokens(
            {address: asset for address, asset in tokens.items() if address not in moving}
        )
        self._close(explained)
        return explained

    def note(self, addresses: Iterable[str]) -> None:
        """That nothing more came to these by the time which the head covers."""
        looks = [
            AddressLook(
                address_id=address,
                chain=self._facts.chain,
                block_number=self._head.number,
                looked_until=covered_until(self._head),
            )
            for address in addresses
        ]
        with transaction.atomic():
            self._hold_head()
            AddressLook.objects.bulk_create(
                looks,
                update_conflicts=True,
                unique_fields=["address"],
                update_fields=["chain", "block_number", "looked_until"],
            )

    def _is_native(self, asset_id: str) -> bool:
        return asset_id == self._facts.native_asset_id

    # --- the chain's own coin ---------------------------------------------------------------------

    def _look_at_native(self, addresses: list[str]) -> set[str]:
        at = {"blockHash": self._head.hash}
        held = self._figures({item: ("eth_getBalance", [item, at]) for item in addresses})
        rows = BalanceCheck.objects.filter(chain=self._facts.chain, address__in=list(held))
        checks = {item.address_id: item for item in rows}
        changed = [
            item
            for item, balance in held.items()
            if balance != (checks[item].balance_atomic if item in checks else 0)
        ]
        counts = dict(zip(changed, sent_counts(self._nodes, changed, self._block), strict=True))
        explained = set(held) - set(changed)
        new_checks = []
        try:
            for address in changed:
                search = BalanceSearch(self._nodes, self._facts, address, checks.get(address))
                if self._is_explained(search, held[address], counts[address], checks):
                    explained.add(address)
                    new_checks.append(
                        BalanceCheck(
                            chain=self._facts.chain,
                            address_id=address,
                            block_number=self._head.number,
                            balance_atomic=held[address],
                            sent_count=counts[address],
                        )
                    )
        finally:  # what one look has found isn't looked for by the next
            self._store(new_checks)
        return explained

    def _is_explained(
        self, search: BalanceSearch, held: int, sent: int, checks: Mapping[str, BalanceCheck]
    ) -> bool:
        """Tell whether all that an address holds is booked now."""
        before = checks.get(search.address)
        if sent != (before.sent_count if before else 0) + len(search.swept(self._head.number)):
            return True  # somebody else has its key, and what came in can't be determined
        try:
            surplus = self._explain(search)
        except RpcError as error:
            if not _is_of_one(error):
                raise
            if isinstance(error, Inconsistent):
                self._nodes.doubt()
            note_unread(self._facts.chain, error, search.address)
            surplus = search.surplus_of(held, self._head.number)
        if surplus > 0:
            self._leave_open(search.address, search.native, surplus)
        return surplus <= 0

    def _explain(self, search: BalanceSearch) -> int:
        """Find what came in since the last look and isn't known yet, block by block; what is left
        unexplained."""
        block = None
        for _ in range(FINDS_MAX):
            block, is_exact = search.first_surplus(self._head.number)
            if block is None:
                return 0
            self._read_again(block.number)
            amount = search.surplus(block)
            if amount <= 0:
                continue
            transfers = new_transfers(
                self._nodes,
                block,
                search.address,
                amount,
                search.knows_in(block),
                is_exact=is_exact,
            )
            receipts_at(self._nodes, self._facts.chain.pk, block.hash)
            block_records.record_more(
                self._facts,
                BlockHeader(block.number, block.hash, block.parent_hash, block.mined_at),
                [(search.native, item) for item in transfers],
                self._at,
            )
            amount -= sum(item.amount_atomic for item in transfers)
            if amount > 0:
                return amount
        return search.surplus(block) if block is not None else 0

    # --- tokens -----------------------------------------------------------------------------------

    def _look_at_tokens(self, tokens: Mapping[str, str]) -> set[str]:
        assets = Asset.objects.in_bulk(set(tokens.values()))
        at = {"blockHash": self._head.hash}
        calls = {
            address: _balance_call(assets[asset], address, at)
            for address, asset in tokens.items()
            if assets[asset].contract_address
        }
        # On a chain where nobody has deployed the token nothing can come.
        explained = set(tokens) - set(calls)
        for address, held in self._figures(calls).items():
            asset = assets[tokens[address]]
            surplus = self._left_of_token(asset, address, held)
            if surplus > 0:
                try:
                    surplus = self._find_token(asset, address, held)
                except RpcError as error:
                    if not _is_of_one(error):
                        raise
                    if isinstance(error, Inconsistent):
                        self._nodes.doubt()
                    note_unread(self._facts.chain, error, address)
            if surplus > 0:
                self._leave_open(address, asset.pk, surplus)
            else:
                explained.add(address)
        return explained

    def _left_of_token(self, asset: Asset, address: str, held: int) -> int:
        return token_surplus(self._facts.chain, asset.pk, address, held, self._head.number)

    def _find_token(self, asset: Asset, address: str, held: int) -> int:
        """Read the blocks again that have transfers which aren't booked; what is left."""
        since = Address.objects.values_list(
            Least(Greatest("created_at", Value(block_records.NEVER)), Value(self._at)), flat=True
        ).get(pk=address)
        numbers = untold_blocks(
            self._nodes, self._facts.chain, asset, address, since, self._head.number
        )
        for number in numbers[:FINDS_MAX]:
            self._read_again(number)
        return self._left_of_token(asset, address, held)

    # --- both -------------------------------------------------------------------------------------

    def _figures(self, calls: Mapping[str, Call]) -> dict[str, int]:
        """The balance of each address; without those of which a node refuses to say, and zero where
        the contract itself does. Raises RpcError when it says nothing of any."""
        answers = each_at(self._nodes, list(calls.values()), self._block)
        figures: dict[str, int] = {}
        refusals: list[RpcError] = []
        for address, answer in zip(calls, answers, strict=True):
            if isinstance(answer, RpcError):
                if answer.code == ErrorCode.REVERTED:
                    figures[address] = 0
                else:
                    refusals.append(answer)
                continue
            try:
                figures[address] = 0 if answer == "0x" else integer(answer)
            except ValueError:
                raise Inconsistent("a node's answer isn't a figure") from None
        for address in calls.keys() - figures.keys():
            note_unread(self._facts.chain, refusals[0], address)
        if refusals and not figures:
            raise refusals[0]
        return figures

    def _read_again(self, number: int) -> None:
        """Once a look: several addresses may have something in one block."""
        if number not in self._read:
            again.read_again(self._reader, self._facts, [number], self._at)
            self._read.add(number)

    def _store(self, checks: list[BalanceCheck]) -> None:
        if not checks:
            return
        with transaction.atomic():
            self._hold_head()
            BalanceCheck.objects.bulk_create(
                checks,
                update_conflicts=True,
                unique_fields=["chain", "address"],
                update_fields=["block_number", "balance_atomic", "sent_count"],
            )

    def _hold_head(self) -> None:
        """Keep the block canonical until what is written about it is committed. Raises
        HeadMoved."""
        Head.objects.select_for_update().get(chain=self._facts.chain)
        stands = Block.objects.filter(
            chain=self._facts.chain, hash=self._head.hash, is_canonical=True
        )
        if not stands.exists():
            raise block_records.HeadMoved

    def _leave_open(self, address: str, asset_id: str, amount_atomic: int) -> None:
        """For staff, until a look explains it. Each new surplus is an error in the log once."""
        facts = {
            "block_number": self._head.number,
            "amount_atomic": amount_atomic,
            "looked_at": self._at,
        }
        open_rows = UnexplainedBalance.objects.filter(
            address_id=address, asset_id=asset_id, settled_at=None
        )
        is_known = open_rows.filter(amount_atomic=amount_atomic).exists()
        open_rows.update_or_create(
            defaults=facts,
            create_defaults={
                **facts,
                "address_id": address,
                "asset_id": asset_id,
                "chain": self._facts.chain,
                "found_at": self._at,
            },
        )
        if not is_known:
            log.error(
                "balance_unexplained",
                chain=self._facts.chain.pk,
                address=address,
                asset=asset_id,
                block=self._head.number,
                amount_atomic=str(amount_atomic),
            )

    def _close(self, explained: Iterable[str]) -> None:
        open_ones = UnexplainedBalance.objects.filter(
            chain=self._facts.chain, address__in=list(explained), settled_at=None
        )
        open_ones.update(settled_at=self._at)


def holders_now(nodes: Nodes, assets: Mapping[str, Asset]) -> list[str]:
    """Those of the addresses that hold anything of their asset, as far as the node knows the chain.
    Raises RpcError, also when it refuses to say of one."""
    chain = next((asset.chain for asset in assets.values()), None)
    if chain is not None and tells_all(chain):
        return _on_their_way(chain, nodes, assets)
    calls = [_balance_call(asset, address, "latest") for address, asset in assets.items()]
    try:
        figures = [0 if answer == "0x" else integer(answer) for answer in nodes.batch(calls)]
    except ValueError:
        raise Inconsistent("a node's answer isn't a figure") from None
    return [address for address, held in zip(assets, figures, strict=True) if held > 0]


def _balance_call(asset: Asset, address: str, at: str | dict[str, str]) -> Call:
    if asset.is_native:
        return "eth_getBalance", [address, at]
    data = f"{_BALANCE_OF}{address[2:]:0>64}"
    return "eth_call", [{"to": asset.contract_address, "data": data}, at]


def _is_of_one(error: RpcError) -> bool:
    """Tell whether it is about this address, and others may be asked."""
    return isinstance(error, Inconsistent) or error.is_refusal


def _on_their_way(chain: Chain, nodes: Nodes, addresses: Iterable[str]) -> list[str]:
    """Where blocks tell all, those that something waits for to be mined. Raises RpcError while the
    watcher has yet to read a block."""
    newest = reader_of(chain, nodes).latest(0).number
    head = Head.objects.filter(chain=chain).values_list("number", flat=True).first()
    if head is None or head < newest:
        raise RpcError("the watcher has yet to read a block", ErrorCode.MALFORMED)
    waiting = SightingRecord.objects.filter(
        address__in=list(addresses), status=SightingRecord.Status.WAITING
    )
    return sorted(set(waiting.values_list("address_id", flat=True)))
