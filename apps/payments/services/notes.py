"""A note about a payment, from one of the merchant's people to the others: a line of the audit log,
so that nobody changes or removes it. Customers don't see it."""

from apps.core.errors import Failure
from apps.core.messages.fields import check_storable
from apps.payments.models import Payment
from apps.stores.auditing import audit

NOTED = "payment.noted"
NOTE_MAX = 500


class NoteMissing(Failure):
    field = "note"
    message = "Enter a note"


class NoteTooLong(Failure):
    field = "note"
    message = f"A note has at most {NOTE_MAX} characters"


def add_note(payment: Payment, text: str) -> None:
    """Raises NoteMissing, NoteTooLong or Invalid."""
    note = text.strip()
    if not note:
        raise NoteMissing
    if len(note) > NOTE_MAX:
        raise NoteTooLong
    check_storable(note, "note")
    audit.record(
        NOTED,
        store=payment.store_id,
        mode=payment.mode,
        target=payment,
        name=payment.reference,
        reason=note,
    )
