"""The moves of mandates, settlements and signed payments.

A settlement ends confirmed or failed; one that isn't dispatched stays submitted. A signed payment
is unknown when nobody waits for it any more: only the chain says what became of it.
"""

from apps.agents.models import Mandate, Settlement, SignedPayment
from apps.core.machine import Machine, Step, StepWithNote

_Mandate = Mandate.Status
_Settlement = Settlement.Status
_Signed = SignedPayment.Status
MANDATE = Machine[Mandate, Step](
    {
        _Mandate.ACTIVE: {_Mandate.EXHAUSTED, _Mandate.REVOKED, _Mandate.EXPIRED},
        _Mandate.EXHAUSTED: {_Mandate.ACTIVE, _Mandate.REVOKED, _Mandate.EXPIRED},
        _Mandate.REVOKED: (),
        _Mandate.EXPIRED: (),
    }
)
SETTLEMENT = Machine[Settlement, StepWithNote](
    {
        _Settlement.PENDING: {_Settlement.SUBMITTED, _Settlement.FAILED},
        _Settlement.SUBMITTED: {_Settlement.CONFIRMED, _Settlement.FAILED},
        _Settlement.CONFIRMED: (),
        _Settlement.FAILED: (),
    }
)
SIGNED = Machine[SignedPayment, StepWithNote](
    {
        _Signed.VERIFIED: {_Signed.SUBMITTED, _Signed.FAILED},
        _Signed.SUBMITTED: {_Signed.UNKNOWN, _Signed.SETTLED, _Signed.FAILED},
        _Signed.UNKNOWN: {_Signed.SETTLED, _Signed.FAILED},
        _Signed.SETTLED: (),
        _Signed.FAILED: {_Signed.SUBMITTED},  # by somebody else, while it is still valid
    }
)
LASTING = (_Mandate.ACTIVE, _Mandate.EXHAUSTED)  # what time and people can still end
OPEN = (_Settlement.PENDING, _Settlement.SUBMITTED)
SIGNED_OPEN = (_Signed.VERIFIED, _Signed.SUBMITTED, _Signed.UNKNOWN)
