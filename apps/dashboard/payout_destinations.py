"""Saved wallets and bank accounts: the list, adding one, removing one. An account number is never shown again."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from apps.chain.addresses import checksummed
from apps.core.web import status_of
from apps.dashboard import confirming
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show
from apps.payouts import selectors
from apps.payouts.models import Destination, Network
from apps.payouts.services.destinations import add_bank, add_wallet, lookalike_of, network_named, remove_destination, title
from apps.stores.models import Currency

_WALLET, _BANK = ("network", "address", "label", "compared"), ("currency", "holder", "account", "label")


def index(request: PageRequest) -> HttpResponse:
    at = request.access.now()
    rows = [
        {
            "row": one,
            "title": title(one),
            "is_cooling": one.cools_until > at,
            "usable_from": one.usable_from if one.usable_from is not None and one.usable_from > at else None,
        }
        for one in selectors.destinations_seen_by(request.access)
    ]
    return show(request, "dashboard/payout_destinations/list.html", {"rows": rows})


def add_a_wallet(request: PageRequest) -> HttpResponse:
    given = {name: request.POST.get(name, "").strip() for name in _WALLET}
    context: dict[str, Any] = {"given": given, "errors": [], "networks": _networks(request)}
    if request.method == "GET":
        return show(request, "dashboard/payout_destinations/wallet.html", context)
    lookalike = lookalike_of(request.access, given["address"])
    if lookalike and not given["compared"]:
        context["lookalike"] = checksummed(lookalike)
        return show(request, "dashboard/payout_destinations/wallet.html", context)

    def add() -> Destination:
        return add_wallet(
            request.access.store,
            request.access.mode,
            network_named(given["network"]),
            given["address"],
            given["label"],
            by=request.access,
        )

    try:
        rows = [("Network", given["network"]), ("Address", given["address"]), ("Name", given["label"])]
        asked = confirming.ask_about_form(request, rows, add)
        if asked is not None:
            return asked
        made = add()
    except Refusals as refusal:
        context["errors"] = sentences(refusal)
        return show(request, "dashboard/payout_destinations/wallet.html", context, status=status_of(refusal))
    messages.success(request, f"Saved: {title(made)}.")
    return go("payout_destinations")


def _networks(request: PageRequest) -> list[tuple[str, str]]:
    is_test = {Network.SEPOLIA}
    return [(one.value, str(one.label)) for one in Network if (one in is_test) != request.access.is_live]


def add_a_bank(request: PageRequest) -> HttpResponse:
    given = {name: request.POST.get(name, "").strip() for name in _BANK}
    context: dict[str, Any] = {"given": given, "errors": [], "currencies": Currency.choices}
    if request.method == "GET":
        return show(request, "dashboard/payout_destinations/bank.html", context)

    def add() -> Destination:
        return add_bank(
            request.access.store,
            request.access.mode,
            currency=given["currency"],
            holder=given["holder"],
            account=given["account"],
            label=given["label"],
            by=request.access,
        )

    try:
        rows = [("Currency", given["currency"]), ("Holder", given["holder"]), ("Account", given["account"]), ("Name", given["label"])]
        asked = confirming.ask_about_form(request, rows, add)
        if asked is not None:
            return asked
        add()
    except Refusals as refusal:
        given["account"] = ""
        context["errors"] = sentences(refusal)
        return show(request, "dashboard/payout_destinations/bank.html", context, status=status_of(refusal))
    messages.success(request, "Saved. It can be paid once we have verified that it is yours.")
    return go("payout_destinations")


def remove(request: PageRequest, id: str) -> HttpResponse:
    row: Destination = find(selectors.destinations_seen_by(request.access), id)
    if request.method == "GET":
        return show(request, "dashboard/payout_destinations/remove.html", {"row": row, "title": title(row)})
    remove_destination(row, request.access.now(), by=request.access)
    messages.success(request, "Removed. Payouts that are under way go on.")
    return go("payout_destinations")
