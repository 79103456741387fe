"""The whole transition table of a payout, when it is tried again, and what its history shows to the
merchant."""

from datetime import timedelta

from django.utils.translation import gettext_noop

from apps.core.machine import Machine, Step, StepWithNote
from apps.payouts.models import Payout, PayoutApproval, PayoutBatch, PayoutBatchLine

_Status = Payout.Status
_Code = Payout.FailureCode
MACHINE = Machine[Payout, StepWithNote](
    {
        _Status.PENDING: {
            _Status.SUBMITTED,
            _Status.CONFIRMED,
            _Status.FAILED,
            _Status.REQUIRES_REVIEW,
        },
        _Status.RETRYING: {
            _Status.SUBMITTED,
            _Status.CONFIRMED,
            _Status.FAILED,
            _Status.REQUIRES_REVIEW,
        },
        _Status.SUBMITTED: {_Status.CONFIRMED, _Status.FAILED, _Status.REQUIRES_REVIEW},
        _Status.REQUIRES_REVIEW: {
            _Status.PENDING,
            _Status.SUBMITTED,
            _Status.CONFIRMED,
            _Status.FAILED,
        },
        _Status.FAILED: {_Status.RETRYING},
        _Status.CONFIRMED: (),
    }
)
_Batch = PayoutBatch.Status
_Line = PayoutBatchLine.Status
_Approval = PayoutApproval.Status
# What people do to lists and approvals is in the audit log; a line shows the payout that it has
# become, or why there is none.
BATCH = Machine[PayoutBatch, Step](
    {_Batch.REVIEW: {_Batch.RELEASED, _Batch.DISCARDED}, _Batch.RELEASED: (), _Batch.DISCARDED: ()},
    has_history=False,
)
LINE = Machine[PayoutBatchLine, Step](
    {
        _Line.VALID: {_Line.QUEUED},
        _Line.INVALID: (),
        _Line.QUEUED: {_Line.CREATED, _Line.FAILED},
        _Line.CREATED: (),
        _Line.FAILED: (),
    },
    has_history=False,
)
APPROVAL = Machine[PayoutApproval, Step](
    {
        _Approval.WAITING: {_Approval.APPROVED, _Approval.REJECTED, _Approval.EXPIRED},
        _Approval.APPROVED: (),
        _Approval.REJECTED: (),
        _Approval.EXPIRED: (),
    },
    has_history=False,
)
WAITING = (_Status.PENDING, _Status.RETRYING)
# How long after each failure it is tried again by itself; a payout is tried again so many times in
# all.
RETRY_DELAYS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240))
RETRIES_MAX = len(RETRY_DELAYS)
RETURNED_AT_ONCE = frozenset({_Code.DESTINATION_INVALID})
RETRIED_BY_ITSELF = frozenset({_Code.TEMPORARILY_UNAVAILABLE})
# Why a payout is pending, in words for the merchant, by what its transaction waits for.
WAITS = {
    "funds": "waiting_for_funds",
    "sweep": "waiting_for_sweep",
    "network": "network_congested",
    "token": "token_stopped",
}
COOLING_DOWN = "cooling_down"
AWAITING_APPROVAL = "awaiting_approval"
PENDING_REASONS = (*WAITS.values(), COOLING_DOWN, AWAITING_APPROVAL)
NEEDS_APPROVER = Payout.NEEDS_APPROVER
# Why a person looks before anything is sent.
NEW_DESTINATION = gettext_noop("The destination is new")
ASSET_STOPPED = gettext_noop("A deposit of this asset was lost after it had been credited")
ABOVE_THRESHOLD = gettext_noop("Above the amount that is paid out without review")
HELD = (NEW_DESTINATION, ASSET_STOPPED, ABOVE_THRESHOLD)
# What people read of a reason whose words are the code's own.
REASON_WORDS = {
    NEEDS_APPROVER: gettext_noop("It needs a second approval"),
    ABOVE_THRESHOLD: gettext_noop("The amount is above what we send without review"),
}
# As which state the merchant's history tells each; a review is not in it.
TOLD: dict[str, str] = {
    _Status.PENDING: "pending",
    _Status.SUBMITTED: "submitted",
    _Status.RETRYING: "submitted",
    _Status.CONFIRMED: "confirmed",
    _Status.FAILED: "failed",
}
# What the store's own people hear as well.
TOLD_AT_HOME: dict[str, str] = {**TOLD, _Status.REQUIRES_REVIEW: "requires_review"}
# Whose note says why.
EXPLAINED = frozenset({"failed", "requires_review"})
