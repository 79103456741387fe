"""The webhooks of the API description: the envelope of each event and the object in it."""

from django.conf import settings
from msgspec import to_builtins

from apps.billing.documents.credit_notes import CreditNoteDocument
from apps.billing.documents.invoices import InvoiceDocument
from apps.billing.documents.subscriptions import SubscriptionDocument
from apps.core.messages.documents import Document, FreeForm, Part, schema_of
from apps.core.messages.fields import Schema
from apps.payments.documents.events import IntentEvent, RefundEvent, TransactionEvent
from apps.platforms.documents import DeletedEvent, VerificationEvent
from apps.webhooks.catalogue import EVENTS, family_of
from apps.webhooks.documents import EventData, EventDocument, PayoutEvent, SweepEvent
from apps.webhooks.samples import sample

_OBJECTS: dict[str, type[Document]] = {
    "payment_intent": IntentEvent,
    "transaction": TransactionEvent,
    "refund": RefundEvent,
    "invoice": InvoiceDocument,
    "credit_note": CreditNoteDocument,
    "subscription": SubscriptionDocument,
    "store.verification": VerificationEvent,
    "store": DeletedEvent,
    "payout": PayoutEvent,
    "fee_sweep": SweepEvent,
}
_WORDS = (
    "Answer any 2xx. The header Service-Signature is t=<unix seconds>,v1=<hex of the HMAC-SHA256"
    " over t.body with the endpoint's secret>."
)


def envelope(event_type: str, part: Part = schema_of) -> Schema:
    """The body of a delivery, the document in it as `part` tells it: whole unless asked
    otherwise."""
    schema = schema_of(EventDocument[FreeForm])
    data = schema["properties"]["data"]
    described = {**data, "properties": {"object": part(_OBJECTS[family_of(event_type)])}}
    return {
        **schema,
        "properties": {**schema["properties"], "type": {"const": event_type}, "data": described},
    }


def operation_of(event: str, part: Part = schema_of) -> Schema:
    example = EventDocument(
        id="00000000-0000-4000-8000-000000000002",
        type=event,
        created=1767268800,
        livemode=False,
        api_version=settings.API_VERSION,
        data=EventData(object=sample(event)),
    )
    content = {
        "application/json": {"schema": envelope(event, part), "example": to_builtins(example)}
    }
    return {
        "operationId": f"on_{event.replace('.', '_')}",
        "tags": ["webhooks"],
        "summary": EVENTS[event],
        "description": _WORDS,
        "requestBody": {"required": True, "content": content},
        "security": [],
        "responses": {"2XX": {"description": "Taken"}},
    }
