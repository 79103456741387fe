"""A refund as the API tells it."""

from typing import Any

from apps.chain.addresses import checksummed
from apps.core import money
from apps.core.clock import iso
from apps.payments.models import Refund


def refund_document(refund: Refund, *, is_other: bool = False) -> dict[str, Any]:
    """With `is_other` it is the answer to a request that asked for something else meanwhile."""
    asset = refund.asset
    return {
        "id": str(refund.pk),
        "payment_intent_id": str(refund.payment_id),
        "status": refund.status,
        "reason": refund.reason,
        "destination_address": checksummed(refund.destination_address),
        "amount_atomic": str(refund.amount_atomic),
        "amount": money.decimal_from_atomic(refund.amount_atomic, asset.atomic_decimals),
        "tx_hash": refund.tx_hash,
        "attempts": refund.attempts,
        "failure_reason": refund.failure_reason,
        "asset_id": asset.pk,
        "coin_symbol": asset.coin_symbol,
        "chain_symbol": asset.chain.symbol,
        "atomic_decimals": asset.atomic_decimals,
        "created_at": iso(refund.created_at),
        "updated_at": iso(refund.updated_at),
        **({"refund_in_progress": True} if is_other else {}),
    }
