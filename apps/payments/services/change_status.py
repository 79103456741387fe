"""THE way in which an intent's status changes: its table is asked, and history and event are written with it."""

from datetime import datetime
from typing import Any

from apps.core.machine import IllegalMove
from apps.payments import events, states
from apps.payments.models import Payment


def change_status(payment: Payment, *steps: states.Decision, at: datetime, **columns: Any) -> None:
    """Take the steps in their order; each with an event leaves a history row too. The caller has locked the row.

    Raises IllegalMove for a step that the table doesn't have, and when the row stands elsewhere than this copy of it.
    """
    before, last = payment.status, steps[-1]
    changes = {"state_reason": last.reason, "updated_at": at, "reconciliation_due": True, **columns}
    if not states.MACHINE.walk(payment, [step.status for step in steps], **changes):
        raise IllegalMove(f"payment {payment.pk} was changed by somebody else")
    for step in steps:
        if step.event is not None:
            events.record(payment, step.event, before, step, at)
        before = step.status
