"""Every change of an intent leaves a history row and, with it, the public event, in the caller's
transaction."""

import uuid
from collections.abc import Mapping
from datetime import datetime

from psycopg.types.json import Jsonb

from apps.core import jobs
from apps.core.db import sql
from apps.payments.documents.deposits import TransactionDocument
from apps.payments.documents.events import intent_event, refund_event, transaction_event
from apps.payments.models import Payment, Refund
from apps.payments.states import PaymentDecision
from apps.webhooks import catalogue
from apps.webhooks import events as webhooks

# The row and, of one that somebody can subscribe to, its event with the deliveries.
_ROW = """
INSERT INTO payments_paymentevent (id, payment_id, event_type, from_status, to_status, payload,
    created_at)
VALUES (%(id)s, %(payment_id)s, %(type)s, %(before)s, %(after)s, %(payload)s, %(at)s)
RETURNING id
"""
_RECORD_ALONE = sql.Statement(_ROW)
_RECORD = sql.Statement(
    f"WITH made AS ({_ROW}), {webhooks.RECORD_CTE} SELECT ARRAY(SELECT id FROM webhook_delivery)"  # noqa: S608  # no input in it
)


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

    The row's payload is the reason of the change when there is nothing else.
    """
    row = {
        "id": uuid.uuid4(),
        "payment_id": payment.pk,
        "type": event_type,
        "before": before,
        "after": after.status,
        "payload": Jsonb({"state_reason": after.reason} if payload is None else dict(payload)),
        "at": at,
    }
    if event_type not in catalogue.SUBSCRIBABLE:
        _RECORD_ALONE.rows(**row)
        return
    intent = intent_event(payment, before, after)
    event = webhooks.record_parameters(
        store_id=payment.store_id,
        mode=payment.mode,
        type=event_type,
        object=intent if transaction is None else transaction_event(intent, transaction),
        at=at,
        platform_id=payment.platform_id,
    )
    ((deliveries,),) = _RECORD.rows(**row, **event)
    if deliveries:
        jobs.enqueue("webhooks.deliver", *deliveries)


def refund_failed(refund: Refund, at: datetime) -> None:
    """Its coins are where they were, and the payment is as it was."""
    webhooks.record(
        store_id=refund.store_id,
        mode=refund.mode,
        type="refund.failed",
        object=refund_event(refund),
        at=at,
        platform_id=refund.payment.platform_id,
    )
