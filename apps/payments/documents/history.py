"""A line of an intent's history, with its id and in short names without."""

from apps.core.clock import iso
from apps.core.messages.documents import Document, FreeForm, Id, Time
from apps.payments.models import PaymentEvent


class PaymentEventDocument(Document, frozen=True, kw_only=True):
    id: Id
    event_type: str
    from_status: str | None
    to_status: str | None
    payload: FreeForm
    created_at: Time


class TimelineEntry(
    Document, frozen=True, kw_only=True, rename={"from_status": "from", "to_status": "to"}
):
    type: str
    from_status: str | None
    to_status: str | None
    at: Time
    payload: FreeForm


def event(entry: PaymentEvent) -> PaymentEventDocument:
    return PaymentEventDocument(
        id=str(entry.id),
        event_type=entry.event_type,
        from_status=entry.from_status,
        to_status=entry.to_status,
        payload=entry.payload,
        created_at=iso(entry.created_at),
    )


def timeline_entry(entry: PaymentEvent) -> TimelineEntry:
    return TimelineEntry(
        type=entry.event_type,
        from_status=entry.from_status,
        to_status=entry.to_status,
        at=iso(entry.created_at),
        payload=entry.payload,
    )
