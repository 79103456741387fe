"""Decisions about an underpaid payment: to take what has arrived, or to give the customer more
time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.assets.models import Asset
from apps.core.web.refusals import status_of
from apps.dashboard.site.views import PageRequest, Refusals, find, go, sentences, show
from apps.payments import selectors, states
from apps.payments.documents.progress import progress_of
from apps.payments.models import Payment
from apps.payments.selectors import Received
from apps.payments.services.extend import extend_payment
from apps.payments.services.settle import shares
from apps.payments.services.shortfall import accept_shortfall

HOURS = (1, 6, 24)


@dataclass(frozen=True)
class Arrived:
    """A coin of what is accepted, before and after this payment's fees."""

    asset: Asset
    gross_atomic: int
    net_atomic: int


def _taken(payment: Payment) -> Callable[[Received], int]:
    """How much of what came to an address is accepted."""
    if payment.status == states.FAILED:
        return lambda intake: intake.on_time_atomic
    return lambda intake: intake.confirmed_atomic


def _arrived(payment: Payment, received: Sequence[Received]) -> list[Arrived]:
    arrived = []
    amount_of = _taken(payment)
    for intake in received:
        gross = amount_of(intake)
        if gross:
            parts = shares(payment, intake.address.asset_id, gross, is_own=intake.is_own)
            fees = parts["service_fee_atomic"] + parts["platform_fee_atomic"]
            arrived.append(Arrived(intake.address.asset, gross, gross - fees))
    return arrived


def accept(request: PageRequest, id: str) -> HttpResponse:
    """A page that says what is accepted, then the acceptance: one press from the payment's page."""
    payment: Payment = find(selectors.payments_visible_to(request.access), id)
    errors: list[str] = []
    status = 200
    if request.method == "POST":
        try:
            accept_shortfall(payment, by=request.access)
        except Refusals as refusal:
            errors = sentences(refusal)
            status = status_of(refusal)
        else:
            messages.success(
                request, gettext("Accepted. What arrived is in your available balance.")
            )
            return go("payment", payment.pk)
    received = selectors.received_by(payment)
    arrived = _arrived(payment, received)
    context = {
        "payment": payment,
        "errors": errors,
        "arrived": arrived,
        "progress": progress_of(payment, received, _taken(payment)),
    }
    return show(request, "dashboard/payments/shortfall.html", context, status=status)


def extend(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(selectors.payments_visible_to(request.access), id)
    errors: list[str] = []
    status = 200
    if request.method == "POST":
        typed = request.POST.get("hours", "")
        hours = int(typed) if typed in map(str, HOURS) else HOURS[0]
        try:
            extend_payment(payment, hours * 3600, by=request.access)
        except Refusals as refusal:
            errors = sentences(refusal)
            status = status_of(refusal)
        else:
            messages.success(request, gettext("The customer has more time."))
            return go("payment", payment.pk)
    context = {"payment": payment, "errors": errors, "hours": HOURS}
    return show(request, "dashboard/payments/extend.html", context, status=status)
