"""Senders found to have a key or to be a contract, compared with the chains: refunds depend on the
stored answer."""

from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass

from django.db import connection

from apps.assets.models import Asset, Chain
from apps.audit.custody import Checked
from apps.chain.models import PayerRecord
from apps.chain.nodes import nodes_of
from apps.chain.payers import (
    SHARED_TRANSACTIONS_MIN,
    codes_at,
    has_signed_one,
    has_signed_permit,
    is_delegated,
    transaction_counts,
)
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.selectors import is_watched
from apps.core.invariant import written_since

NAME = "payers_on_chain"
SAYS = "Senders that are known to have a key, or to be contracts, are so on the chain"
BATCH = 100
_WRITTEN = f"""
SELECT p.id, p.address, p.kind,
    ARRAY(SELECT p.tx_hash UNION SELECT d.tx_hash FROM chain_deposit d
        WHERE d.chain_id = p.chain_id AND d.from_address = p.address LIMIT {BATCH})
FROM chain_payer p WHERE p.chain_id = %(chain)s AND p.kind IN ('account', 'contract', 'shared')
    AND (%(boundary)s::text IS NULL OR {written_since("p")})
    AND p.id > %(after)s ORDER BY p.id LIMIT {BATCH}
"""  # noqa: S608  # our own text


@dataclass(frozen=True)
class _SenderRecord:
    id: int
    address: str
    kind: str
    tx_hashes: Sequence[str]


def compare(boundary_xid: int | None) -> list[Checked]:
    """Ask the nodes about all senders, or those recorded since a boundary; never inside a
    transaction."""
    chains = Chain.objects.order_by("pk")
    return [item for chain in chains if is_watched(chain.pk) for item in _of(chain, boundary_xid)]


def _of(chain: Chain, boundary_xid: int | None) -> list[Checked]:
    checked: list[Checked] = []
    after = 0
    contracts = Asset.objects.filter(chain=chain).exclude(contract_address=None)
    tokens = frozenset(map(str, contracts.values_list("contract_address", flat=True)))
    try:
        with closing(nodes_of(chain)) as nodes:
            while senders := _written(chain, boundary_xid, after):
                after = senders[-1].id
                checked += _compare(nodes, senders, tokens)
    except RpcError as error:
        checked.append(Checked(f"senders of {chain.pk}", f"the nodes did not say: {error}"))
    return checked


def _written(chain: Chain, boundary_xid: int | None, after: int) -> list[_SenderRecord]:
    boundary = None if boundary_xid is None else str(boundary_xid)
    with connection.cursor() as cursor:
        cursor.execute(_WRITTEN, {"chain": chain.pk, "boundary": boundary, "after": after})
        return [_SenderRecord(*row) for row in cursor.fetchall()]


def _compare(
    nodes: Nodes, senders: Sequence[_SenderRecord], tokens: Collection[str]
) -> list[Checked]:
    codes = codes_at(nodes, [sender.address for sender in senders])
    counts = transaction_counts(nodes, [sender.address for sender in senders])
    return [
        Checked(f"payer {sender.address}", _problem(nodes, sender, code, count, tokens))
        for sender, code, count in zip(senders, codes, counts, strict=True)
    ]


def _problem(
    nodes: Nodes, sender: _SenderRecord, code: str, count: int, tokens: Collection[str]
) -> str:
    """An account has sent something, has delegated itself, or has signed for who sent its coins; a
    contract has signed, as one of our tokens tells, or a permit that we carried out."""
    is_contract = bool(code) and not is_delegated(code)
    if sender.kind == PayerRecord.Kind.ACCOUNT and has_signed_permit(
        sender.address, sender.tx_hashes
    ):
        return ""
    if sender.kind == PayerRecord.Kind.CONTRACT:
        return "" if is_contract else "it is known as a contract, and has no code"
    if sender.kind == PayerRecord.Kind.SHARED:
        is_busy = not is_contract and count >= SHARED_TRANSACTIONS_MIN
        return "" if is_busy else "it is known to pay for many people, and has sent too little"
    if is_contract:
        has_signed = has_signed_one(nodes, sender.address, sender.tx_hashes, tokens)
        return "" if has_signed else "it is known as an account with a key, and is a contract"
    if code or count:
        return ""
    if has_signed_one(nodes, sender.address, sender.tx_hashes):
        return ""
    return "it is known as an account with a key, and nothing shows one"
