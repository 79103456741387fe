"""Senders of coins: a holder of a key, who can move a refund, or an address that may keep it for
ever (a contract, an exchange's forwarder, a mint).

Nothing is believed to have a key that hasn't shown one: it signed the transaction, an authorization
(as contracts do by EIP-1271), a permit that we carried out, or a delegation to code (EIP-7702). A
wallet that has sent as much as an exchange does has keys, but they aren't the customer's.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.assets.models import Chain
from apps.chain.models import (
    Address,
    Deposit,
    HotWallet,
    OutgoingTransaction,
    PayerRecord,
    SignedTransaction,
)
from apps.chain.networks.families import is_burn, stored
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.sending.authorizations import parties
from apps.chain.sending.permits import PERMIT2
from apps.core.errors import ErrorCode

# AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce), of EIP-3009.
AUTHORIZATION_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
# The code of an account that has delegated itself (EIP-7702): these bytes, then an address.
DELEGATION = "0xef0100"
_DELEGATION_LENGTH = len(DELEGATION) + 40
_NO_CODE = ("0x", "0x0", "", None)
ADDRESSES_MAX = 100
# What has a key after all, by a permit that it signed.
_SHOWN_BY_PERMIT = (PayerRecord.Kind.CONTRACT, PayerRecord.Kind.UNPROVEN)
# Transactions of a wallet that pays for many people; a person makes one a day for 27 years.
SHARED_TRANSACTIONS_MIN = 10_000


@dataclass(frozen=True)
class SenderAddress:
    """An address that coins came from, on a chain."""

    chain_id: str
    address: str

    @property
    def is_nobody(self) -> bool:
        """A mint, a sender that couldn't be traced, or an address that burns what it gets."""
        return is_burn(self.address)


def source_of(deposit: Deposit) -> SenderAddress:
    return SenderAddress(deposit.chain_id, stored(deposit.from_address))


def kinds_of(sources: Iterable[SenderAddress]) -> dict[SenderAddress, PayerRecord.Kind]:
    """The kinds that are known of these; who wasn't looked at isn't among them."""
    senders = set(sources)
    rows = PayerRecord.objects.filter(address__in={source.address for source in senders})
    kinds = {SenderAddress(row.chain_id, row.address): PayerRecord.Kind(row.kind) for row in rows}
    return {source: kinds[source] for source in senders if source in kinds}


def check_payers(
    deposits: Sequence[Deposit], at: datetime, *, patience_seconds: float | None = None
) -> None:
    """Ask the chains about the senders of real deposits of whom nobody has shown a key. Not inside
    a transaction. Raises RpcError when no node answers."""
    real = [deposit for deposit in deposits if not deposit.is_simulated]
    kinds = kinds_of(source_of(deposit) for deposit in real)
    doubtful = [
        deposit
        for deposit in real
        if not source_of(deposit).is_nobody
        and kinds.get(source_of(deposit)) in (None, PayerRecord.Kind.UNPROVEN)
    ]
    chains = {deposit.chain_id: deposit.chain for deposit in doubtful}
    for chain_id, chain in sorted(chains.items()):
        own = [deposit for deposit in doubtful if deposit.chain_id == chain_id]
        for start in range(0, len(own), ADDRESSES_MAX):
            _check(chain, own[start : start + ADDRESSES_MAX], at, patience_seconds)


def _check(
    chain: Chain, deposits: Sequence[Deposit], at: datetime, patience_seconds: float | None
) -> None:
    with closing(nodes_of(chain, patience_seconds=patience_seconds)) as nodes:
        codes = codes_at(nodes, [deposit.from_address for deposit in deposits])
        counts = transaction_counts(nodes, [deposit.from_address for deposit in deposits])
        hashes = [("eth_getTransactionReceipt", [deposit.tx_hash]) for deposit in deposits]
        receipts = nodes.batch(hashes)
    rows: dict[str, PayerRecord] = {}
    own = _own({stored(deposit.from_address) for deposit in deposits})
    for deposit, code, count, receipt in zip(deposits, codes, counts, receipts, strict=True):
        address = stored(deposit.from_address)
        kind = _kind(deposit, code, count, receipt)
        if address in own:
            kind = PayerRecord.Kind.OURS
        elif kind in _SHOWN_BY_PERMIT and has_signed_permit(address, [deposit.tx_hash]):
            kind = PayerRecord.Kind.ACCOUNT
        if address not in rows or kind is PayerRecord.Kind.ACCOUNT:
            rows[address] = PayerRecord(
                chain=chain, address=address, kind=kind, tx_hash=deposit.tx_hash, checked_at=at
            )
    # What one has shown isn't taken back; a row that is there stays, unless a key was shown since.
    accounts = [row.address for row in rows.values() if row.kind == PayerRecord.Kind.ACCOUNT]
    PayerRecord.objects.bulk_create(rows.values(), ignore_conflicts=True)
    PayerRecord.objects.filter(
        chain=chain, address__in=accounts, kind=PayerRecord.Kind.UNPROVEN
    ).update(kind=PayerRecord.Kind.ACCOUNT, checked_at=at)


