"""The bodies of billing, and the kinds of field that only billing has.

`created` reads a whole record, `patched` only what was sent; a null clears a field that may be empty.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from apps.billing.models import Invoice
from apps.billing.requests import AMOUNT_CENTS_MAX, METADATA_BYTES_MAX, TEXT_MAX, Free
from apps.core.errors import Listed
from apps.core.literal import Boolean, Field, Integer, Invalid, List, Object, Schema, Text, parse_moment
from apps.core.money import BASIS_POINTS
from apps.stores.models import Currency

QUANTITY_MAX = 1_000_000_000
LINES_MAX, ITEMS_MAX = 200, 20
TRIAL_DAYS_MAX, GRACE_CYCLES_MAX = 3650, 1000


class Moment(Field):
    """An ISO 8601 time; one without an offset is UTC."""

    def check(self, value: Any, name: str) -> datetime:
        moment = parse_moment(value) or parse_moment(f"{value}Z" if isinstance(value, str) else None)
        try:
            told = moment.astimezone(UTC) if moment is not None else None
        except OverflowError:
            told = None
        if told is None:
            raise Invalid(name, "time")
        return told

    def schema(self) -> Schema:
        return {"type": "string", "format": "date-time"}


def _metadata() -> Free:
    return Free(METADATA_BYTES_MAX, default=dict)


LINE = Object(
    {
        "description": Text(500, shortest=1, required=True),
        "quantity": Integer(1, QUANTITY_MAX, default=1),
        "unit_amount_cents": Integer(0, AMOUNT_CENTS_MAX, required=True),
    }
)
INVOICE_CHANGES = Object(
    {
        "currency": Text(3, choices=Currency.values, required=True),
        "line_items": List(LINE, LINES_MAX),
        "due_at": Moment(),
        "description": Text(TEXT_MAX),
        "metadata": _metadata(),
        "custom_number": Text(100, shortest=1),
        "po_number": Text(100),
        "discount_type": Text(10, choices=Invoice.DiscountType.values),
        "discount_value": Integer(0, AMOUNT_CENTS_MAX),
        "tax_rate_bps": Integer(0, BASIS_POINTS),
        "notes": Text(TEXT_MAX),
        "footer": Text(TEXT_MAX),
    }
)
INVOICE = Object({"customer_id": Text(100, required=True), **INVOICE_CHANGES.fields})
# An item may be sent as it is read: with the price as an object, and the id of an add-on.
ITEM = Object(
    {
        "id": Text(100),
        "price_id": Text(100),
        "price": Object({"id": Text(100)}),
        "quantity": Integer(1, QUANTITY_MAX),
    }
)
SUBSCRIPTION_CHANGES = Object(
    {
        "price_id": Text(100),
        "items": List(ITEM, ITEMS_MAX, default=None),
        "quantity": Integer(1, QUANTITY_MAX),
        "grace_cycles": Integer(0, GRACE_CYCLES_MAX, default=1),
        "metadata": _metadata(),
    }
)
SUBSCRIPTION = Object(
    {
        "customer_id": Text(100, required=True),
        **SUBSCRIPTION_CHANGES.fields,
        "trial_period_days": Integer(0, TRIAL_DAYS_MAX, default=0),
    }
)
CANCEL = Object({"at_period_end": Boolean(default=False)})


def created(shape: Object, body: Mapping[str, Any], wrapper: str) -> dict[str, Any]:
    """Every field of a new record. Raises Listed."""
    try:
        fields: dict[str, Any] = shape.check(_inside(body, wrapper), wrapper)
    except Invalid as refusal:
        raise Listed(str(refusal)) from None
    return fields


def patched(shape: Object, body: Mapping[str, Any], wrapper: str) -> dict[str, Any]:
    """The fields that were sent. Raises Listed."""
    try:
        sent = _inside(body, wrapper)
        if not isinstance(sent, dict):
            raise Invalid(wrapper, "object")
        return {name: field.read(sent, name) for name, field in shape.fields.items() if name in sent}
    except Invalid as refusal:
        raise Listed(str(refusal)) from None


def _inside(body: Mapping[str, Any], wrapper: str) -> Any:
    if body.get(wrapper) is None:
        raise Invalid(wrapper, "required")
    return body[wrapper]
