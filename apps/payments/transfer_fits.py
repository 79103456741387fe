"""The payments that an unmatched transfer was probably meant for, so that nobody has to look a
reference up.

One statement that reads a bounded range of an index, whatever the store has sold.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import (
    DateTimeField,
    DecimalField,
    DurationField,
    Exists,
    Expression,
    ExpressionWrapper,
    F,
    OuterRef,
    Value,
)
from django.db.models.functions import Abs

from apps.access.access import Access
from apps.chain.models import UnmatchedTransfer
from apps.core import clock
from apps.core.models import Viewer
from apps.payments.models import Payment, PaymentAddress

SHOWN = 5
LOOKED_AT_MAX = 500
LOOKED_BACK = timedelta(days=30)
# A customer may still be paying what was made shortly after the coins were seen.
LOOKED_AHEAD = timedelta(hours=1)
NEAR_PERCENT = 10


@dataclass(frozen=True)
class FittingPayment:
    """`due_atomic` is what it asks for in the coin that came, None where it doesn't take that
    coin."""

    payment: Payment
    due_atomic: int | None
    is_own: bool


def fits_of(access: Access, transfer: UnmatchedTransfer, own: Payment) -> list[FittingPayment]:
    """The payment whose address it is, then those that ask for about this amount of this coin, the
    nearest first and of equals the latest."""
    near = _near(access, transfer)
    due = next((address.required_atomic for address in near if address.payment_id == own.pk), None)
    further = [FittingPayment(address.payment, address.required_atomic, False) for address in near]
    return [
        FittingPayment(own, due, True),
        *(address for address in further if address.payment.pk != own.pk),
    ][:SHOWN]


def _near(access: Access, transfer: UnmatchedTransfer) -> list[PaymentAddress]:
    if transfer.asset_id is None:
        return []

    amount = transfer.amount_atomic
    margin = amount * NEAR_PERCENT // 100
    # Payments of test mode are of the test clock, what is seen on a chain isn't.
    ahead = access.now() - clock.real_now()
    since = transfer.detected_at - LOOKED_BACK
    until = transfer.detected_at + ahead + LOOKED_AHEAD
    recent = (
        Payment.objects.visible_to(access)
        .filter(created_at__range=(since, until))
        .order_by("-created_at")[:LOOKED_AT_MAX]
    )
    addresses = PaymentAddress.objects.filter(
        payment__in=recent.values("pk"),
        asset=transfer.asset_id,
        required_atomic__range=(amount - margin, amount + margin),
    )
    return list(
        addresses.select_related("payment").order_by(
            Abs(F("required_atomic") - amount), "-payment__created_at"
        )[: SHOWN + 1]
    )


def other_fit(viewer: Viewer, ahead: Any) -> Exists:
    """Of a row of transfers: whether a payment beside the one whose address it is asks for about
    its amount of its coin, by the same bounds as `fits_of`."""
    seen_at: Any = OuterRef(OuterRef("detected_at"))
    offset = ahead if isinstance(ahead, Expression) else Value(ahead, DurationField())
    recent = (
        Payment.objects.visible_to(viewer)
        .filter(
            created_at__gte=_time(seen_at - LOOKED_BACK),
            created_at__lte=_time(seen_at + offset + LOOKED_AHEAD),
        )
        .order_by("-created_at")[:LOOKED_AT_MAX]
    )
    near = PaymentAddress.objects.filter(
        payment__in=recent.values("pk"),
        asset=OuterRef("asset"),
        required_atomic__gte=_share(100 - NEAR_PERCENT),
        required_atomic__lte=_share(100 + NEAR_PERCENT),
    )
    own = PaymentAddress.objects.filter(address=OuterRef(OuterRef("address"))).values("payment")
    return Exists(near.exclude(payment__in=own))


def _time(expression: Any) -> "ExpressionWrapper[Any]":
    return ExpressionWrapper(expression, DateTimeField())


def _share(percent: int) -> "ExpressionWrapper[Any]":
    atomic: Any = OuterRef("amount_atomic")
    return ExpressionWrapper(atomic * percent / 100, DecimalField(max_digits=80, decimal_places=0))
