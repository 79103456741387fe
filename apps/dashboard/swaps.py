"""Swaps: what the store has turned into other coins, a swap with its figures first, and the
automatic ones of payments.

The page that was agreed to is swapped or nothing: its least comes back with the form and is
compared with a new estimate.
"""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop

from apps.access import operations
from apps.access.factors import stepup
from apps.access.waiting_period import hours_ahead
from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.core import clock, money
from apps.core.messages.fields import Invalid
from apps.core.templatetags.tillgate import moment
from apps.core.text.wording import translated
from apps.core.typed_amounts import unmistakable
from apps.core.web.forms import Form
from apps.dashboard.site import confirming, form_keys
from apps.dashboard.site.coins import Spendable, atomic_typed, spendable
from apps.dashboard.site.confirming import ConfirmationForm
from apps.dashboard.site.reviews import Fact, Review, ReviewTransfer, coins, review_page
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, show
from apps.dashboard.tables.filters import Filters
from apps.dashboard.tables.money_columns import SWAPS
from apps.dashboard.tables.money_lists import Worth, list_page, summed, worths_of
from apps.stores import roles
from apps.swaps import selectors
from apps.swaps.models import AutoSwap, Swap
from apps.swaps.requests import SwapRequest
from apps.swaps.services.auto import set_auto_swap, targets
from apps.swaps.services.create import RateMoved, check_swap, order_swap
from apps.swaps.services.quote import SwapEstimate, quote_swap

_TABS = {
    "": gettext_noop("All"),
    "pending": gettext_noop("Waiting"),
    "submitted": gettext_noop("In progress"),
    "completed": gettext_noop("Completed"),
    "failed": gettext_noop("Failed"),
}


class SwapForm(Form):
    """A part of one coin, in coins, for another one."""

    names = ("source_asset_id", "amount", "buy_asset_id")
    hidden = ("form_key", "agreed")
    inputs = {"sell_amount_atomic": "amount"}

    def request(self) -> SwapRequest:
        """The typed request. Raises Invalid."""
        form_keys.of(self.values)
        source = Asset.objects.filter(pk=self.values["source_asset_id"]).first()
        if source is None or not self.values["buy_asset_id"]:
            raise Invalid("buy_asset_id" if source else "source_asset_id", "choose_swap")
        return SwapRequest(
            source.pk, self.values["buy_asset_id"], atomic_typed(self.values["amount"], source)
        )

    @property
    def key(self) -> str:
        return f"dashboard-{self.values['form_key']}"

    @property
    def least_atomic(self) -> int:
        """Minimum on the agreed page."""
        agreed = self.values["agreed"]
        return int(agreed) if agreed.isascii() and agreed.isdigit() else 0


class AutoSwapForm(Form):
    names = ("target_asset_id",)


@dataclass(frozen=True)
class Offer:
    """Assets that can be sold, and bought for them. A mode with one coin alone has nothing to swap
    it into."""

    sellable: list[Spendable]
    assets: list[Asset]
    is_lone: bool

    @property
    def can_swap(self) -> bool:
        return bool(self.sellable) and not self.is_lone


def index(request: PageRequest) -> HttpResponse:
    filters = Filters.of(request.GET, _TABS)
    context = {
        "offer": _offer(request),
        "auto_swap": selectors.auto_swap_of(request.access),
        "total_words": gettext("Total sold"),
    }
    return list_page(request, SWAPS, filters, _rows(request, filters), _TABS, _add_up, context)


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    return SWAPS.csv(request, _rows(request, Filters.of(request.GET, _TABS)))


def _rows(request: PageRequest, filters: Filters) -> "QuerySet[Swap]":
    every = selectors.of_asset(
        selectors.search(selectors.swaps_visible_to(request.access), filters.q), filters.coin
    )
    return filters.within(selectors.filtered(every, filters.status))


def _add_up(request: PageRequest, rows: "QuerySet[Swap]") -> list[Worth]:
    """Sums of sold amounts; failed swaps count for nothing."""
    sales = summed(rows).values_list(
        "source_asset_id", "sell_amount_atomic", "created_at", "status"
    )
    amounts = [
        (asset_id, int(amount), at)
        for asset_id, amount, at, status in sales
        if status != Swap.Status.FAILED
    ]
    return worths_of(amounts, request.access.store.settlement_currency)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    swap: Swap = find(selectors.swaps_visible_to(request.access), id)
    sale = (swap.source_asset_id, swap.sell_amount_atomic, swap.created_at)
    context = {
        "swap": swap,
        "worth": worths_of([sale], request.access.store.settlement_currency)[0].fiat,
        "steps": list(swap.steps.all())[::-1],
    }
    return show(request, "dashboard/swaps/detail.html", context)


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, _begun(request))
    form = SwapForm.from_post(request.POST)
    try:
        swap_request = form.request()
        if not form.values["agreed"]:
            return _review(request, form, swap_request)
        operations.foresee(request.access, operations.SWAP)
        code = _ask(request, form, swap_request)
        if code is not None:
            return _review(request, form, swap_request, code)
        swap, _ = order_swap(
            request.access, swap_request, key=form.key, least_atomic=form.least_atomic
        )
    except RateMoved as refusal:
        return _review(
            request, form, swap_request, ConfirmationForm.from_post(request.POST).refuse(refusal)
        )
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    messages.success(request, gettext("Swap created. This page shows its progress."))
    return go("swap", swap.pk)


