"""The last page of a store, and what has to end before: each obstacle leads to its list, in the
mode that it is in."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.core.models import Mode
from apps.core.text.wording import translated
from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.platforms.services import closing
from apps.platforms.services.accounts import AccountBlocker

# What people call each, and the list that its button leads to.
_OBSTACLES = {
    "store_balance": (_("Coins in the balance"), "balances"),
    "pending_payout": (_("Payouts in progress"), "payouts"),
    "in_flight_payment_intent": (_("Payments that can still be paid"), "payments"),
    "pending_refund": (_("Refunds in progress"), "refunds"),
    "subscription": (_("Subscriptions not canceled"), "subscriptions"),
    "test_subscription": (_("Subscriptions not canceled"), "subscriptions"),
    "account": (_("Sub-merchants not closed"), "platform_accounts"),
}
OBSTACLES = {name: title for name, (title, _) in _OBSTACLES.items()}


@dataclass(frozen=True)
class ClosingObstacle:
    """A step of the way to the end. `mode` is empty for what both modes share; `switches_to` is the
    mode that its button changes to on the way to the list."""

    title: str
    count: int
    mode: str
    switches_to: str
    url: str
    action: str


class CloseStoreForm(Form):
    names = ("name",)


def close(request: PageRequest) -> HttpResponse:
    """Its name is typed, and from then on it is only read."""
    form = CloseStoreForm.from_post(request.POST)
    if request.method == "POST":
        try:
            closing.close_store(request.access, form.values["name"])
        except Refusals as refusal:
            form.refuse(refusal)
        else:
            messages.success(
                request,
                gettext("{name} is closed. You can still read and export its records.").format(
                    name=request.access.store.name
                ),
            )
            return go("home")
    obstacles = [
        _shown(request, obstacle) for obstacle in closing.closing_obstacles(request.access.store)
    ]
    context = {"form": form, "errors": form.common_errors, "obstacles": obstacles}
    return show(request, "dashboard/settings/close.html", context, status=form.status)


def _shown(request: PageRequest, obstacle: AccountBlocker) -> ClosingObstacle:
    mode = {"account": "", "test_subscription": Mode.TEST.value}.get(obstacle.type, Mode.LIVE.value)
    title, page = _OBSTACLES[obstacle.type]
    return ClosingObstacle(
        translated(title),
        obstacle.count,
        mode,
        mode if mode != request.access.mode else "",
        reverse(f"dashboard:{page}"),
        gettext("View"),
    )
