"""A refund as the API tells it."""

from msgspec import UNSET, UnsetType

from apps.chain.networks.families import shown_address
from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Digits, Document, Id, Time
from apps.payments.documents.values import RefundReason, RefundStatus
from apps.payments.models import Refund


class RefundDocument(Document, frozen=True, kw_only=True):
    """`refund_in_progress` is there in the answer to a request that asked for something else
    meanwhile."""

    id: Id
    payment_intent_id: Id
    status: RefundStatus
    reason: RefundReason
    destination_address: str
    amount_atomic: Digits
    amount: Decimals
    tx_hash: str | None
    attempts: int
    failure_reason: str | None
    asset_id: str
    coin_symbol: str
    chain_symbol: str
    atomic_decimals: int
    created_at: Time
    updated_at: Time
    refund_in_progress: bool | UnsetType = UNSET


def refund_document(refund: Refund, *, is_other: bool = False) -> RefundDocument:
    asset = refund.asset
    return RefundDocument(
        id=str(refund.pk),
        payment_intent_id=str(refund.payment_id),
        status=refund.status,
        reason=refund.reason,
        destination_address=shown_address(refund.destination_address),
        amount_atomic=str(refund.amount_atomic),
        amount=money.decimal_from_atomic(refund.amount_atomic, asset.atomic_decimals),
        tx_hash=refund.tx_hash,
        attempts=refund.attempts,
        failure_reason=refund.failure_reason,
        asset_id=asset.pk,
        coin_symbol=asset.coin_symbol,
        chain_symbol=asset.chain.symbol,
        atomic_decimals=asset.atomic_decimals,
        created_at=iso(refund.created_at),
        updated_at=iso(refund.updated_at),
        refund_in_progress=True if is_other else UNSET,
    )