def _begun(request: PageRequest) -> SwapForm:
    """Form with the choices of a link or the page itself; with `maximum`, with all available
    coins."""
    form = SwapForm(
        {
            **form_keys.new(),
            "source_asset_id": request.GET.get("source_asset_id") or request.GET.get("from", ""),
            "buy_asset_id": request.GET.get("buy_asset_id", ""),
        }
    )
    if "maximum" in request.GET:
        held = {item.asset.pk: item for item in spendable(request.access)}
        sold = held.get(form.values["source_asset_id"]) or next(iter(held.values()), None)
        if sold is not None:
            places = sold.asset.atomic_decimals
            maximum = money.decimal_from_atomic(sold.available_atomic, places)
            form.values["amount"] = unmistakable(maximum)
    return form


def _ask(
    request: PageRequest, form: SwapForm, swap_request: SwapRequest
) -> ConfirmationForm | None:
    """A code for the figures that were looked at. What would be refused is, before it is taken."""
    act = _act(request, form, swap_request, form.least_atomic)
    if not confirming.is_open(request, act):
        check_swap(request.access, swap_request, least_atomic=form.least_atomic)
    return confirming.ask(request, act)


def _act(request: PageRequest, form: SwapForm, swap_request: SwapRequest, least_atomic: int) -> str:
    terms = (swap_request.source_asset_id, swap_request.buy_asset_id, swap_request.sell_atomic)
    return confirming.page_act(request, terms, least_atomic, form.values["form_key"])


def _review(
    request: PageRequest,
    form: SwapForm,
    swap_request: SwapRequest,
    code: ConfirmationForm | None = None,
) -> HttpResponse:
    """Review page: the sold amount, the expected amount, and the minimum."""
    quote: SwapEstimate = quote_swap(request.access, swap_request)
    slippage = money.percentage_from_bps(quote.slippage_bps)
    review = Review(
        title=gettext("Confirm swap"),
        button=gettext("Swap"),
        crumbs=[(gettext("Swaps"), reverse("dashboard:swaps")), (gettext("Swap"), "")],
        back=reverse("dashboard:swaps"),
        agreed=str(quote.least.atomic),
        transfers=[
            ReviewTransfer(
                facts=[
                    Fact(gettext("You sell"), coins(quote.sold.atomic, quote.sold.asset)),
                    Fact(gettext("On"), quote.sold.asset.chain.name),
                    Fact(
                        gettext("You get, about"),
                        coins(quote.estimated.atomic, quote.estimated.asset),
                    ),
                    Fact(gettext("Minimum"), coins(quote.least.atomic, quote.least.asset)),
                ]
            )
        ],
        permanent=gettext("A swap can’t be undone."),
        noun="swap",
        notes=[
            gettext(
                "Swaps are made at the current market rate. If a swap would bring less than the"
                " minimum (the estimate less {slippage} %), nothing is sold."
            ).format(slippage=slippage)
        ],
    )
    return review_page(
        request, review, form.values, _act(request, form, swap_request, quote.least.atomic), code
    )


def _form(request: PageRequest, form: SwapForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "offer": _offer(request),
        "needs_second_factor": not form.errors and stepup.lacks_second_factor(request.person),
    }
    return show(request, "dashboard/swaps/create.html", context, status=form.status)


def _offer(request: PageRequest) -> Offer:
    assets = active_assets(request.access.mode)
    sellable = spendable(request.access)
    bought = [asset for asset in assets if len(sellable) != 1 or asset != sellable[0].asset]
    return Offer(sellable, bought, is_lone=len(assets) < 2)


def _usable_from(setting: AutoSwap | None) -> datetime | None:
    """Start of swapping, when it is still to come."""
    is_to_come = (
        setting is not None
        and setting.target_asset_id is not None
        and setting.is_live
        and setting.since > clock.real_now()
    )
    return setting.since if setting is not None and is_to_come else None


def automatic(request: PageRequest) -> HttpResponse:
    """Into which stablecoin incoming payments are swapped, if into any."""
    form = AutoSwapForm.from_post(request.POST)
    if request.method == "POST":
        target = form.values["target_asset_id"] or None
        try:
            coins = active_assets(request.access.mode)
            names = {asset.pk: translated(asset.full_name) for asset in coins}
            rows = [(gettext("Swap incoming payments into"), names.get(target or "", target))]
            confirmation = (
                confirming.ask_about_form(
                    request, rows, lambda: set_auto_swap(request.access, target)
                )
                if target
                else None
            )
            if confirmation is not None:
                return confirmation
            since = _usable_from(set_auto_swap(request.access, target))
            messages.success(
                request,
                gettext("Saved. Applies to payments that complete from now on.")
                if since is None
                else format_html(gettext("Saved. Starts {time}."), time=moment(since)),
            )
            return go("settings_auto_swap")
        except Refusals as refusal:
            form.refuse(refusal)
    setting = selectors.auto_swap_of(request.access)
    context = {
        "targets": targets(request.access.mode),
        "chosen": setting.target_asset_id if setting is not None else None,
        "usable_from": _usable_from(setting),
        "form": form,
        "errors": form.common_errors,
        "may_change": roles.may(request.member.role, roles.MANAGE),
        "waiting_hours": hours_ahead(request.access, operations.AUTO_SWAP, request.access.mode),
    }
    return show(request, "dashboard/settings/auto_swap.html", context, status=form.status)
