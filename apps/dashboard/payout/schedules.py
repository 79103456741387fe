"""Schedules: which coins are paid out by themselves, where to and when; pausing, changing, running
now, deleting."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, Self

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_noop

from apps.access import operations, waiting_period
from apps.access.factors import stepup
from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.chain.networks.families import shown_address
from apps.core import money
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.templatetags.tillgate import crypto, fiat
from apps.core.typed_amounts import cents_typed
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.confirming import ConfirmationForm
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, sentences, show
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.files import schedules_file
from apps.payouts import selectors
from apps.payouts.models import Destination, Schedule
from apps.payouts.requests import MINIMUM_CURRENCIES, ScheduleRequest
from apps.payouts.services import run_rules, runs, schedules
from apps.payouts.services.destinations import network_name
from apps.payouts.services.offer import accepts
from apps.stores.models import Currency

_DETAIL = {"wallet": "crypto_payout_detail_id", "bank": "fiat_payout_detail_id"}
_SKIPS = {
    run_rules.NO_BALANCE: gettext_noop("Nothing to pay out."),
    run_rules.BELOW_MINIMUM: gettext_noop("The balance was below the minimum."),
    run_rules.BELOW_NETWORK_MINIMUM: gettext_noop("The balance was below the network minimum."),
}
SHOWN = 20
NAME_SHOWN = 15
# What is said of a bank account is shorter than of a wallet with its network.
BANK_NAME_SHOWN = 22


class ChangeForm(Form):
    """A schedule that is there: its coin stays."""

    names: tuple[str, ...] = (
        "frequency",
        "destination",
        "minimum",
        "minimum_fiat_currency",
        "next_day",
    )
    inputs: ClassVar = {
        "crypto_payout_detail_id": "destination",
        "fiat_payout_detail_id": "destination",
        "destination_address": "destination",
        "minimum_fiat_cents": "minimum",
        "next_payout_at": "next_day",
    }

    def refuse(self, refusal: Exception) -> Self:
        """The API calls the day by the name of its field."""
        if isinstance(refusal, schedules.NextPayoutPast):
            refusal = Failure(gettext("the day must be in the future"), field=refusal.field)
        elif isinstance(refusal, schedules.NextPayoutTooLate):
            refusal = Failure(
                gettext("the day must be within {years} years").format(years=schedules.YEARS_MAX),
                field=refusal.field,
            )
        return super().refuse(refusal)

    def request(self) -> ScheduleRequest:
        """The typed changes: empty inputs aren't sent. Raises Invalid."""
        return ScheduleRequest.read(self._fields())

    @property
    def minimum_cents(self) -> int:
        """Raises Invalid."""
        return cents_typed(self.values["minimum"], "minimum", self.values["minimum_fiat_currency"])

    def _fields(self) -> dict[str, object]:
        typed = self.values
        values: dict[str, object] = {
            name: typed[name] for name in ("frequency", "minimum_fiat_currency") if typed[name]
        }
        if typed["minimum"]:
            values["minimum_fiat_cents"] = self.minimum_cents
        kind, _, detail_id = typed["destination"].partition(":")
        if kind in _DETAIL:
            values[_DETAIL[kind]] = detail_id
        if typed["next_day"]:
            if not typed["next_day"].isascii() or len(typed["next_day"]) > 10:
                raise Invalid("next_day", "choose_day")
            values["next_payout_at"] = f"{typed['next_day']}T09:00:00Z"
        return values

    @classmethod
    def of(cls, schedule: Schedule) -> "ChangeForm":
        minimum = schedule.minimum_fiat_cents
        saved = schedule.destination
        return cls(
            {
                "frequency": schedule.frequency,
                "minimum": "" if minimum is None else money.text_from_cents(minimum),
                "minimum_fiat_currency": schedule.minimum_fiat_currency,
                "destination": "" if saved is None else f"{saved.kind}:{saved.pk}",
            }
        )


class ScheduleForm(ChangeForm):
    """A new schedule."""

    names = (
        "asset_id",
        "frequency",
        "destination",
        "minimum",
        "minimum_fiat_currency",
        "swap_target_asset_id",
        "next_day",
    )

    def _fields(self) -> dict[str, object]:
        coins = {name: self.values[name] or None for name in ("asset_id", "swap_target_asset_id")}
        return {**super()._fields(), **coins}


def _kept(request: PageRequest) -> "QuerySet[Schedule]":
    return selectors.schedules_visible_to(request.access).filter(deleted_at=None)


def index(request: PageRequest) -> HttpResponse:
    rows = [
        {
            "schedule": schedule,
            "to": _to_shown(schedule),
            "last": _last(schedule),
            "usable_from": _usable_from(request, schedule),
        }
        for schedule in _kept(request)
    ]
    return show(request, "dashboard/payout_schedules/list.html", {"rows": rows})


def export(request: PageRequest) -> Answer:
    return schedules_file(_to, _last).of_each(request, _kept(request))


def _usable_from(request: PageRequest, schedule: Schedule) -> datetime | None:
    """None: now."""
    until = schedule.usable_from
    return until if until is not None and until > request.access.now() else None


