"""The last page of a store, and what has to end before: each obstacle leads to its list, in the
mode that it is in."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse

from apps.core.models import Mode
from apps.core.web.forms import Form
from apps.dashboard.plumbing import PageRequest, Refusals, go, show
from apps.platforms.services import closing
from apps.platforms.services.accounts import AccountBlocker

OBSTACLES = {
    "store_balance": "Coins in the balance",
    "pending_payout": "Payouts in progress",
    "in_flight_payment_intent": "Payments that can still be paid",
    "pending_refund": "Refunds in progress",
    "subscription": "Subscriptions not canceled",
    "test_subscription": "Subscriptions not canceled",
    "account": "Sub-merchants not closed",
}
_LISTS = {
    "store_balance": "balances",
    "pending_payout": "payouts",
    "in_flight_payment_intent": "payments",
    "pending_refund": "refunds",
    "subscription": "subscriptions",
    "test_subscription": "subscriptions",
    "account": "platform_accounts",
}


@dataclass(frozen=True)
class ClosingObstacle:
    """A step of the way to the end. `mode` is empty for what both modes share; `switches_to` is the
    mode that its button changes to on the way to the list."""

    title: str
    count: int
    mode: str
    switches_to: str
    url: str
    action: str = "View"


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
                f"{request.access.store.name} is closed. You can still read and export its"
                " records.",
            )
            return go("home")
    obstacles = [
        _shown(request, obstacle) for obstacle in closing.closing_obstacles(request.access.store)
    ]
    context = {"form": form, "errors": form.common_errors, "obstacles": obstacles}
    return show(request, "dashboard/settings/close.html", context, status=form.status)


def _shown(request: PageRequest, obstacle: AccountBlocker) -> ClosingObstacle:
    mode = {"account": "", "test_subscription": Mode.TEST.value}.get(obstacle.type, Mode.LIVE.value)
    return ClosingObstacle(
        OBSTACLES[obstacle.type],
        obstacle.count,
        mode,
        mode if mode != request.access.mode else "",
        reverse(f"dashboard:{_LISTS[obstacle.type]}"),
    )