def _kind(deposit: Deposit, code: str, count: int, receipt: Any) -> PayerRecord.Kind:
    """A receipt tells who signed its transaction, and whose authorizations were used in it: those
    of contracts as the deposit's own token tells them."""
    address = stored(deposit.from_address)
    if code and not is_delegated(code):
        has_signed = _has_signed(receipt, address, [str(deposit.asset.contract_address)])
        return PayerRecord.Kind.ACCOUNT if has_signed else PayerRecord.Kind.CONTRACT
    if count >= SHARED_TRANSACTIONS_MIN:
        return PayerRecord.Kind.SHARED
    if code:
        return PayerRecord.Kind.ACCOUNT
    has_signed = _has_signed(receipt, address)
    return PayerRecord.Kind.ACCOUNT if has_signed else PayerRecord.Kind.UNPROVEN


def _has_signed(receipt: Any, address: str, tokens: Collection[str] = ()) -> bool:
    """The transaction, or an authorization in it; of a contract, which signs no transaction, one
    that these tokens tell. Raises RpcError."""
    try:
        is_sender = not tokens and receipt["from"].lower() == address
        return is_sender or has_authorized(receipt, address, tokens)
    except (TypeError, KeyError, AttributeError):
        raise RpcError("a receipt is missing", ErrorCode.MALFORMED) from None


def has_authorized(receipt: Any, address: str, tokens: Collection[str] = ()) -> bool:
    """Tell whether the transaction used an authorization that this address has signed (EIP-3009),
    as some contract tells, or one of these tokens. Raises TypeError, KeyError or AttributeError
    when it is no receipt."""
    padded = f"0x{address[2:]:0>64}"
    topics = [
        log["topics"] for log in receipt["logs"] if not tokens or log["address"].lower() in tokens
    ]
    return any(
        len(topic) > 1 and topic[0].lower() == AUTHORIZATION_USED and topic[1].lower() == padded
        for topic in topics
    )


def has_signed_one(
    nodes: Nodes, address: str, tx_hashes: Sequence[str], tokens: Collection[str] = ()
) -> bool:
    """Tell whether one of the transactions used an authorization that this address has signed.
    Raises RpcError."""
    receipts = nodes.anyone([("eth_getTransactionReceipt", [tx_hash]) for tx_hash in tx_hashes])
    told = [receipt for receipt in receipts if receipt is not None]
    return any(has_authorized(receipt, address, tokens) for receipt in told)


def has_signed_permit(address: str, tx_hashes: Sequence[str]) -> bool:
    """Tell whether one of the transactions is ours and carried out a permit that this address has
    signed, as Permit2 has checked."""
    rows = SignedTransaction.objects.filter(
        tx_hash__in=tx_hashes,
        outgoing__purpose=OutgoingTransaction.Purpose.X402,
        outgoing__to_address=PERMIT2,
    )
    return any(parties(row.outgoing)[0] == address for row in rows.select_related("outgoing"))


def codes_at(nodes: Nodes, addresses: Sequence[str]) -> list[str]:
    """The code of each address in lower case, empty where there is none. Raises RpcError."""
    codes = nodes.batch([("eth_getCode", [address, "latest"]) for address in addresses])
    if not all(code in _NO_CODE or isinstance(code, str) for code in codes):
        raise RpcError("a code is none", ErrorCode.MALFORMED)
    return ["" if code in _NO_CODE else code.lower() for code in codes]


def transaction_counts(nodes: Nodes, addresses: Sequence[str]) -> list[int]:
    """Transactions that each address has sent. Raises RpcError."""
    requests = [("eth_getTransactionCount", [address, "latest"]) for address in addresses]
    try:
        return [int(count, 16) for count in nodes.batch(requests)]
    except (TypeError, ValueError):
        raise RpcError("a transaction count is none", ErrorCode.MALFORMED) from None


def is_delegated(code: str) -> bool:
    return code.startswith(DELEGATION) and len(code) == _DELEGATION_LENGTH


def _own(addresses: set[str]) -> set[str]:
    return {
        *Address.objects.filter(pk__in=addresses).values_list("pk", flat=True),
        *HotWallet.objects.filter(address__in=addresses).values_list("address", flat=True),
    }
