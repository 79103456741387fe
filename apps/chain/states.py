"""The moves of an outgoing transaction and of a deposit; what a reorg undoes has rows of its own
(UndoneTransaction).

Only a reorg leaves `confirmed` or `failed` of an outgoing one (apps.chain.sending.undone), and only
staff `review`.
"""

from apps.chain.models import Deposit, OutgoingTransaction, SightingRecord
from apps.core.machine import Machine, Step

_Status = OutgoingTransaction.Status
OUTGOING = Machine[OutgoingTransaction, Step](
    {
        _Status.REQUESTED: {_Status.SIGNED, _Status.FAILED, _Status.REVIEW},
        _Status.SIGNED: {_Status.SUBMITTED, _Status.CONFIRMED, _Status.FAILED, _Status.REVIEW},
        _Status.SUBMITTED: {_Status.CONFIRMED, _Status.FAILED, _Status.REVIEW},
        # Confirmed at once when a person has looked at a receipt that says something else.
        _Status.REVIEW: {
            _Status.REQUESTED,
            _Status.SUBMITTED,
            _Status.CONFIRMED,
            _Status.FAILED,
        },
        _Status.CONFIRMED: {_Status.SUBMITTED},
        _Status.FAILED: {_Status.SUBMITTED, _Status.REVIEW},
    },
    has_history=False,
)
_Deposit = Deposit.Status
# What the watcher reads of a chain moves in `deposits.py`; the rest are simulated ones, and what is
# set aside for staff.
DEPOSIT = Machine[Deposit, Step](
    {
        _Deposit.CONFIRMING: {
            _Deposit.CONFIRMING,
            _Deposit.CONFIRMED,
            _Deposit.FAILED,
            _Deposit.UNMATCHED,
        },
        _Deposit.CONFIRMED: {_Deposit.FAILED, _Deposit.UNMATCHED},
        _Deposit.FAILED: {
            _Deposit.CONFIRMING,
            _Deposit.CONFIRMED,
            _Deposit.FAILED,
            _Deposit.UNMATCHED,
        },
        # A person of the store has claimed it, or it left the chain.
        _Deposit.UNMATCHED: {_Deposit.CONFIRMED, _Deposit.FAILED},
    },
    has_history=False,
)
_Sighting = SightingRecord.Status
# One that had ended waits again after a reorganization.
SIGHTING = Machine[SightingRecord, Step](
    {
        _Sighting.WAITING: {_Sighting.MINED, _Sighting.REPLACED, _Sighting.DROPPED},
        _Sighting.MINED: {_Sighting.WAITING},
        _Sighting.REPLACED: {_Sighting.WAITING},
        _Sighting.DROPPED: {_Sighting.WAITING},
    },
    has_history=False,
)
UNMINED = (_Status.REQUESTED, _Status.SIGNED, _Status.SUBMITTED)
ENDED = (_Status.CONFIRMED, _Status.FAILED, _Status.REVIEW)
IN_FLIGHT = (_Status.SIGNED, _Status.SUBMITTED)
MINED = (_Status.CONFIRMED, _Status.FAILED)
# These take nothing of their asset out of the hot wallet.
TAKES_NO_TOKENS = (
    OutgoingTransaction.Purpose.APPROVAL,
    OutgoingTransaction.Purpose.X402,
    OutgoingTransaction.Purpose.SWEEP_BATCH,
)
# These stay with the service, so that no cap and no alarm counts them.
STAYS_OURS = (
    OutgoingTransaction.Purpose.SWEEP,
    OutgoingTransaction.Purpose.JOIN,
    OutgoingTransaction.Purpose.COLD,
)
