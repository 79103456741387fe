"""Pages of the staff site that show no list of one record: the machine's jobs, the kill switch, the
trial balance, one search."""

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
from apps.console.staff import search as staff_search
from apps.console.staff import trial_balance
from apps.console.staff.jobs import monitor
from apps.core import clock, searching
from apps.core.errors import Failure
from apps.core.staff import roles
from apps.core.staff.pages import may
from apps.core.web.forms import typographic
from apps.stores import audit
from apps.stores.models import StaffRequest, User

EVERYTHING = "all"


class HoldForm(forms.Form):
    what = forms.ChoiceField(label="Scope")
    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=("Saved in the audit log."),
    )

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


def sending(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """The kill switch: what is on hold, and why; one holds, two resume."""
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
        "may_hold": may(request, roles.SENDING_HOLD),
        "may_resume": may(request, roles.SENDING_RESUME),
    }
    return TemplateResponse(request, "admin/sending.html", context, status=status)


def _hold(request: HttpRequest, form: HoldForm) -> str:
    """Empty when the form isn't right. Raises a Failure."""
    if not may(request, roles.SENDING_HOLD):
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
    if not may(request, roles.SENDING_RESUME):
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


def jobs(site: AdminSite, request: HttpRequest) -> HttpResponse:
    now = clock.real_now()
    context = {
        **site.each_context(request),
        "title": "Jobs and outbox",
        "monitor": monitor(now),
        "now": now,
    }
    return TemplateResponse(request, "admin/jobs.html", context)


def balance(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Debits and credits by kind of account, as of now or as of the last seal."""
    is_sealed = request.GET.get("as_of") == "seal"
    table = trial_balance.at_last_seal() if is_sealed else trial_balance.now()
    context = {
        **site.each_context(request),
        "title": "Trial balance",
        "table": table,
        "is_sealed": is_sealed,
    }
    return TemplateResponse(request, "admin/trial_balance.html", context)


def search(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Whatever somebody quotes, over all stores. What was looked for is in the audit log."""
    typed = request.GET.get("q", "")
    result = staff_search.find(typed)
    if result.term.text:
        counts = {group.name: len(group.hits) for group in result.groups}
        audit.record("staff.searched", name=result.term.text, details=counts)
    if len(result.hits) == 1 and result.term.is_exact:
        return HttpResponseRedirect(result.hits[0].url)
    context = {
        **site.each_context(request),
        "title": "Search",
        "result": result,
        "query": result.term.text,
        "newest_max": searching.NEWEST_MAX,
    }
    return TemplateResponse(request, "admin/search.html", context)
