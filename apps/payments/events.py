"""Every change of an intent leaves a history row and, with it, the public event, in the caller's transaction."""

from datetime import datetime
from typing import Any

from apps.payments.models import Payment, PaymentEvent
from apps.webhooks import catalogue
from apps.webhooks import events as webhooks


def payment_object(payment: Payment, from_status: str | None, to_status: str | None) -> dict[str, Any]:
    """The small `data.object` that payment and transaction events carry."""
    return {
        "id": payment.reference,
        "payment_intent_id": str(payment.pk),
        "reference": payment.reference,
        "status": payment.status,
        "state_reason": payment.state_reason,
        "settlement_amount_cents": payment.settlement_amount_cents,
        "settlement_currency": payment.settlement_currency,
        "from_status": from_status,
        "to_status": to_status,
        "order_id": payment.order_id,
        "metadata": payment.metadata,
    }


def record(
    payment: Payment,
    event_type: str,
    from_status: str | None,
    to_status: str | None,
    at: datetime,
    *,
    payload: dict[str, Any] | None = None,
    transaction: dict[str, Any] | None = None,
) -> None:
    """Write the history row; when somebody can subscribe to the event, write it with its deliveries too."""
    PaymentEvent.objects.create(
        payment=payment, event_type=event_type, from_status=from_status, to_status=to_status, payload=payload or {}, created_at=at
    )
    if event_type not in catalogue.SUBSCRIBABLE:
        return
    body = payment_object(payment, from_status, to_status)
    webhooks.record(
        store_id=payment.store_id,
        mode=payment.mode,
        type=event_type,
        object={**body, "transaction": transaction} if transaction is not None else body,
        at=at,
        platform_id=payment.platform_id,
    )
