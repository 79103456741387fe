"""Forgets that the addresses of payments were looked at, once nothing asks for it. A payment that
is still open by then is looked at again."""

from datetime import datetime

from apps.chain.models import AddressLook
from apps.core.db.pruning import prune
from apps.payments.services.renew import OFFERED_FOR


def prune_all(now: datetime) -> dict[str, int]:
    """Deletes old rows, and returns the number of each kind. A look is never older than the
    deadline which it was for, so a new quote is offered no longer than its row is there."""
    return {"address_looks": prune(AddressLook.objects.filter(looked_until__lt=now - OFFERED_FOR))}
