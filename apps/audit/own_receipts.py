"""Receipts of merchants' own wallets, compared with the chains: each deposit by its transaction,
since the coins may have left."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from apps.assets.models import Asset, Chain
from apps.audit.custody import Checked
from apps.chain.networks.base import NATIVE_LOG_INDEX, Reader
from apps.chain.networks.families import stored
from apps.chain.networks.readers import reader_of
from apps.chain.providers.base import RpcError
from apps.chain.selectors import is_watched
from apps.core.invariant import written_since
from apps.ledger import keys

NAME = "own_receipts_on_chain"
SAYS = (
    "What is booked as received in merchants’ own wallets came there, by its transaction, and what"
    " is booked as lost is in no block"
)
BATCH = 100
# Of those that are reversed the newest loss counts.
_WRITTEN = f"""
SELECT d.id, d.asset_id, d.address_id, d.tx_hash, d.log_index, d.amount_atomic, d.is_lost,
    d.required_confirmations
FROM chain_deposit d JOIN chain_address a ON a.address = d.address_id AND a.purpose = 'own'
WHERE d.chain_id = %(chain)s AND NOT d.is_simulated AND (NOT d.is_lost AND d.status = 'confirmed'
    OR d.is_lost AND EXISTS (SELECT FROM ledger_movement m WHERE m.kind = 'own_deposit_reversed'
        AND {keys.subject_sql("m.key")} = d.id::text AND NOT EXISTS (SELECT FROM ledger_movement r
            WHERE r.key = replace(m.key, '{keys.OWN_REVERSED.name}', '{keys.OWN_RESTORED.name}'))))
    AND (%(boundary)s::text IS NULL OR {written_since("d")})
    AND d.id > %(after)s ORDER BY d.id LIMIT {BATCH}
"""  # noqa: S608  # our own text
_FIRST = UUID(int=0)


@dataclass(frozen=True)
class _Receipt:
    id: UUID
    asset_id: str
    address: str
    tx_hash: str
    place: int
    amount_atomic: int
    is_reversed: bool
    required_confirmations: int


def compare(boundary_xid: int | None) -> list[Checked]:
    """Ask the nodes about all of them, or those written since a boundary; never inside a
    transaction."""
    chains = Chain.objects.order_by("pk")
    return [item for chain in chains if is_watched(chain.pk) for item in _of(chain, boundary_xid)]


def _of(chain: Chain, boundary_xid: int | None) -> Iterator[Checked]:
    after: UUID = _FIRST
    assets = {asset.pk: asset for asset in Asset.objects.filter(chain=chain)}
    while receipts := _written(chain, boundary_xid, after):
        after = receipts[-1].id
        try:
            with closing(reader_of(chain)) as reader:
                for receipt in receipts:
                    yield Checked(
                        f"deposit {receipt.id}", _why(reader, receipt, assets[receipt.asset_id])
                    )
        except RpcError as error:
            yield Checked(f"{chain.pk}", f"the nodes did not say: {error}")
            return


def _why(reader: Reader, receipt: _Receipt, asset: Asset) -> str:
    """Difference between a receipt and the chain; empty when the chain has it. What was moved
    inside of a transaction is only compared with that it succeeded."""
    contracts = [stored(asset.contract_address)] if asset.contract_address else []
    if receipt.is_reversed:
        found = reader.transaction(receipt.tx_hash, contracts, receipt.required_confirmations)
        is_there = found is not None and found.confirmations >= receipt.required_confirmations
        return f"it is booked as lost, and a block has {receipt.tx_hash}" if is_there else ""
    found = reader.transaction(receipt.tx_hash, contracts, 1)
    if found is None or not found.has_moved:
        return f"no block has {receipt.tx_hash}, or it moved nothing"
    if receipt.place < NATIVE_LOG_INDEX:
        return ""
    came = sum(
        transfer.amount_atomic
        for transfer in found.transfers
        if transfer.log_index == receipt.place
        and transfer.to_address == receipt.address
        and transfer.contract == (contracts[0] if contracts else "")
    )
    if came == receipt.amount_atomic:
        return ""
    return f"booked are {receipt.amount_atomic}, {receipt.tx_hash} brought {came}"


def _written(chain: Chain, boundary_xid: int | None, after: UUID) -> Sequence[_Receipt]:
    with connection.cursor() as cursor:
        cursor.execute(
            _WRITTEN,
            {
                "chain": chain.pk,
                "boundary": None if boundary_xid is None else str(boundary_xid),
                "after": after,
            },
        )
        return [
            _Receipt(id, asset_id, address, tx_hash, place, int(amount), is_lost, required)
            for id, asset_id, address, tx_hash, place, amount, is_lost, required in (
                cursor.fetchall()
            )
        ]
