"""The moves of a swap. It ends once: with what it bought, or with its source given back."""

from apps.core.machine import Machine, StepWithNote
from apps.swaps.models import Swap

_Status = Swap.Status
MACHINE = Machine[Swap, StepWithNote](
    {
        _Status.PENDING: {_Status.SUBMITTED, _Status.FAILED},
        _Status.SUBMITTED: {_Status.COMPLETED, _Status.FAILED},
        _Status.COMPLETED: (),
        _Status.FAILED: (),
    }
)
OPEN = (_Status.PENDING, _Status.SUBMITTED)
ENDED = (_Status.COMPLETED, _Status.FAILED)
