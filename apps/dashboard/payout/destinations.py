"""Saved wallets and bank accounts: the list, adding one, removing one. An account number is never
shown again."""

from typing import ClassVar

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.access import operations
from apps.access.waiting_period import hours_ahead
from apps.assets.models import Chain
from apps.chain.networks.families import shown_address
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, show
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.files import DESTINATIONS
from apps.payouts import selectors
from apps.payouts.models import Destination, PayoutSettings
from apps.payouts.services.destinations import (
    add_bank,
    add_wallet,
    network_named,
    networks_offered,
    remove_destination,
)
from apps.payouts.services.known_addresses import lookalike_of
from apps.stores.models import Currency


class WalletForm(Form):
    names = ("network", "address", "label")
    hidden = ("compared",)
    inputs: ClassVar = {"destination_address": "address"}


class BankForm(Form):
    """Of a refused form the account number has to be typed again: no page shows one."""

    names = ("currency", "holder", "account", "label")
    secrets = ("account",)


def index(request: PageRequest) -> HttpResponse:
    at = request.access.now()
    reviews_new = PayoutSettings.of(request.access.store).review_new_destinations
    rows = [
        {
            "row": destination,
            "title": list_cells.title(destination),
            "shown": list_cells.destination(destination),
            "is_reviewed": reviews_new and destination.cools_until > at,
            "usable_from": destination.usable_from
            if destination.usable_from is not None and destination.usable_from > at
            else None,
        }
        for destination in selectors.destinations_visible_to(request.access)
    ]
    return show(request, "dashboard/payout_destinations/list.html", {"rows": rows})


def export(request: PageRequest) -> Answer:
    return DESTINATIONS.of_each(request, selectors.destinations_visible_to(request.access))


def add_a_wallet(request: PageRequest) -> HttpResponse:
    form = WalletForm.from_post(request.POST)
    if request.method == "GET":
        return _wallet_form(request, form)
    values = form.values
    lookalike = lookalike_of(request.access, values["address"])
    if lookalike and not values["compared"]:
        return _wallet_form(request, form, shown_address(lookalike))

    def add() -> Destination:
        return add_wallet(
            request.access.store,
            request.access.mode,
            network_named(values["network"]),
            values["address"],
            values["label"],
            by=request.access,
        )

    try:
        rows = [
            (gettext("Network"), dict(_networks(request)).get(values["network"], "")),
            (gettext("Address"), values["address"]),
            (gettext("Name"), values["label"]),
        ]
        confirmation = confirming.ask_about_form(request, rows, add)
        if confirmation is not None:
            return confirmation
        destination = add()
    except Refusals as refusal:
        return _wallet_form(request, form.refuse(refusal))
    messages.success(request, gettext("Added {title}.").format(title=list_cells.title(destination)))
    return go("payout_destinations")


def _wallet_form(request: PageRequest, form: Form, lookalike: str = "") -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "networks": _networks(request),
        "lookalike": lookalike,
        "waiting_hours": _waiting_hours(request),
    }
    return show(request, "dashboard/payout_destinations/wallet.html", context, status=form.status)


def _networks(request: PageRequest) -> list[tuple[str, str]]:
    """Named as everywhere else on the dashboard."""
    names = dict(Chain.objects.values_list("pk", "name"))
    return [
        (network.value, names.get(network.value, network.full_name))
        for network in networks_offered()
        if network.is_test != request.access.is_live
    ]


def add_a_bank(request: PageRequest) -> HttpResponse:
    form = BankForm.from_post(request.POST)
    if request.method == "GET":
        return _bank_form(request, form)
    values = form.values
    account = form.secret_values["account"].strip()

    def add() -> Destination:
        return add_bank(
            request.access.store,
            request.access.mode,
            currency=values["currency"],
            holder=values["holder"],
            account=account,
            label=values["label"],
            by=request.access,
        )

    try:
        rows = [
            (gettext("Currency"), values["currency"]),
            (gettext("Holder"), values["holder"]),
            (gettext("Account"), account),
            (gettext("Name"), values["label"]),
        ]
        confirmation = confirming.ask_about_form(request, rows, add)
        if confirmation is not None:
            return confirmation
        add()
    except Refusals as refusal:
        return _bank_form(request, form.refuse(refusal))
    messages.success(
        request, gettext("Bank account added. You can pay out to it once we’ve verified it.")
    )
    return go("payout_destinations")


def _bank_form(request: PageRequest, form: Form) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "currencies": [(code, gettext(str(name))) for code, name in Currency.choices],
        "waiting_hours": _waiting_hours(request),
    }
    return show(request, "dashboard/payout_destinations/bank.html", context, status=form.status)


def _waiting_hours(request: PageRequest) -> int:
    return hours_ahead(request.access, operations.DESTINATION_ADD, request.access.mode)


def remove(request: PageRequest, id: str) -> HttpResponse:
    row: Destination = find(selectors.destinations_visible_to(request.access), id)
    if request.method == "GET":
        return show(
            request,
            "dashboard/payout_destinations/remove.html",
            {"row": row, "title": list_cells.title(row)},
        )
    remove_destination(row, request.access.now(), by=request.access)
    messages.success(request, gettext("Destination removed. Payouts in progress continue."))
    return go("payout_destinations")
