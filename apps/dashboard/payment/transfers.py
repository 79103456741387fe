"""Coins that one of the store's addresses wasn't made for: what came, and the two things that a
person may make of it."""

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.chain.models import UnmatchedTransfer
from apps.chain.networks.families import read_any, shown_address
from apps.core.templatetags.tillgate import crypto
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, Refusals, go, sentences, show
from apps.payments.models import LateDeposit, TransferReturn
from apps.payments.services.transfers import (
    Claim,
    ForSupport,
    accept_transfer,
    claim_of,
    look_at_sender,
    send_transfer_back,
    transfer_of,
)
from apps.payments.transfer_fits import FittingPayment, fits_of
from apps.stores import roles


class AcceptForm(Form):
    """`payment` is one of those that are offered; `reference` is typed where none of them fits."""

    names = ("payment", "reference")

    @property
    def wanted(self) -> str:
        return self.values["payment"] or self.values["reference"]


def show_one(request: PageRequest, id: str) -> HttpResponse:
    return _page(request, transfer_of(request.access, id))


def accept(request: PageRequest, id: str) -> HttpResponse:
    transfer = transfer_of(request.access, id)
    form = AcceptForm.from_post(request.POST)
    reference = form.wanted
    rows = [*_rows(transfer), (gettext("Payment"), reference)]
    try:
        confirmation = confirming.ask_about_form(
            request,
            rows,
            lambda: accept_transfer(request.access, id, reference),
            back=reverse("dashboard:transfer", args=[transfer.pk]),
        )
        if confirmation is not None:
            return confirmation
        payment = accept_transfer(request.access, id, reference)
    except Refusals as refusal:
        return _page(request, transfer, form.refuse(refusal))
    messages.success(request, gettext("Transfer accepted. It’s in your available balance."))
    return go("payment", payment.pk)


class ReturnForm(Form):
    """Empty: to who sent it, if coins can go back there."""

    names = ("destination_address",)
    labels = {"destination_address": gettext_noop("Address")}


def send_back(request: PageRequest, id: str) -> HttpResponse:
    transfer = transfer_of(request.access, id)
    form = ReturnForm.from_post(request.POST)
    address = form.values["destination_address"]
    to = shown_address(read_any(address) or transfer.from_address)
    rows = [*_rows(transfer), (gettext("To"), to)]
    try:
        if not address:
            look_at_sender(request.access, id)
        confirmation = confirming.ask_about_form(
            request,
            rows,
            lambda: send_transfer_back(request.access, id, address),
            back=reverse("dashboard:transfer", args=[transfer.pk]),
        )
        if confirmation is not None:
            return confirmation
        send_transfer_back(request.access, id, address)
    except Refusals as refusal:
        return _page(request, transfer, AcceptForm({}), form.refuse(refusal))
    messages.success(request, gettext("Return created. This page shows its progress."))
    return go("transfer", transfer.pk)


def _rows(transfer: UnmatchedTransfer) -> list[tuple[str, object]]:
    asset = transfer.asset
    coins = (
        crypto(transfer.amount_atomic, asset.atomic_decimals, asset.coin_symbol)
        if asset
        else gettext("An unknown token")
    )
    return [(gettext("Amount"), coins), (gettext("Network"), transfer.chain.name)]


def _page(
    request: PageRequest,
    transfer: UnmatchedTransfer,
    form: AcceptForm | None = None,
    return_form: ReturnForm | None = None,
) -> HttpResponse:
    claim, why = _claim(request, transfer)
    form = form or AcceptForm({"payment": claim.payment.reference if claim else ""})
    sent = return_form or ReturnForm({})
    accepted = (
        LateDeposit.objects.filter(deposit=claim.deposit).select_related("payment").first()
        if claim
        else None
    )
    returned = (
        TransferReturn.objects.visible_to(request.access)
        .filter(transfer=transfer)
        .order_by("-created_at")
        .first()
    )
    context = {
        "transfer": transfer,
        "payment": claim.payment if claim else None,
        "why": why,
        "form": form,
        "return_form": sent,
        "errors": [*form.common_errors, *sent.common_errors],
        "accepted": accepted,
        "returned": returned,
        "fits": _fits(request, transfer, claim, is_held=returned is not None),
        "may_act": roles.may(request.member.role, roles.MOVE_MONEY),
    }
    return show(
        request, "dashboard/transfers/detail.html", context, status=max(form.status, sent.status)
    )


def _fits(
    request: PageRequest, transfer: UnmatchedTransfer, claim: Claim | None, *, is_held: bool
) -> list[FittingPayment]:
    """Payments that the transfer can join; a return that failed is kept for one payment, and can't
    join another."""
    if claim is None or transfer.resolved_at:
        return []
    payments = fits_of(request.access, transfer, claim.payment)
    return payments[:1] if is_held else payments


def _claim(request: PageRequest, transfer: UnmatchedTransfer) -> tuple[Claim | None, str]:
    try:
        return claim_of(request.access, transfer), ""
    except ForSupport as refusal:
        return None, " ".join(sentences(refusal))
