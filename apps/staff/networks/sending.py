"""The kill switch of the staff site: what is on hold, and why; one holds, two resume."""

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.assets.models import Asset, Chain
from apps.chain.models import HotWallet, SendingHold
from apps.chain.sending import holds
from apps.core import clock
from apps.core.errors import Failure
from apps.core.web.forms import typographic
from apps.staff.pages import may, reason_field
from apps.stores import staff_roles
from apps.stores.models import StaffRequest, User

EVERYTHING = "all"


class HoldForm(forms.Form):
    what = forms.ChoiceField(label="Scope")
    reason = reason_field()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        chains = [(f"chain:{row.pk}", row.name) for row in Chain.objects.order_by("mode", "name")]
        active = (
            Asset.objects.filter(is_active=True)
            .select_related("chain")
            .order_by("chain__mode", "chain__name", "position")
        )
        assets = [(f"asset:{row.pk}", row.full_name) for row in active]
        choices = [(EVERYTHING, "Everything"), ("Chains", chains), ("Assets", assets)]
        self.fields["what"].choices = choices  # type: ignore[attr-defined]  # a choice field

    def target(self) -> tuple[Chain | None, Asset | None]:
        kind, _, name = str(self.cleaned_data["what"]).partition(":")
        chain = Chain.objects.get(pk=name) if kind == "chain" else None
        return chain, Asset.objects.get(pk=name) if kind == "asset" else None


def page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Present holds, the wallets, and the form for a new hold."""
    form = HoldForm()
    errors = list[str]()
    status = 200
    if request.method == "POST":
        form = HoldForm(request.POST if request.POST.get("act") == "hold" else None)
        try:
            done = _resume(request) if request.POST.get("act") == "resume" else _hold(request, form)
        except Failure as refusal:
            errors = [typographic(refusal.text)]
            status = 422
        else:
            if done:
                messages.success(request, done)
                return HttpResponseRedirect(reverse("admin:sending"))
            status = 422
    pending = StaffRequest.objects.filter(kind=holds.LIFT.name, state=StaffRequest.State.PENDING)
    waiting = dict(pending.values_list("target_id", "pk"))
    context = {
        **site.each_context(request),
        "title": "Sending",
        "holds": [
            (hold, holds.name_of(hold), waiting.get(str(hold.pk))) for hold in holds.open_holds()
        ],
        "wallets": HotWallet.objects.select_related("chain").order_by(
            "chain__mode", "chain__name", "number"
        ),
        "form": form,
        "errors": errors,
        "may_hold": may(request, staff_roles.SENDING_HOLD),
        "may_resume": may(request, staff_roles.SENDING_RESUME),
    }
    return TemplateResponse(request, "staff/sending.html", context, status=status)


def _hold(request: HttpRequest, form: HoldForm) -> str:
    """Empty when the form isn't right. Raises a Failure."""
    if not may(request, staff_roles.SENDING_HOLD):
        raise PermissionDenied
    if not form.is_valid():
        return ""
    chain, asset = form.target()
    row = holds.place(
        chain, asset, form.cleaned_data["reason"], cast(User, request.user), clock.real_now()
    )
    return f"Sending is on hold: {holds.name_of(row)}"


def _resume(request: HttpRequest) -> str:
    """Raises a Failure."""
    if not may(request, staff_roles.SENDING_RESUME):
        raise PermissionDenied
    chosen = request.POST.get("hold", "")
    rows = SendingHold.objects.select_related("chain", "asset__chain").filter(lifted_at=None)
    row = (
        rows.filter(pk=int(chosen)).first()
        if chosen.isascii() and chosen.isdigit() and len(chosen) < 19
        else None
    )
    if row is None:
        raise holds.HoldRefused("This hold has already been lifted")
    reason = request.POST.get("reason", "").replace("\x00", "")
    holds.request_lift(row, reason, cast(User, request.user), clock.real_now())
    return "Sent for a second approval"