def _to(schedule: Schedule) -> str:
    if schedule.destination is None:
        return shown_address(str(schedule.destination_address))
    return _named(schedule.destination)


def _to_shown(schedule: Schedule) -> SafeString:
    """Destination for a page: a name has a line of its own."""
    if schedule.destination is None:
        return format_html('<bdi class="mono">{}</bdi>', _to(schedule))
    return list_cells.named_destination(schedule.destination)


def _named(destination: Destination) -> str:
    """Destination with its owner's name for it, if any, before it."""
    label = f"{destination.label}: " if destination.label else ""
    return f"{label}{list_cells.title(destination)}"


def _choices(destinations: Iterable[Destination], at: datetime) -> list[dict[str, str]]:
    """In words that fit a phone, the name first. Two that would read alike are shown whole. One
    that waits can be chosen: a schedule waits as long itself."""
    rows = list(destinations)
    counts = Counter(_briefly(row).lower() for row in rows)
    return [
        {
            "value": f"{row.kind}:{row.pk}",
            "title": _briefly(row) if counts[_briefly(row).lower()] == 1 else _named(row),
            "whole": _named(row),
            "available": list_cells.usable_from(row, at),
        }
        for row in rows
    ]


def _briefly(destination: Destination) -> str:
    """A wallet by the ends of its address; its page and the option's title have the whole."""
    length = NAME_SHOWN if destination.is_wallet else BANK_NAME_SHOWN
    name = Truncator(destination.label).chars(length)
    label = f"{name}: " if name else ""
    if not destination.is_wallet:
        account = gettext("{currency} account …{ending}").format(
            currency=destination.currency, ending=destination.account_hint
        )
        return f"{label}{account}"
    network = network_name(destination)
    return f"{label}{list_cells.ends_of(destination.address)} ({network})"


def _last(schedule: Schedule) -> str:
    return gettext(schedule.last_failure or _SKIPS.get(schedule.last_skip_reason or "", ""))


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, _begun(request))
    form = ScheduleForm.from_post(request.POST)

    def make() -> Schedule:
        return schedules.create_schedule(request.access, form.request())

    try:
        confirmation = confirming.ask_about_form(request, _form_lines(request, form), make)
        if confirmation is not None:
            return confirmation
        schedule = make()
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    messages.success(request, gettext("Schedule created."))
    return go("payout_schedule", schedule.pk)


def _begun(request: PageRequest) -> ScheduleForm:
    """With the first coin that a destination accepts."""
    values = {"frequency": "weekly", "minimum_fiat_currency": "EUR"}
    saved = _payable(request)
    pair = next(
        (
            (asset, destination)
            for asset in active_assets(request.access.mode)
            for destination in saved
            if accepts(destination, asset)
        ),
        None,
    )
    if pair is not None:
        asset, destination = pair
        values["destination"] = f"{destination.kind}:{destination.pk}"
        values["asset_id"] = asset.pk
    return ScheduleForm(values)


def _payable(request: PageRequest) -> list[Destination]:
    """Destinations that a schedule may pay to, those in their waiting period last."""
    at = request.access.now()
    saved = selectors.destinations_visible_to(request.access)
    payable = [row for row in saved if row.is_wallet or row.verified_at]
    return sorted(payable, key=lambda row: bool(list_cells.usable_from(row, at)))


def show_one(request: PageRequest, id: str) -> HttpResponse:
    schedule: Schedule = find(_kept(request), id)
    payouts = selectors.payouts_visible_to(request.access).filter(schedule=schedule)[:SHOWN]
    usable_from = _usable_from(request, schedule)
    context = {
        "schedule": schedule,
        "to": _to_shown(schedule),
        "last": _last(schedule),
        "payouts": list(payouts),
        "usable_from": usable_from,
    }
    return show(request, "dashboard/payout_schedules/detail.html", context)


def change(request: PageRequest, id: str) -> HttpResponse:
    schedule: Schedule = find(_kept(request), id)
    if request.method == "GET":
        return _form(request, ChangeForm.of(schedule), schedule)
    form = ChangeForm.from_post(request.POST)

    def keep() -> Schedule:
        return schedules.update_schedule(request.access, schedule, form.request())

    try:
        confirmation = confirming.ask_about_form(
            request, _form_lines(request, form, schedule), keep
        )
        if confirmation is not None:
            return confirmation
        keep()
    except Refusals as refusal:
        return _form(request, form.refuse(refusal), schedule)
    messages.success(request, gettext("Schedule updated."))
    return go("payout_schedule", schedule.pk)


def switch(request: PageRequest, id: str) -> HttpResponse:
    """On or off."""
    schedule: Schedule = find(_kept(request), id)
    is_on = request.POST.get("to") == "active"

    def switched() -> Schedule:
        return schedules.update_schedule(request.access, schedule, ScheduleRequest(active=is_on))

    try:
        if is_on:
            confirmation = confirming.ask_about_form(
                request,
                [(gettext("Coin"), _coin(schedule.asset)), (gettext("To"), _to(schedule))],
                switched,
                back=reverse("dashboard:payout_schedule", args=[schedule.pk]),
            )
            if confirmation is not None:
                return confirmation
        switched()
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(
            request,
            gettext("Schedule resumed.") if is_on else gettext("Schedule paused."),
        )
    return go("payout_schedule", schedule.pk)


