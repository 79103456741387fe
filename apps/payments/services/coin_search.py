"""Staff look for coins that somebody says they have sent: by the hash of a transaction, and by
blocks that the watcher reads once more. It books what the chain has and the books don't, and
nothing else.

Each search is in the audit log with its reason.
"""

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from apps.assets.models import Asset, Chain
from apps.chain.networks import families
from apps.chain.watching import again, look_up
from apps.core.errors import Failure
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.transaction_lookup import (
    TEXT_MAX,
    LookupResult,
    NoHash,
    find_transaction,
    hash_in,
)
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.staff_roles import StaffMember

BLOCKS_MAX = 100
PAYMENTS_MAX = 10


class SearchRefused(Failure):
    """The text says why."""


@dataclass(frozen=True)
class PaymentOfTransaction:
    """Relation of a transaction to a payment whose address it reached."""

    payment: Payment
    result: LookupResult


@dataclass(frozen=True)
class TransactionSearch:
    """Result of a search for a transaction: its place, and each payment that it reached. Without a
    chain none of the `networks` has it."""

    tx_hash: str
    chain: Chain | None
    networks: tuple[str, ...] = ()
    has_failed: bool = False
    is_mined: bool = False
    lost_to: str = ""  # the token whose own contract got the coins
    payments: tuple[PaymentOfTransaction, ...] = ()


def ask_for_blocks(chain_id: str, first: int, last: int, reason: str, staff: StaffMember) -> int:
    """Have the watcher read these blocks again; how many they are. Raises StaffForbidden,
    SearchRefused or again.NotReadable."""
    staff_roles.check(staff, staff_roles.COINS_FIND)
    _check_reason(reason)
    chain = Chain.objects.filter(pk=chain_id).first()
    if chain is None or not look_up.can_ask(chain):
        raise SearchRefused("This network has no node here")
    count = last - first + 1
    if not 1 <= count <= BLOCKS_MAX:
        raise SearchRefused(f"Enter a range of 1 to {BLOCKS_MAX} blocks, the first one first")
    again.check_were_read(chain, first, last)
    with transaction.atomic():
        again.ask(chain.pk, range(first, last + 1))
        audit.record(
            "blocks.asked_again",
            target=chain,
            name=chain.name,
            reason=reason,
            details={"first": first, "last": last},
        )
    return count


def find(text: str, reason: str, staff: StaffMember) -> TransactionSearch:
    """Find a transaction on every network with a node, and have its block read again where it
    reached a payment that doesn't have it. Not inside a transaction. Raises StaffForbidden,
    SearchRefused or NoHash."""
    staff_roles.check(staff, staff_roles.COINS_FIND)
    _check_reason(reason)
    tx_hash = hash_in(text)
    if tx_hash is None:
        raise NoHash
    audit.record("transaction.looked_up", name=tx_hash, reason=reason)
    chains = [
        row for row in Chain.objects.order_by("mode", "pk") if settings.CHAIN_URLS.get(row.pk)
    ]
    networks: tuple[str, ...] = ()
    match = None
    for each in families.hashes_in(text.strip()[:TEXT_MAX]):  # as each family spells it
        like = [chain for chain in chains if families.has_hashes_like(chain, each)]
        result = look_up.search(like, each, None, {})
        networks += tuple(chain.name for chain in result.searched_chains)
        match = result.match
        if match is not None:
            tx_hash = each
            break
    if match is None:
        return TransactionSearch(tx_hash, None, networks)
    tokens = Asset.objects.filter(
        chain=match.chain, contract_address__in={item.address for item in match.reached}
    )
    lost_to = tokens.values_list("coin_symbol", flat=True).first() or ""
    rows = PaymentAddress.objects.filter(address__in={item.address for item in match.reached})
    payments = {row.payment_id: row.payment for row in rows.select_related("payment__store")}
    return TransactionSearch(
        tx_hash,
        match.chain,
        networks,
        has_failed=match.has_failed,
        is_mined=match.block_number is not None,
        lost_to=lost_to,
        payments=tuple(
            PaymentOfTransaction(payment, find_transaction(payment, tx_hash).result)
            for payment in list(payments.values())[:PAYMENTS_MAX]
        ),
    )


def _check_reason(reason: str) -> None:
    if not reason.strip():
        raise SearchRefused("Give a reason")
