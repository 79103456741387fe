"""Swaps: what the store has turned into other coins, a swap with its figures first, and the automatic ones of payments.

The page that was agreed to is swapped or nothing: its least comes back with the form and is compared with a new estimate.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse

from apps.access import operations, stepup
from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.core import clock, money
from apps.core.literal import Invalid
from apps.core.web import status_of
from apps.dashboard import confirming, form_keys
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show
from apps.ledger.selectors import balances
from apps.stores import roles
from apps.swaps import selectors
from apps.swaps.models import AutoSwap, Swap
from apps.swaps.services.auto import set_auto_swap, targets
from apps.swaps.services.create import RateMoved, check_swap, order_swap
from apps.swaps.services.quote import NotAnAmount, Quote, quote_swap

PER_PAGE = 25
_TABS = {"": "All", "pending": "Pending", "submitted": "Under way", "completed": "Completed", "failed": "Failed"}
_FIELDS = ("source_asset_id", "buy_asset_id", "amount", "form_key", "agreed")


@dataclass(frozen=True)
class Sellable:
    """An asset of which the store can spend something."""

    asset: Asset
    available_atomic: int


def index(request: PageRequest) -> HttpResponse:
    status, number = request.GET.get("status", ""), request.GET.get("page", "1")
    page = int(number) if number.isascii() and number.isdigit() and 0 < len(number) < 6 else 1
    page = max(1, page)
    every = selectors.swaps_seen_by(request.access)
    found = list(selectors.filtered(every, status)[(page - 1) * PER_PAGE : page * PER_PAGE + 1])
    context = {
        "swaps": found[:PER_PAGE],
        "tabs": [{"name": name, "query": _query(one), "is_current": one == status} for one, name in _TABS.items()],
        "older_query": _query(status, page + 1) if len(found) > PER_PAGE else "",
        "newer_query": _query(status, page - 1) if page > 1 else "",
        "is_empty": not found and page == 1 and not status,
        **_offer(request),
        "auto_swap": selectors.auto_swap_of(request.access),
    }
    return show(request, "dashboard/swaps/list.html", context)


def _query(status: str, page: int = 1) -> str:
    return urlencode({name: value for name, value in (("status", status), ("page", page)) if value and value != 1})


def show_one(request: PageRequest, id: str) -> HttpResponse:
    swap: Swap = find(selectors.swaps_seen_by(request.access), id)
    return show(request, "dashboard/swaps/detail.html", {"swap": swap, "steps": list(swap.steps.all())})


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, {**form_keys.new(), "source_asset_id": request.GET.get("from", "")}, [])
    given = {name: request.POST.get(name, "").strip() for name in _FIELDS}
    try:
        order, key = _read(given)
        if not given["agreed"]:
            return _review(request, given, order, [])
        operations.foresee(request.access, operations.SWAP)
        least = int(given["agreed"]) if given["agreed"].isascii() and given["agreed"].isdigit() else 0
        wanted = _ask(request, given, order, least)
        if wanted is not None:
            return _review(request, given, order, wanted.errors, wanted.status)
        swap, _ = order_swap(request.access, **order, key=key, least_atomic=least)
    except RateMoved as refusal:
        return _review(request, given, order, sentences(refusal), status_of(refusal))
    except Refusals as refusal:
        return _form(request, given, sentences(refusal), status_of(refusal))
    messages.success(request, "The swap is on its way. This page shows how far it is.")
    return go("swap", swap.pk)


def _ask(request: PageRequest, given: dict[str, str], order: dict[str, Any], least_atomic: int) -> confirming.Asked | None:
    """A code for the figures that were looked at. What would be refused is, before it is taken."""
    act = _act(request, given, order, least_atomic)
    if not confirming.is_open(request, act):
        check_swap(request.access, **order, least_atomic=least_atomic)
    return confirming.ask(request, act)


def _act(request: PageRequest, given: dict[str, str], order: dict[str, Any], least_atomic: int) -> str:
    return confirming.act_of(request, sorted(order.items()), least_atomic, given["form_key"])


def _read(given: dict[str, str]) -> tuple[dict[str, Any], str]:
    """The form as the service takes it: the amount in coins becomes atomic units."""
    form_keys.of(given)
    source = Asset.objects.filter(pk=given["source_asset_id"]).first()
    if source is None or not given["buy_asset_id"]:
        raise Invalid("source_asset_id", "choose_swap")
    amount = money.atomic_from_coins(given["amount"], source.atomic_decimals)
    if amount is None:
        raise Invalid("amount", "coins", places=source.atomic_decimals)
    if not amount:
        raise NotAnAmount("Amount must be greater than zero")
    order = {"source_asset_id": source.pk, "buy_asset_id": given["buy_asset_id"], "sell_amount_atomic": str(amount)}
    return order, f"dashboard-{given['form_key']}"


def _review(request: PageRequest, given: dict[str, str], order: dict[str, Any], errors: list[str], status: int = 200) -> HttpResponse:
    """What would be sold, what it is expected to bring, and the least that is taken for it."""
    quote: Quote = quote_swap(request.access, **order)
    context = {
        "given": given,
        "quote": quote,
        "errors": errors,
        "slippage": money.percentage_from_bps(quote.slippage_bps),
        **confirming.fields(request, _act(request, given, order, quote.min_received_atomic)),
    }
    return show(request, "dashboard/swaps/review.html", context, status=status)


def _form(request: PageRequest, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    context = {
        "given": given,
        "errors": errors,
        **_offer(request),
        "needs_second_factor": not errors and stepup.lacks_second_factor(request.person),
    }
    return show(request, "dashboard/swaps/create.html", context, status=status)


def _offer(request: PageRequest) -> dict[str, Any]:
    """What can be sold for what. A mode with one coin alone has nothing to swap it into."""
    assets, held = active_assets(request.access.mode), balances(request.access.store_id, request.access.mode)
    found = [(one, held[one.pk].available_atomic) for one in assets if one.pk in held]
    sellable = [Sellable(asset, amount) for asset, amount in found if amount > 0]
    is_lone = len(assets) < 2
    bought = [one for one in assets if len(sellable) != 1 or one != sellable[0].asset]
    return {"sellable": sellable, "assets": bought, "is_lone": is_lone, "can_swap": bool(sellable) and not is_lone}


def _usable_from(setting: AutoSwap | None) -> datetime | None:
    """When swapping begins, where that is still to come."""
    is_to_come = setting is not None and setting.target_asset_id is not None and setting.is_live and setting.since > clock.real_now()
    return setting.since if setting is not None and is_to_come else None


def automatic(request: PageRequest) -> HttpResponse:
    """Into which stablecoin incoming payments are swapped, if into any."""
    errors: list[str] = []
    status = 200
    if request.method == "POST":
        target = request.POST.get("target_asset_id") or None
        try:
            told = [("Swap incoming payments into", target)]
            asked = confirming.ask_about_form(request, told, lambda: set_auto_swap(request.access, target)) if target else None
            if asked is not None:
                return asked
            set_auto_swap(request.access, target)
            messages.success(request, "Saved. Payments that complete from now on follow this.")
            return go("settings_auto_swap")
        except Refusals as refusal:
            errors, status = sentences(refusal), status_of(refusal)
    setting = selectors.auto_swap_of(request.access)
    context = {
        "targets": targets(request.access.mode),
        "chosen": setting.target_asset_id if setting is not None else None,
        "usable_from": _usable_from(setting),
        "errors": errors,
        "may_change": roles.may(request.member.role, roles.MANAGE),
    }
    return show(request, "dashboard/settings/auto_swap.html", context, status=status)