def run(request: PageRequest, id: str) -> HttpResponse:
    """Pay out now what is there."""
    schedule: Schedule = find(_kept(request), id)
    if request.method == "GET":
        return _run_page(request, schedule)
    try:
        operations.foresee(request.access, operations.SCHEDULE_RUN)
        confirmation = confirming.ask(request, _run_act(request, schedule))
        if confirmation is not None:
            return _run_page(request, schedule, confirmation)
        stepup.spend(request.session)
        ran = runs.run_by_hand(request.access, schedule)
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
        return go("payout_schedule", schedule.pk)
    if ran.skip_reason is not None:
        messages.error(request, gettext(_SKIPS[ran.skip_reason]))
    else:
        messages.success(
            request,
            gettext("Payout created.")
            if ran.payout is not None
            else gettext("Swap created. The payout follows once it completes."),
        )
    return go("payout_schedule", schedule.pk)


def _run_page(
    request: PageRequest, schedule: Schedule, code: ConfirmationForm | None = None
) -> HttpResponse:
    expected = run_rules.expected_run(request.access, schedule)
    context = {
        "schedule": schedule,
        "to": _to_shown(schedule),
        "expected": expected,
        "balance": _balance_shown(schedule.asset, expected),
    }
    act = _run_act(request, schedule)
    return confirming.show_asking(
        request, "dashboard/payout_schedules/run.html", context, act, code
    )


def _balance_shown(asset: Asset, expected: run_rules.ExpectedRun) -> SafeString:
    """Coins with their network, and their worth where there is a rate."""
    coins = format_html(
        gettext("<strong>{amount}</strong> on {network}"),
        amount=crypto(expected.amount_atomic, asset.atomic_decimals, asset.coin_symbol),
        network=asset.chain.name,
    )
    if expected.worth is None:
        return coins
    worth = fiat(expected.worth.cents, expected.worth.currency)
    return format_html('{} <span class="muted nowrap">(≈ {})</span>', coins, worth)


def _run_act(request: PageRequest, schedule: Schedule) -> str:
    """All that is available of an asset, to where the schedule pays now."""
    return confirming.page_act(
        request,
        schedule.asset_id,
        schedule.swap_target_asset_id,
        schedule.destination_id,
        schedule.destination_address,
    )


def delete(request: PageRequest, id: str) -> HttpResponse:
    schedule: Schedule = find(_kept(request), id)
    if request.method == "GET":
        return show(
            request,
            "dashboard/payout_schedules/delete.html",
            {"schedule": schedule, "to": _to_shown(schedule)},
        )
    schedules.delete_schedule(request.access, schedule)
    messages.success(request, gettext("Schedule deleted."))
    return go("payout_schedules")


def _coin(asset: Asset) -> str:
    return gettext("{coin} on {network}").format(coin=asset.coin_symbol, network=asset.chain.name)


def _form_lines(
    request: PageRequest, form: ChangeForm, schedule: Schedule | None = None
) -> list[tuple[str, object]]:
    """The form as people read it."""
    values = form.values
    names = {
        f"{destination.kind}:{destination.pk}": _named(destination)
        for destination in selectors.destinations_visible_to(request.access)
    }
    to = names.get(values["destination"], "")
    frequencies = dict(_frequencies())
    coins = {asset.pk: _coin(asset) for asset in active_assets(request.access.mode)}
    source_coin = coins.get(values["asset_id"], "") if schedule is None else _coin(schedule.asset)
    return [
        (gettext("Coin"), source_coin),
        (gettext("Frequency"), frequencies.get(values["frequency"], values["frequency"])),
        (gettext("To"), to if schedule is None or to else _to(schedule)),
        (
            gettext("Only when worth"),
            fiat(form.minimum_cents, values["minimum_fiat_currency"]) if values["minimum"] else "",
        ),
        (gettext("Swap first into"), coins.get(values.get("swap_target_asset_id", ""), "")),
        (gettext("Next run on"), values["next_day"]),
    ]


def _frequencies() -> list[tuple[str, str]]:
    return [(value, gettext(str(label))) for value, label in Schedule.Frequency.choices]


def _form(request: PageRequest, form: Form, schedule: Schedule | None = None) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "schedule": schedule,
        "assets": active_assets(request.access.mode),
        "frequencies": _frequencies(),
        "currencies": [(code, gettext(str(Currency(code).label))) for code in MINIMUM_CURRENCIES],
        "saved": _choices(_payable(request), request.access.now()),
        "is_bank_in_review": selectors.destinations_visible_to(request.access)
        .filter(kind=Destination.Kind.BANK, verified_at=None, rejected_at=None)
        .exists(),
        "waiting_hours": waiting_period.hours_ahead(
            request.access,
            operations.SCHEDULE_CREATE if schedule is None else operations.SCHEDULE_CHANGE,
            request.access.mode,
        ),
    }
    return show(request, "dashboard/payout_schedules/edit.html", context, status=form.status)
