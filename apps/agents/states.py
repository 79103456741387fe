"""The moves of mandates and settlements. A settlement ends confirmed or failed; one that isn't dispatched stays submitted."""

from apps.agents.models import Mandate, Settlement
from apps.core.machine import Machine

_Mandate, _Settlement = Mandate.Status, Settlement.Status
MANDATE = Machine(
    {
        _Mandate.ACTIVE: {_Mandate.EXHAUSTED, _Mandate.REVOKED, _Mandate.EXPIRED},
        _Mandate.EXHAUSTED: {_Mandate.ACTIVE, _Mandate.REVOKED, _Mandate.EXPIRED},
        _Mandate.REVOKED: (),
        _Mandate.EXPIRED: (),
    }
)
SETTLEMENT = Machine(
    {
        _Settlement.PENDING: {_Settlement.SUBMITTED, _Settlement.FAILED},
        _Settlement.SUBMITTED: {_Settlement.CONFIRMED, _Settlement.FAILED},
        _Settlement.CONFIRMED: (),
        _Settlement.FAILED: (),
    }
)
LASTING = (_Mandate.ACTIVE, _Mandate.EXHAUSTED)  # what time and people can still end
OPEN = (_Settlement.PENDING, _Settlement.SUBMITTED)
