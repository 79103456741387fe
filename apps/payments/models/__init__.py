"""Payments, and the money that goes back or leaves because of them."""

from apps.payments.models.daily import DailySum, DailySumPlace
from apps.payments.models.emails import PaymentEmail
from apps.payments.models.held import HeldRefund, RefundAddress, RefundLink
from apps.payments.models.outgoing import Refund, TransferReturn, Withdrawal
from apps.payments.models.payments import (
    LateDeposit,
    Payment,
    PaymentAddress,
    PaymentEvent,
    PaymentNet,
    PaymentReference,
    PaymentSeal,
    ReconciliationTask,
    Renewal,
    TestPayment,
)
from apps.payments.models.sums import HourlySum, PaymentChange, PlatformSum, SoldSpan, SoldSum
from apps.payments.models.views import CheckoutView

__all__ = [
    "CheckoutView",
    "DailySum",
    "DailySumPlace",
    "HeldRefund",
    "HourlySum",
    "LateDeposit",
    "Payment",
    "PaymentAddress",
    "PaymentChange",
    "PaymentEmail",
    "PaymentEvent",
    "PaymentNet",
    "PaymentReference",
    "PaymentSeal",
    "PlatformSum",
    "ReconciliationTask",
    "Refund",
    "RefundAddress",
    "RefundLink",
    "Renewal",
    "SoldSpan",
    "SoldSum",
    "TestPayment",
    "TransferReturn",
    "Withdrawal",
]
