"""Coins at an address of which no block tells: an operator who knows what they are accepts them.
Nothing is booked by that, and what waited for an explanation goes on."""

from datetime import datetime

from django.db import transaction

from apps.chain.models import UnexplainedBalance
from apps.core.errors import Failure
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.staff_roles import StaffMember


class NotAcceptable(Failure):
    """The text says why."""


def accept_for_staff(
    row: UnexplainedBalance, reason: str, staff: StaffMember, at: datetime
) -> UnexplainedBalance:
    """Accept it on the staff site. Raises StaffForbidden or NotAcceptable."""
    staff_roles.check(staff, staff_roles.COINS_ACCEPT)
    return accept(str(row.pk), reason, at)


def accept(row_id: str, reason: str, at: datetime) -> UnexplainedBalance:
    """Once, with a reason. Raises NotAcceptable."""
    if not reason.strip():
        raise NotAcceptable("Give a reason")
    if not (row_id.isascii() and row_id.isdigit()):
        raise NotAcceptable("The ID of an unexplained balance is a number")
    with transaction.atomic():
        waiting = UnexplainedBalance.objects.filter(pk=int(row_id), settled_at=None)
        if not waiting.update(settled_at=at, accepted_reason=reason.strip()[:500]):
            raise NotAcceptable(f"No unexplained balance {row_id} is open")
        row = UnexplainedBalance.objects.select_related("asset").get(pk=int(row_id))
        audit.record(
            "unexplained_balance.accepted",
            target=row,
            name=row.address_id,
            reason=reason,
            details={"asset": row.asset_id, "amount_atomic": str(row.amount_atomic)},
        )
    return row
