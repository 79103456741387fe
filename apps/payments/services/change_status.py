"""THE way in which an intent's status changes: its row is locked, its table asked, and history and
event are written with it."""

from collections.abc import Sequence
from datetime import datetime

from apps.core.db.prepared_reads import Columns
from apps.core.db.sql import Statement
from apps.core.machine import Change
from apps.payments import events, states
from apps.payments.models import Payment
from apps.payments.services import attention
from apps.stores.models import Store

_PAYMENT = Columns(Payment, "p")
_STORE = Columns(Store, "s")
_LOCKED = Statement(
    f"SELECT {_PAYMENT.text}, {_STORE.text} FROM payments_payment p"  # noqa: S608  # only names of columns
    " JOIN stores_store s ON s.id = p.store_id WHERE p.id = %(payment_id)s::uuid FOR UPDATE OF p"
)


def locked_payment(payment_id: object) -> Payment:
    """The intent as it is, with its store; it stays locked until the caller's transaction ends.
    Raises Payment.DoesNotExist."""
    rows = _LOCKED.rows(payment_id=payment_id)
    if not rows:
        raise Payment.DoesNotExist(f"no payment {payment_id}")
    payment = _PAYMENT.row(rows[0][: len(_PAYMENT)])
    payment.store = _STORE.row(rows[0][len(_PAYMENT) :])
    return payment


def change_status(
    payment: Payment, *steps: states.PaymentDecision, at: datetime, **columns: object
) -> None:
    """Take the steps in their order; each with an event leaves a history row too. The caller has
    locked the row.

    Raises IllegalMove for a step that the table doesn't have, and when the row is elsewhere
    than this copy of it.
    """
    changes = {
        "state_reason": steps[-1].reason,
        "updated_at": at,
        "reconciliation_due": True,
        **columns,
    }
    states.MACHINE.change_locked(payment, *steps, at=at, **changes)


@states.MACHINE.recorder
def _record(changes: Sequence[Change[Payment, states.PaymentDecision]]) -> None:
    for change in changes:
        if change.step.event is not None:
            events.record(change.row, change.step.event, change.before, change.step, change.at)
        if change.step.status == states.COMPLETED:
            attention.payment_accepted(change.row, change.step.reason)
