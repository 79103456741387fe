"""Payments that need a person of the store: each selector is one statement, served by an index of
its own.

Money that is held is shown until it is dealt with; what a store may as well leave alone for as long
as the caller says.
"""

from datetime import datetime
from typing import Any

from django.db.models import (
    Case,
    Exists,
    F,
    Max,
    Min,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)

from apps.chain.models import Deposit, UnmatchedTransfer
from apps.core.models import Viewer
from apps.payments import states
from apps.payments.models import (
    HeldRefund,
    LateDeposit,
    Payment,
    PaymentAddress,
    PaymentEvent,
    Refund,
    RefundAddress,
)
from apps.payments.services.hold import HELD_REFUND
from apps.payments.services.refund_shares import HELD_STATUSES, LIVE_STATUSES
from apps.payments.transfer_fits import other_fit

_HELD = HeldRefund.objects.filter(payment=OuterRef("pk"), status__in=HELD_STATUSES)
# As the merchant accepted it.
_TAKEN = PaymentEvent.objects.filter(payment=OuterRef("pk"), event_type=states.SHORTFALL_ACCEPTED)
_SENT_BACK = Refund.objects.filter(payment=OuterRef("pk"), status__in=LIVE_STATUSES)


def late_deposits(viewer: Viewer) -> "QuerySet[LateDeposit]":
    """Confirmed, neither accepted nor sent back; `rate` is the locked one of its payment, None for
    another coin."""
    # Looked up by its key: joined, the deposits of all stores may be gone through in that order. As
    # a case PostgreSQL expects half of them: of fewer it reads and sorts all before it shows some.
    deposit = Deposit.objects.filter(pk=OuterRef("deposit_id"), status=Deposit.Status.CONFIRMED)
    its_own = Subquery(deposit.values("pk")[:1])
    is_confirmed = Case(When(deposit=its_own, then=Value(True)), default=Value(False))
    its_asset = Deposit.objects.filter(pk=OuterRef(OuterRef("deposit_id"))).values("asset")[:1]
    has_refund = Refund.objects.filter(
        payment=OuterRef("payment"),
        asset=Subquery(its_asset),
        is_from_held=True,
        status__in=LIVE_STATUSES,
        created_at__gte=OuterRef("created_at"),
    )
    rate = PaymentAddress.objects.filter(address=OuterRef("deposit__address")).values(
        "exchange_rate"
    )[:1]
    rows = LateDeposit.objects.filter(store_id=viewer.store_id, mode=viewer.mode, accepted_at=None)
    rows = rows.filter(~Exists(has_refund), is_confirmed).select_related(
        "payment", "deposit__asset"
    )
    return rows.annotate(rate=Subquery(rate)).order_by("-created_at")


def flagged_payments(viewer: Viewer) -> "QuerySet[Payment]":
    """Rejected ones that could not go back by themselves, for the reason that they are flagged
    with; what waits for an address is listed share by share (`held_refunds`)."""
    rows = Payment.objects.visible_to(viewer).exclude(needs_attention__in=("", HELD_REFUND))
    return rows.order_by("-created_at")


def held_refunds(viewer: Viewer) -> "QuerySet[HeldRefund]":
    """Shares that wait for an address, of each payment and coin the newest, with the `total` of
    that coin and the one address that was `entered` on the payment's page, if it is one."""
    waiting = HeldRefund.objects.filter(status=HeldRefund.Status.WAITING)
    alike = waiting.filter(payment=OuterRef("payment"), asset=OuterRef("asset"))
    newer = alike.filter(pk__gt=OuterRef("pk"))
    total = alike.order_by().values("payment", "asset").annotate(sum=Sum("amount_atomic"))
    entered = RefundAddress.objects.filter(payment=OuterRef("payment")).order_by()
    only = entered.values("payment").annotate(first=Min("address"), last=Max("address"))
    rows = waiting.filter(~Exists(newer), store_id=viewer.store_id, mode=viewer.mode)
    rows = rows.annotate(
        total=Subquery(total.values("sum")),
        entered=Subquery(only.filter(first=F("last")).values("first")),
    )
    held: QuerySet[HeldRefund] = rows.select_related("payment", "asset__chain")
    return held.order_by("-created_at")


def unreturned_payments(viewer: Viewer) -> "QuerySet[Payment]":
    """Rejected ones whose coins are held, and nothing of which waits or is looked at."""
    rows = Payment.objects.visible_to(viewer).filter(
        ~Exists(_SENT_BACK),
        ~Exists(_HELD),
        ~Exists(_TAKEN),
        status=states.FAILED,
        needs_attention="",
    )
    return rows.order_by("-created_at")


def overpaid_payments(viewer: Viewer, since: datetime) -> "QuerySet[Payment]":
    """Completed with more than was due since then, nothing of which has gone back or is on its
    way."""
    rows = Payment.objects.visible_to(viewer).filter(
        ~Exists(_SENT_BACK),
        status=states.COMPLETED,
        state_reason=states.COMPLETED_OVERPAID,
        refund_state=Payment.RefundState.NONE,
        completed_at__gte=since,
    )
    return rows.order_by("-completed_at")


def short_payments(viewer: Viewer) -> "QuerySet[Payment]":
    """Open ones of which a part has come: the customer may still pay the rest."""
    rows = Payment.objects.visible_to(viewer).filter(
        status=states.PROCESSING, state_reason=states.PROCESSING_UNDERPAID
    )
    rows = rows.select_related("store")  # whose domain the link has
    return rows.order_by("-created_at")


def underpaid_payments(viewer: Viewer, since: datetime) -> "QuerySet[Payment]":
    """Completed with less than was due since then, because the store accepts it."""
    rows = Payment.objects.visible_to(viewer).filter(
        status=states.COMPLETED,
        state_reason=states.COMPLETED_UNDERPAID,
        refund_state=Payment.RefundState.NONE,
        completed_at__gte=since,
    )
    return rows.order_by("-completed_at")


def failed_refunds(viewer: Viewer, since: datetime) -> "QuerySet[Refund]":
    """The newest failed one of each payment that has no other under way or done; rejected payments
    are listed above."""
    later = Refund.objects.filter(payment=OuterRef("payment"), status__in=LIVE_STATUSES)
    newer = Refund.objects.filter(
        payment=OuterRef("payment"),
        status=Refund.Status.FAILED,
        created_at__gt=OuterRef("created_at"),
    )
    rows = Refund.objects.visible_to(viewer).filter(
        ~Exists(later), ~Exists(newer), status=Refund.Status.FAILED, created_at__gte=since
    )
    return (
        rows.filter(part=0)
        .exclude(payment__status=states.FAILED)
        .select_related("payment", "asset")
        .order_by("-created_at")
    )


def unmatched_transfers(viewer: Viewer, ahead: Any) -> "QuerySet[UnmatchedTransfer]":
    """Coins that an address of one of the store's payments wasn't made for, until somebody has said
    what becomes of them.

    `own_reference` is that payment's, `has_other_fit` whether another one may be meant
    (apps.payments.transfer_fits). `ahead` is how far the store's clock is.
    """
    rows = UnmatchedTransfer.objects.filter(
        store_id=viewer.store_id, chain__mode=viewer.mode, resolved_at=None
    )
    own = PaymentAddress.objects.filter(address=OuterRef("address"))
    rows = rows.annotate(
        own_reference=Subquery(own.values("payment__reference")[:1]),
        has_other_fit=other_fit(viewer, ahead),
    )
    transfers: QuerySet[UnmatchedTransfer] = rows.select_related("asset").order_by("-detected_at")
    return transfers
