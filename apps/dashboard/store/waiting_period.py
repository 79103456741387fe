"""Waiting periods of destinations and credentials in live mode: canceling one by an email's link,
without signing in, and their length."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.access import operation_emails, operations, services, waiting_period
from apps.access.authorization import grants as oauth_grants
from apps.access.models import WaitingPeriodSettings
from apps.chain.own import choices
from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import NotFound
from apps.core.messages.invalid import Invalid
from apps.core.text.wording import translated
from apps.core.typed_amounts import whole_typed
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.payouts.services import approval_rules
from apps.payouts.services.batches import stop_batch
from apps.payouts.services.destinations import stop_destination
from apps.payouts.services.schedules import stop_schedule
from apps.stores import roles
from apps.swaps.services.auto import stop_auto_swap

_KEY_REVOKED = _("Access revoked. Whatever used it no longer works.")
# What works already, and is revoked rather than stopped.
REVOKED = frozenset(
    row.name
    for row in (
        operations.GUARDED_KEY_CREATE,
        operations.GUARDED_AGENT_CREATE,
        operations.GUARDED_GRANT,
        operations.TAKE_OVER,
    )
)
Stop = Callable[[UUID, datetime], bool]
# operation: what stops it, and what has become of it then
STOPS: dict[str, tuple[Stop, str]] = {
    operations.DESTINATION_ADD.name: (
        stop_destination,
        _("Destination removed. Nothing can be sent to it."),
    ),
    operations.WALLET_CHANGE.name: (
        choices.stop_by_link,
        _("Change canceled. Customers’ coins go where they went before."),
    ),
    operations.SCHEDULE_CREATE.name: (
        stop_schedule,
        _("Schedule deleted. It won’t pay out."),
    ),
    operations.SCHEDULE_CHANGE.name: (
        stop_schedule,
        _("Schedule deleted. It won’t pay out."),
    ),
    operations.BATCH_RELEASE.name: (stop_batch, _("Payouts canceled. Nothing was sent.")),
    operations.AUTO_SWAP.name: (stop_auto_swap, _("Automatic swaps are off.")),
    operations.APPROVAL_CHANGE.name: (
        approval_rules.stop_change,
        _("Change canceled. The rule stays the same."),
    ),
    operations.WAITING_PERIOD_CHANGE.name: (
        waiting_period.stop_change,
        _("Change canceled. The waiting period stays the same."),
    ),
    operations.GUARDED_KEY_CREATE.name: (services.revoke_by_link, _KEY_REVOKED),
    operations.GUARDED_AGENT_CREATE.name: (services.revoke_by_link, _KEY_REVOKED),
    operations.TAKE_OVER.name: (services.revoke_by_link, _KEY_REVOKED),
    operations.GUARDED_GRANT.name: (oauth_grants.revoke_by_link, _KEY_REVOKED),
}
_TITLES = {row.name: words for row, words in operation_emails.DONE.items()}


class HoursForm(Form):
    names = ("hours",)

    @property
    def hours(self) -> int:
        """Raises NotHours."""
        try:
            return whole_typed(self.values["hours"], "hours", digits_max=3)
        except Invalid:
            raise waiting_period.NotHours from None


def stop(request: HttpRequest, token: str) -> HttpResponse:
    """Opening the link changes nothing; the button on its page does, once."""
    try:
        name, target, until = waiting_period.read(token)
    except NotFound:
        return render(request, "dashboard/waiting_period/over.html", status=404)
    act, done = STOPS[name]
    context = {
        "does": translated(_TITLES[name]),
        "until": until,
        "is_over": until <= clock.real_now(),
        "is_revoked": name in REVOKED,
    }
    if request.method == "POST":
        with tenancy.everyone("an email’s link names what it stops"):
            is_stopped = act(target, until)
        context |= {"done": translated(done) if is_stopped else "", "is_over": not is_stopped}
    return render(request, "dashboard/waiting_period/stop.html", context)


def hours(request: PageRequest) -> HttpResponse:
    """Length of the waiting period in live mode."""
    form = HoursForm.from_post(request.POST)
    if request.method == "POST":

        def keep() -> None:
            waiting_period.change_hours(request.access, form.hours)

        try:
            confirmation = confirming.ask_about_form(
                request, [(gettext("Hours"), form.values["hours"])], keep
            )
            if confirmation is not None:
                return confirmation
            keep()
            messages.success(
                request,
                gettext("Saved. A shorter period takes effect after the current one has passed."),
            )
            return go("settings_waiting")
        except Refusals as refusal:
            form.refuse(refusal)
    at = clock.real_now()
    current = WaitingPeriodSettings.of(request.access.store)
    present = waiting_period.hours_of(current, at)
    next_from = current.cooling_hours_next_from
    context = {
        "form": form,
        "hours": form.values["hours"] or present,
        "present": present,
        "most": waiting_period.HOURS_MAX,
        "next": current.cooling_hours_next,
        "next_from": next_from if next_from is not None and next_from > at else None,
        "errors": form.common_errors,
        "may_change": roles.may(request.member.role, roles.OWN),
    }
    return show(request, "dashboard/settings/waiting_period.html", context, status=form.status)
