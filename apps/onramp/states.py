"""The moves of a card payment: pending ends once, and nothing leaves an end."""

from dataclasses import dataclass

from apps.core.machine import Machine, Step
from apps.onramp.models import FundingSession

_Status = FundingSession.Status


@dataclass(frozen=True)
class Reported(Step):
    """With who said so."""

    source: str


MACHINE = Machine[FundingSession, Reported](
    {
        _Status.PENDING: {_Status.PAID, _Status.EXPIRED, _Status.FAILED},
        _Status.PAID: (),
        _Status.EXPIRED: (),
        _Status.FAILED: (),
    }
)
