"""The moves of an outgoing transaction. Nothing leaves `confirmed` or `failed`; only staff leave `review`."""

from apps.chain.models import OutgoingTransaction
from apps.core.machine import Machine

_Status = OutgoingTransaction.Status
OUTGOING = Machine(
    {
        _Status.REQUESTED: {_Status.SIGNED, _Status.FAILED, _Status.REVIEW},
        _Status.SIGNED: {_Status.SUBMITTED, _Status.CONFIRMED, _Status.FAILED, _Status.REVIEW},
        _Status.SUBMITTED: {_Status.CONFIRMED, _Status.FAILED, _Status.REVIEW},
        _Status.REVIEW: {_Status.REQUESTED, _Status.SUBMITTED, _Status.FAILED},
        _Status.CONFIRMED: (),
        _Status.FAILED: (),
    }
)
UNMINED = (_Status.REQUESTED, _Status.SIGNED, _Status.SUBMITTED)
ENDED = (_Status.CONFIRMED, _Status.FAILED, _Status.REVIEW)
IN_FLIGHT = (_Status.SIGNED, _Status.SUBMITTED)
# Who is told that a transaction has come to an end: the job of the app that asked for it.
HANDLERS = {
    OutgoingTransaction.Purpose.REFUND: "payments.settle_outgoing",
    OutgoingTransaction.Purpose.TEST_PAYMENT: "payments.settle_outgoing",
    OutgoingTransaction.Purpose.PAYOUT: "payouts.settle_outgoing",
    OutgoingTransaction.Purpose.SETTLEMENT: "agents.settle_outgoing",
}
