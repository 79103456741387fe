"""BTCPay Server's documents, made from a payment, a refund, an endpoint and a delivery. Names and
words are theirs; moments are unix seconds and amounts decimal text.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from apps.chain.models import Deposit
from apps.chain.networks.families import shown_address
from apps.core import money
from apps.core.messages.fields import Schema
from apps.payments import states
from apps.payments.documents import parts
from apps.payments.documents.financials import paid_cents
from apps.payments.models import Payment, Refund
from apps.payments.requests import EXPIRES_IN_DEFAULT
from apps.payments.selectors import Received
from apps.stores.models import Store
from apps.webhooks.formats import BTCPAY_EVENTS, shown_metadata
from apps.webhooks.models import Delivery, Endpoint

# In the metadata of an endpoint: the events that were asked for, in BTCPay's words.
NAMES: Final = "btcpay_events"
VERSION: Final = "2.0.0"  # of the BTCPay Server whose API is spoken
# Our statuses behind each of theirs, for lists.
STATUSES: Final = {
    "new": (states.PENDING, states.PROCESSING),
    "processing": (states.PROCESSING,),
    "settled": (states.COMPLETED, states.REFUNDED),
    "expired": (states.EXPIRED, states.FAILED, states.REFUNDED),
    "invalid": (states.EXPIRED, states.FAILED, states.REFUNDED),
}


def seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def status_of(payment: Payment) -> tuple[str, str]:
    """BTCPay's status and additional status. A payment that a refund has ended is what it was
    before it; one that ended before its time was marked."""
    reason = payment.state_reason or ""
    if payment.completed_at is not None:
        return "Settled", "PaidOver" if reason == "completed_overpaid" else "None"
    match payment.status:
        case states.PENDING:
            return "New", "None"
        case states.PROCESSING:
            is_short = reason == "processing_underpaid"
            return ("New", "PaidPartial") if is_short else ("Processing", "None")
        case states.FAILED if reason == "failed_overpaid":
            return "Invalid", "PaidOver"
        case states.FAILED:
            return "Expired", "PaidPartial"
        case states.EXPIRED if payment.updated_at < payment.expires_at:
            return "Invalid", "Marked"
    return "Expired", "None"


def invoice(payment: Payment, received: Sequence[Received], asset_ids: Sequence[str]) -> Schema:
    """`received` are the addresses where something came, at least; `asset_ids` all that can pay."""
    status, additional = status_of(payment)
    return {
        "id": payment.reference,
        "storeId": str(payment.store_id),
        "amount": money.text_from_cents(payment.settlement_amount_cents),
        "paidAmount": money.text_from_cents(paid_cents(list(received))),
        "currency": payment.settlement_currency,
        "type": "Standard",
        "checkoutLink": parts.hosted_url(payment),
        "createdTime": seconds(payment.created_at),
        "expirationTime": seconds(payment.expires_at),
        "monitoringExpiration": seconds(payment.deadline),
        "status": status,
        "additionalStatus": additional,
        "availableStatusesForManualMarking": _markable(payment),
        "archived": False,
        "metadata": shown_metadata(payment.metadata),
        "checkout": {
            "redirectURL": payment.success_url,
            "expirationMinutes": (seconds(payment.expires_at) - seconds(payment.created_at)) // 60,
            "paymentMethods": list(asset_ids),
        },
        "receipt": {"enabled": None, "showQR": None, "showPayments": None},
    }


def _markable(payment: Payment) -> list[str]:
    if payment.status == states.PENDING:
        return ["Invalid"]
    return ["Settled"] if payment.state_reason in _SHORT else []


_SHORT = ("processing_underpaid", "failed_underpaid")


def payment_method(payment: Payment, intake: Received) -> Schema:
    """The amounts that are due and that have come in one coin."""
    entry = intake.address
    asset = entry.asset

    def coins(atomic: int) -> str:
        return money.decimal_from_atomic(atomic, asset.atomic_decimals)

    due = max(0, entry.required_atomic - intake.received_atomic)
    return {
        "paymentMethodId": asset.pk,
        "paymentMethod": asset.pk,
        "currency": asset.coin_symbol,
        "cryptoCode": asset.coin_symbol,
        "destination": shown_address(entry.address_id),
        "paymentLink": parts.payment_uri(entry),
        "rate": money.rate_text(entry.exchange_rate),
        "amount": coins(entry.required_atomic),
        "totalPaid": coins(intake.received_atomic),
        "paymentMethodPaid": coins(intake.received_atomic),
        "due": coins(due),
        "networkFee": "0",
        "paymentMethodFee": "0",
        "activated": True,
        "payments": [_payment(deposit, coins(deposit.amount_atomic)) for deposit in intake.counted],
        "additionalData": {},
    }


def _payment(deposit: Deposit, value: str) -> Schema:
    statuses = {Deposit.Status.CONFIRMED: "Settled", Deposit.Status.FAILED: "Invalid"}
    return {
        "id": deposit.tx_hash,
        "receivedDate": seconds(deposit.detected_at),
        "value": value,
        "fee": "0",
        "status": statuses.get(Deposit.Status(deposit.status), "Processing"),
        "destination": shown_address(deposit.address_id),
    }


def pull_payment(payment: Payment, refund: Refund, name: str, description: str) -> Schema:
    """A refund that is sent to who paid, in the form of a pull payment that nobody has to claim."""
    asset = refund.asset
    return {
        "id": str(refund.pk),
        "name": name,
        "description": description,
        "currency": asset.coin_symbol,
        "amount": money.decimal_from_atomic(refund.amount_atomic, asset.atomic_decimals),
        "BOLT11Expiration": None,
        "autoApproveClaims": True,
        "startsAt": seconds(refund.created_at),
        "expiresAt": None,
        "archived": refund.status == Refund.Status.FAILED,
        "viewLink": parts.hosted_url(payment),
    }


def store(row: Store) -> Schema:
    return {
        "id": str(row.pk),
        "name": row.name,
        "website": row.website or None,
        "supportUrl": f"mailto:{row.support_email}" if row.support_email else None,
        "defaultCurrency": row.settlement_currency,
        "invoiceExpiration": EXPIRES_IN_DEFAULT,
        "monitoringExpiration": 3600,
        "speedPolicy": "MediumSpeed",
        "paymentTolerance": row.underpayment_tolerance_bps / 100,
        "anyoneCanCreateInvoice": False,
        "archived": False,
    }


def webhook(endpoint: Endpoint, secret: str | None = None) -> Schema:
    """With the secret in the answer that made it, and in no other."""
    chosen = endpoint.metadata.get(NAMES)
    names = [name for name in chosen if name in BTCPAY_EVENTS] if isinstance(chosen, list) else []
    is_everything = len(names) == len(BTCPAY_EVENTS)
    document: Schema = {
        "id": str(endpoint.pk),
        "enabled": endpoint.status == Endpoint.Status.ACTIVE,
        "automaticRedelivery": True,
        "url": endpoint.url,
        "authorizedEvents": {
            "everything": is_everything,
            "specificEvents": [] if is_everything else names,
        },
    }
    return document if secret is None else {**document, "secret": secret}


def delivery(row: Delivery) -> Schema:
    is_delivered = row.status == Delivery.Status.DELIVERED
    is_failed = row.response_status is not None and not is_delivered
    status = "HttpSuccess" if is_delivered else "HttpError" if is_failed else "Failed"
    return {
        "id": str(row.pk),
        "timestamp": seconds(row.delivered_at or row.created_at),
        "httpCode": row.response_status,
        "errorMessage": row.failure or None,
        "status": "Pending" if row.status in _OPEN and not row.attempts else status,
    }


_OPEN = (Delivery.Status.PENDING, Delivery.Status.ATTEMPTING)
