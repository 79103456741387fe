"""Every change of an intent leaves a history row and, with it, the public event, in the caller's transaction."""

from datetime import datetime
from typing import Any

from apps.payments.models import Payment, PaymentEvent
from apps.payments.states import Decision
from apps.webhooks import catalogue
from apps.webhooks import events as webhooks


def payment_object(payment: Payment, before: str | None, after: Decision) -> dict[str, Any]:
    """The small `data.object` that payment and transaction events carry: the intent as it stands after the change."""
    return {
        "id": payment.reference,
        "payment_intent_id": str(payment.pk),
        "reference": payment.reference,
        "status": after.status,
        "state_reason": after.reason,
        "settlement_amount_cents": payment.settlement_amount_cents,
        "settlement_currency": payment.settlement_currency,
        "from_status": before,
        "to_status": after.status,
        "order_id": payment.order_id,
        "metadata": payment.metadata,
    }


def record(
    payment: Payment,
    event_type: str,
    before: str | None,
    after: Decision,
    at: datetime,
    *,
    payload: dict[str, Any] | None = None,
    transaction: dict[str, Any] | None = None,
) -> None:
    """Write the history row; when somebody can subscribe to the event, write it with its deliveries too.

    The row's payload is the reason of the change when nothing else is told.
    """
    PaymentEvent.objects.create(
        payment=payment,
        event_type=event_type,
        from_status=before,
        to_status=after.status,
        payload={"state_reason": after.reason} if payload is None else payload,
        created_at=at,
    )
    if event_type not in catalogue.SUBSCRIBABLE:
        return
    body = payment_object(payment, before, after)
    webhooks.record(
        store_id=payment.store_id,
        mode=payment.mode,
        type=event_type,
        object={**body, "transaction": transaction} if transaction is not None else body,
        at=at,
        platform_id=payment.platform_id,
    )
