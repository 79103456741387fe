"""BitPay's documents, made from a payment and a refund. Moments are unix milliseconds, amounts
numbers."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from apps.core import clock, money
from apps.core.messages.fields import Schema
from apps.payments import states
from apps.payments.documents import parts
from apps.payments.documents.financials import accepted_cents, paid_cents
from apps.payments.models import Payment, Refund
from apps.payments.selectors import Received
from apps.webhooks.formats import shown_metadata
from apps.webhooks.notices import ENDPOINT

# Our statuses behind each of theirs, for lists.
STATUSES: Final = {
    "new": (states.PENDING, states.PROCESSING),
    "paid": (),
    "confirmed": (),
    "complete": (states.COMPLETED, states.REFUNDED, states.EXPIRED),
    "expired": (states.EXPIRED, states.FAILED, states.REFUNDED),
    "invalid": (states.EXPIRED, states.FAILED, states.REFUNDED),
}
_REFUND_STATUSES: Final = {
    Refund.Status.PENDING: "created",
    Refund.Status.SUBMITTED: "pending",
    Refund.Status.CONFIRMED: "success",
    Refund.Status.FAILED: "failure",
}


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def number(cents: int) -> float:
    """An amount as a JSON number, as BitPay has them."""
    return float(money.text_from_cents(cents))


def status_of(payment: Payment, received: Sequence[Received]) -> tuple[str, str | bool]:
    """BitPay's status, and what is exceptional about what came. What came late and was accepted is
    complete. `paid`, of coins that haven't confirmed, is no status here: shops deliver on it
    (decision 950)."""
    reason = payment.state_reason or ""
    if accepted_cents(list(received)) >= payment.settlement_amount_cents:
        return "complete", False
    if payment.completed_at is not None:
        return "complete", "paidOver" if reason == "completed_overpaid" else False
    match payment.status:
        case states.PENDING:
            return "new", False
        case states.PROCESSING:
            return "new", "paidPartial" if reason == "processing_underpaid" else False
        case states.FAILED if reason == "failed_overpaid":
            return "invalid", "paidOver"
        case states.FAILED:
            return "expired", "paidPartial"
        case states.EXPIRED if payment.updated_at < payment.expires_at:
            return "invalid", False
    return "expired", False


def invoice(payment: Payment, received: Sequence[Received], token: str) -> Schema:
    """`received` are the addresses where something came, at least; `token` is the client's."""
    status, exception = status_of(payment, received)
    metadata = shown_metadata(payment.metadata)
    paid = paid_cents(list(received))
    return {
        "id": payment.reference,
        "url": parts.hosted_url(payment),
        "token": token,
        "status": status,
        "exceptionStatus": exception,
        "price": number(payment.settlement_amount_cents),
        "currency": payment.settlement_currency,
        "orderId": payment.order_id,
        "itemDesc": payment.title,
        "itemCode": metadata.get("itemCode"),
        "posData": metadata.get("posData"),
        "guid": _guid(payment),
        "buyer": metadata.get("buyer") or {},
        "redirectURL": payment.success_url,
        "notificationURL": metadata.get("notificationURL"),
        "invoiceTime": milliseconds(payment.created_at),
        "expirationTime": milliseconds(payment.expires_at),
        "currentTime": milliseconds(clock.now(payment.store, payment.mode)),
        "displayAmountPaid": money.text_from_cents(paid),
        "amountPaid": number(paid),
        "lowFeeDetected": False,
        "refundAddresses": [],
        "transactions": [
            {
                "txid": deposit.tx_hash,
                "amount": deposit.amount_atomic,
                "time": clock.iso(deposit.detected_at),
                "receivedTime": clock.iso(deposit.detected_at),
            }
            for intake in received
            for deposit in intake.counted
        ],
    }


def _guid(payment: Payment) -> str | None:
    prefix = "bitpay-guid-"
    key = payment.idempotency_key or ""
    return key.removeprefix(prefix) if key.startswith(prefix) else None


def endpoint_of(payment: Payment) -> str:
    """The id of the endpoint that its notices go to; empty when it has none."""
    return str(payment.metadata.get(ENDPOINT, ""))


def refund(row: Refund, rate: Decimal | None, reference: str | None = None) -> Schema:
    """`rate` is that which was locked for its coin."""
    payment, asset = row.payment, row.asset
    cents = 0
    if rate is not None:
        cents = money.cents_for_atomic(row.amount_atomic, rate, asset.atomic_decimals)
    coins = money.decimal_from_atomic(row.amount_atomic, asset.atomic_decimals)
    return {
        "id": str(row.pk),
        "invoice": payment.reference,
        "reference": reference,
        "status": _REFUND_STATUSES[Refund.Status(row.status)],
        "amount": number(cents),
        "currency": payment.settlement_currency,
        "refundFee": 0,
        "immediate": True,
        "preview": False,
        "buyerPaysRefundFee": False,
        "requestDate": clock.iso(row.created_at),
        "refundAddress": row.destination_address,
        "transactionCurrency": asset.coin_symbol,
        "transactionAmount": float(coins),
        "txid": row.tx_hash,
    }
