"""Events in the formats of others, for plugins that were written for them: BTCPay Server's here,
BitPay's in `notices`.

The names of events and fields are those of its Greenfield API v1. An event always gives the same
bytes, as in our own format.
"""

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from apps.core import money
from apps.core.messages.fields import Schema
from apps.webhooks import notices
from apps.webhooks.models import Endpoint

SIGNATURE = "BTCPay-Sig"
# Which of our events each of BTCPay's comes from.
BTCPAY_EVENTS: Final[Mapping[str, str]] = {
    "InvoiceCreated": "payment_intent.created",
    "InvoiceReceivedPayment": "transaction.confirming",
    "InvoicePaymentSettled": "transaction.confirmed",
    "InvoiceProcessing": "payment_intent.processing",
    "InvoiceExpired": "payment_intent.expired",
    "InvoiceInvalid": "payment_intent.failed",
    "InvoiceSettled": "payment_intent.completed",
}
# What a payment that fails is to BTCPay depends on why: one that was underpaid has expired.
_ALSO: Final[Mapping[str, tuple[str, ...]]] = {"InvoiceExpired": ("payment_intent.failed",)}
# What a payment's metadata keeps of a BTCPay invoice's: whatever isn't text, as JSON.
REST = "btcpay_json"
EMAIL = "customer_email"


def events_for(names: Iterable[str]) -> list[str]:
    """Our events behind these of BTCPay's, which must be known."""
    ours = [event for name in names for event in (BTCPAY_EVENTS[name], *_ALSO.get(name, ()))]
    return list(dict.fromkeys(ours))


def kept_metadata(metadata: Mapping[str, Any]) -> dict[str, str]:
    """An invoice's metadata as a payment keeps it: text as it is, the rest as JSON, and the buyer's
    address where emails look for it."""
    kept = {name: value for name, value in metadata.items() if isinstance(value, str)}
    rest = {name: value for name, value in metadata.items() if not isinstance(value, str)}
    if rest:
        kept[REST] = json.dumps(rest, ensure_ascii=False, separators=(",", ":"))
    if kept.get("buyerEmail") and EMAIL not in kept:
        kept[EMAIL] = kept["buyerEmail"]
    return kept


def shown_metadata(kept: Mapping[str, Any]) -> Schema:
    """The metadata that `kept_metadata` was given."""
    shown = dict(kept)
    if shown.get(EMAIL) == shown.get("buyerEmail"):
        shown.pop(EMAIL, None)
    rest = shown.pop(REST, None)
    try:
        parsed = json.loads(rest) if isinstance(rest, str) else {}
    except ValueError:  # a merchant's own field of that name
        parsed = {REST: rest}
    return {**shown, **parsed} if isinstance(parsed, dict) else {**shown, REST: rest}


def body(
    format: str,
    *,
    delivery_id: uuid.UUID,
    endpoint_id: uuid.UUID,
    store_id: uuid.UUID,
    type: str,
    created: int,
    object_json: str,
) -> bytes:
    """The body of a delivery. `created` is in unix seconds."""
    event: Schema = json.loads(object_json)
    if format == Endpoint.Format.BITPAY:
        return notices.body(type, event, created)
    content = {
        "deliveryId": str(delivery_id),
        "webhookId": str(endpoint_id),
        "originalDeliveryId": str(delivery_id),
        "isRedelivery": False,
        **_btcpay(type, event),
        "timestamp": created,
        "storeId": str(store_id),
        "invoiceId": event.get("reference", event.get("id")),
        "metadata": shown_metadata(event.get("metadata") or {}),
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def signatures(format: str, secret: str, raw: bytes) -> dict[str, str]:
    """The header that proves the body to a receiver of BTCPay's webhooks. BitPay signs nothing."""
    if format == Endpoint.Format.BITPAY:
        return {}
    digest = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    return {SIGNATURE: f"sha256={digest}"}


def _btcpay(type: str, event: Schema) -> Schema:
    """The name of the event, and the fields that it alone has."""
    reason = event.get("state_reason") or ""
    match type:
        case "payment_intent.processing" if reason == "processing_underpaid":
            # To BTCPay an invoice is being processed once all of it has come.
            return {"type": "InvoiceReceivedPayment", "afterExpiration": False}
        case "payment_intent.processing":
            return {"type": "InvoiceProcessing", "overPaid": False}
        case "payment_intent.completed":
            is_over = reason == "completed_overpaid"
            return {"type": "InvoiceSettled", "manuallyMarked": False, "overPaid": is_over}
        case "payment_intent.expired":
            return {"type": "InvoiceExpired", "partiallyPaid": False}
        case "payment_intent.failed" if reason == "failed_underpaid":
            return {"type": "InvoiceExpired", "partiallyPaid": True}
        case "payment_intent.failed":
            return {"type": "InvoiceInvalid", "manuallyMarked": False}
        case "transaction.confirming" | "transaction.confirmed":
            is_settled = type == "transaction.confirmed"
            return {
                "type": "InvoicePaymentSettled" if is_settled else "InvoiceReceivedPayment",
                **_payment(event.get("transaction") or {}, is_settled=is_settled),
            }
    return {"type": next((name for name, ours in BTCPAY_EVENTS.items() if ours == type), type)}


def _payment(transaction: Schema, *, is_settled: bool) -> Schema:
    if not transaction:
        return {"afterExpiration": False}
    return {
        "afterExpiration": bool(transaction.get("late")),
        "paymentMethodId": transaction["asset_id"],
        "payment": {
            "id": transaction["tx_hash"],
            "receivedDate": _seconds(transaction["detected_at"]),
            "value": money.decimal_from_atomic(
                int(transaction["amount_atomic"]), transaction["atomic_decimals"]
            ),
            "fee": "0",
            "status": "Settled" if is_settled else "Processing",
            "destination": transaction["deposit_address"],
        },
    }


def _seconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp())
