"""The `data.object` of a test delivery: one example per event, shaped as the real event is."""

from typing import Any

_REFERENCE = "TESTEVENT0000001"
_ID = "00000000-0000-4000-8000-000000000001"
_AT = "2026-01-01T12:00:00.000000Z"
_INTENT_MOVES: dict[str, tuple[str | None, str, str | None]] = {
    "created": (None, "pending", None),
    "processing": ("pending", "processing", "pending_confirmations"),
    "completed": ("processing", "completed", "completed_exact"),
    "expired": ("pending", "expired", "expired_timeout"),
    "failed": ("processing", "failed", "failed_underpaid"),
    "refunded": ("completed", "refunded", "refund_completed"),
}
_TRANSACTION_MOVES: dict[str, tuple[str, str, str | None]] = {
    "confirming": ("pending", "processing", "pending_confirmations"),
    "confirmed": ("processing", "completed", "completed_exact"),
    "failed": ("pending", "pending", None),
}
_INVOICE_STATUS = {"finalized": "open", "paid": "paid", "voided": "void"}
_SUBSCRIPTION_STATUS = {"created": "active", "updated": "active", "past_due": "past_due", "canceled": "canceled"}
_PAYOUT_STATUS = {"created": "pending", "confirmed": "confirmed", "failed": "failed"}


def sample(event_type: str) -> dict[str, Any]:
    """A made-up object for any event that can be subscribed to."""
    family, _, name = event_type.rpartition(".")
    match family:
        case "payment_intent":
            return _intent(*_INTENT_MOVES[name])
        case "transaction":
            return {**_intent(*_TRANSACTION_MOVES[name]), "transaction": _transaction(name)}
        case "invoice":
            return _invoice(_INVOICE_STATUS[name])
        case "subscription":
            return _subscription(_SUBSCRIPTION_STATUS[name])
        case "store.verification":
            return _verification(name)
        case "store":
            return {"id": _ID, "name": "Example Store", "external_id": "example-1", "deleted_at": _AT}
        case "payout":
            return {"id": _ID, "status": _PAYOUT_STATUS[name], "amount_atomic": "10000000000000000", "created_at": _AT}
        case _:
            return {"id": _ID, "status": name, "amount_atomic": "100000000000000", "asset_id": "SETH", "created_at": _AT}


def _intent(from_status: str | None, to_status: str, state_reason: str | None) -> dict[str, Any]:
    return {
        "id": _REFERENCE,
        "payment_intent_id": _ID,
        "reference": _REFERENCE,
        "status": to_status,
        "state_reason": state_reason,
        "settlement_amount_cents": 1000,
        "settlement_currency": "EUR",
        "from_status": from_status,
        "to_status": to_status,
        "order_id": "order-1",
        "metadata": {"test": "true"},
    }


def _transaction(status: str) -> dict[str, Any]:
    return {
        "tx_hash": "0x" + "11" * 32,
        "from_address": "0x" + "22" * 20,
        "deposit_address": "0x" + "33" * 20,
        "confirmations": 3 if status == "confirmed" else 0,
        "required_confirmations": 3,
        "status": status,
        "coin_symbol": "ETH",
        "chain_symbol": "SETH",
        "chain_name": "Ethereum Sepolia",
        "network": "sepolia",
        "explorer_url": None,
        "confirmed_at": _AT if status == "confirmed" else None,
        "asset_id": "SETH",
        "amount_atomic": "5555560000000000",
        "atomic_decimals": 18,
        "block_number": None,
        "detected_at": _AT,
        "simulated": True,
    }


_CUSTOMER = {"id": _ID, "email": "customer@example.com", "name": "Example Customer"}
_PRICE = {
    "id": _ID,
    "product_id": _ID,
    "product_name": "Example Plan",
    "unit_amount_cents": 1000,
    "currency": "EUR",
    "interval": "month",
    "interval_count": 1,
}


def _invoice(status: str) -> dict[str, Any]:
    line = {"id": _ID, "description": "Example Plan", "quantity": 1, "unit_amount_cents": 1000, "amount_cents": 1000, "position": 0}
    empty = ("custom_number", "po_number", "subscription_id", "period_key", "discount_type", "discount_value", "tax_rate_bps")
    silent = ("description", "notes", "footer", "needs_attention")
    return {
        "id": _ID,
        "status": status,
        "number": 1,
        "formatted_number": "INV-0001",
        "public_token": None,
        "hosted_url": None,
        **dict.fromkeys((*empty, *silent)),
        "customer_id": _ID,
        "customer": _CUSTOMER,
        "currency": "EUR",
        "subtotal_cents": 1000,
        "discount_cents": 0,
        "tax_cents": 0,
        "total_cents": 1000,
        "amount_paid_cents": 1000 if status == "paid" else 0,
        "refunded_cents": 0,
        "due_at": _AT,
        "metadata": {"test": "true"},
        "line_items": [line],
        "livemode": False,
        "finalized_at": _AT,
        "paid_at": _AT if status == "paid" else None,
        "voided_at": _AT if status == "void" else None,
        "created_at": _AT,
        "updated_at": _AT,
    }


def _subscription(status: str) -> dict[str, Any]:
    return {
        "id": _ID,
        "status": status,
        "customer_id": _ID,
        "customer": _CUSTOMER,
        "price_id": _ID,
        "price": _PRICE,
        "quantity": 1,
        "items": [{"id": None, "quantity": 1, "price": _PRICE}],
        "started_at": _AT,
        "current_period_start": _AT,
        "current_period_end": "2026-02-01T12:00:00.000000Z",
        "next_billing_at": None if status == "canceled" else "2026-02-01T12:00:00.000000Z",
        "trial_end": None,
        "cancel_at_period_end": False,
        "cancel_at": None,
        "canceled_at": _AT if status == "canceled" else None,
        "paused_at": None,
        "failed_cycle_count": 1 if status == "past_due" else 0,
        "grace_cycles": 3,
        "amount_cents": 1000,
        "currency": "EUR",
        "interval": "month",
        "interval_count": 1,
        "metadata": {"test": "true"},
        "livemode": False,
        "created_at": _AT,
        "updated_at": _AT,
    }


def _verification(outcome: str) -> dict[str, Any]:
    return {
        "id": _ID,
        "name": "Example Store",
        "external_id": "example-1",
        "verification_status": outcome,
        "rejection_reason": "The document is not readable" if outcome == "rejected" else None,
    }
