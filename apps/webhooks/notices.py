"""Notices in the form of BitPay's: unsigned, of one invoice, to the address that it names. Whoever
gets one asks for the invoice.

The fields stand beside `event`, as in BitPay's standard form, and under `data`, as in its extended
one.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from apps.core import money
from apps.core.messages.fields import Schema

# In a payment's metadata: the endpoint that its notices go to.
ENDPOINT: Final = "bitpay_endpoint"
_NAMES: Final[Mapping[str, tuple[int, str]]] = {
    "payment_intent.completed": (1006, "invoice_completed"),
    "payment_intent.expired": (1004, "invoice_expired"),
    "payment_intent.failed": (1013, "invoice_failedToConfirm"),
    "payment_intent.refunded": (1016, "invoice_refundComplete"),
}
# Of coins that confirmed late and were accepted, of tests, and of events that its owner has added:
# whoever gets it looks.
_FURTHER: Final = (1012, "invoice_manuallyNotified")
EVENTS: Final = (*_NAMES, "transaction.confirmed")
_STATUSES: Final[Mapping[str, str]] = {
    "completed": "complete",
    "refunded": "complete",
    "expired": "expired",
    "failed": "invalid",
}
_EXCEPTIONS: Final[Mapping[str, str]] = {
    "completed_overpaid": "paidOver",
    "failed_overpaid": "paidOver",
    "failed_underpaid": "paidPartial",
}


def body(type: str, event: Mapping[str, Any], created: int) -> bytes:
    """The body of a notice. `created` is in unix seconds."""
    code, name = _NAMES.get(type, _FURTHER)
    status = _STATUSES.get(str(event.get("status")), "new")
    reason = event.get("state_reason") or ""
    if reason == "failed_underpaid":
        code, name = _NAMES["payment_intent.expired"]
        status = "expired"
    metadata = event.get("metadata") or {}
    invoice: Schema = {
        "id": event.get("reference", event.get("id")),
        "status": status,
        "price": float(money.text_from_cents(event.get("settlement_amount_cents", 0))),
        "currency": event.get("settlement_currency"),
        "orderId": event.get("order_id"),
        "posData": metadata.get("posData"),
        "currentTime": created * 1000,
        "exceptionStatus": _EXCEPTIONS.get(reason, False),
    }
    told = {**invoice, "event": {"code": code, "name": name}, "data": invoice}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
