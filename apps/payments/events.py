"""Every change of an intent leaves a history row and, with it, the public event, in the caller's
transaction."""

from collections.abc import Mapping
from datetime import datetime

from apps.payments.documents.deposits import TransactionDocument
from apps.payments.documents.events import intent_event, transaction_event
from apps.payments.models import Payment, PaymentEvent
from apps.payments.states import PaymentDecision
from apps.webhooks import catalogue
from apps.webhooks import events as webhooks


def record(
    payment: Payment,
    event_type: str,
    before: str | None,
    after: PaymentDecision,
    at: datetime,
    *,
    payload: Mapping[str, str | None] | None = None,
    transaction: TransactionDocument | None = None,
) -> None:
    """Write the history row; when somebody can subscribe to the event, write it with its deliveries
    too.

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
    intent = intent_event(payment, before, after)
    webhooks.record(
        store_id=payment.store_id,
        mode=payment.mode,
        type=event_type,
        object=intent if transaction is None else transaction_event(intent, transaction),
        at=at,
        platform_id=payment.platform_id,
    )
