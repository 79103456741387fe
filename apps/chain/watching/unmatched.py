"""Staff's decisions about unmatched transfers. It says so, and moves nothing: the books change by
corrections alone."""

from datetime import datetime

from django.db import transaction

from apps.chain.models import UnmatchedTransfer
from apps.core.errors import Failure
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.models import User


class NotResolved(Failure):
    """The text says why."""


def resolve(row: UnmatchedTransfer, outcome: str, reason: str, staff: User, at: datetime) -> None:
    """Once, with a reason. Raises StaffForbidden or NotResolved."""
    staff_roles.check(staff, staff_roles.UNMATCHED)
    if outcome not in UnmatchedTransfer.Outcome.values:
        raise NotResolved("Say what became of it")
    if not reason.strip():
        raise NotResolved("Give a reason")
    with transaction.atomic():
        still_open = UnmatchedTransfer.objects.filter(pk=row.pk, resolved_at=None)
        if not still_open.update(
            resolved_at=at, outcome=outcome, outcome_reason=reason.strip()[:500]
        ):
            raise NotResolved("This transfer was resolved already")
        audit.record(
            "unmatched_transfer.resolved",
            target=row,
            name=row.tx_hash,
            reason=reason,
            details={"outcome": outcome},
        )
