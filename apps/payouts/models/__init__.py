"""Payouts, their destinations, schedules and approvals."""

from apps.payouts.models.approvals import ApprovalRule, PayoutApproval
from apps.payouts.models.batches import PayoutBatch, PayoutBatchLine
from apps.payouts.models.offramp import OfframpOrder
from apps.payouts.models.payouts import (
    Destination,
    OfframpCallback,
    Payout,
    PayoutTransition,
    Schedule,
    ScheduleRun,
    StorePayoutCap,
    WalletNetwork,
)
from apps.payouts.models.settings import PayoutSettings, PaysNetworkFee

__all__ = [
    "ApprovalRule",
    "Destination",
    "OfframpCallback",
    "OfframpOrder",
    "Payout",
    "PayoutApproval",
    "PayoutBatch",
    "PayoutBatchLine",
    "PayoutSettings",
    "PayoutTransition",
    "PaysNetworkFee",
    "Schedule",
    "ScheduleRun",
    "StorePayoutCap",
    "WalletNetwork",
]
