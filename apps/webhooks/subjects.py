"""Subjects of events: the record of each, with what people know it by."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models.fields.json import KT

from apps.webhooks.catalogue import family_of
from apps.webhooks.models import Event

_PAYMENT_FAMILIES = ("payment_intent", "transaction")
_KEYS = (
    "id",
    "payment_intent_id",
    "reference",
    "order_id",
    "settlement_amount_cents",
    "settlement_currency",
    "formatted_number",
    "total_cents",
    "amount_cents",
    "currency",
    "name",
)


@dataclass(frozen=True)
class EventSubject:
    """The record that an event is about. `kind` is payment, invoice, subscription or store; `name`
    is its reference, number or name, and empty where it has none. `amount_cents` is in
    `currency`."""

    kind: str
    record_id: str
    name: str
    note: str
    amount_cents: int | None
    currency: str


def subjects_of(rows: Sequence[Event]) -> dict[uuid.UUID, EventSubject]:
    """By event; one statement, which reads a few keys of each object."""
    if not rows:
        return {}
    times = [row.created_at for row in rows]
    found = Event.objects.filter(
        pk__in=[row.pk for row in rows],
        store_id=rows[0].store_id,
        created_at__range=(min(times), max(times)),
    )
    keys = {f"key_{name}": KT(f"object__{name}") for name in _KEYS}
    values = found.annotate(**keys).values_list("pk", "type", *keys)
    return {pk: _subject(type, dict(zip(_KEYS, texts, strict=True))) for pk, type, *texts in values}


def _subject(type: str, keys: dict[str, str | None]) -> EventSubject:
    family = family_of(type)
    texts = {name: text or "" for name, text in keys.items()}
    if family in _PAYMENT_FAMILIES:
        kind = "payment"
        record_id = texts["payment_intent_id"]
        name = texts["reference"]
        cents = texts["settlement_amount_cents"]
        currency = texts["settlement_currency"]
    else:
        kind = family.partition(".")[0]
        record_id = texts["id"]
        name = texts["formatted_number"] or texts["name"]
        cents = texts["total_cents"] or texts["amount_cents"]
        currency = texts["currency"]
    amount = int(cents) if cents.isdigit() and currency else None
    return EventSubject(kind, record_id, name, texts["order_id"], amount, currency)
