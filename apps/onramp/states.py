"""The moves of a card payment: pending ends once, and nothing leaves an end."""

from apps.core.machine import Machine
from apps.onramp.models import FundingSession

_Status = FundingSession.Status
MACHINE = Machine(
    {
        _Status.PENDING: {_Status.PAID, _Status.EXPIRED, _Status.FAILED},
        _Status.PAID: (),
        _Status.EXPIRED: (),
        _Status.FAILED: (),
    }
)
