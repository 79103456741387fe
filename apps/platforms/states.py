"""Statuses of a decision: a request waits, then it is approved or rejected, and that stays."""

from apps.core.machine import Machine, Step
from apps.platforms.models import AccessRequest
from apps.stores.models import Verification

_MOVES = {"pending": {"approved", "rejected"}, "approved": (), "rejected": ()}
# Who decided is in the audit log.
ACCESS_REQUEST = Machine[AccessRequest, Step](_MOVES, has_history=False)
VERIFICATION = Machine[Verification, Step](_MOVES, has_history=False)
APPROVED = "approved"
REJECTED = "rejected"
