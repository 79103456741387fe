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


def event(one: PaymentEvent) -> PaymentEventDocument:
    return PaymentEventDocument(
        id=str(one.id),
        event_type=one.event_type,
        from_status=one.from_status,
        to_status=one.to_status,
        payload=one.payload,
        created_at=iso(one.created_at),
    )


def timeline_entry(one: PaymentEvent) -> TimelineEntry:
    return TimelineEntry(
        type=one.event_type,
        from_status=one.from_status,
        to_status=one.to_status,
        at=iso(one.created_at),
        payload=one.payload,
    )
