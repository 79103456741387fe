"""Payouts: the list, and one with its history and what can be done when it has failed."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.assets.selectors import fee_asset_of
from apps.chain.networks.families import shown_address
from apps.core import money
from apps.core.money import Fiat
from apps.dashboard.site import confirming
from apps.dashboard.site.coins import coins_of
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, sentences, show
from apps.dashboard.tables import money_lists
from apps.dashboard.tables.filters import Filters
from apps.dashboard.tables.money_columns import PAYOUTS
from apps.dashboard.tables.money_lists import Worth, list_page, worths_of
from apps.payouts import selectors, states
from apps.payouts.documents import PublicTransition, public_transitions
from apps.payouts.models import Payout
from apps.payouts.services.destinations import title
from apps.payouts.services.retry import give_up_payout, retry_payout

_TABS = {
    "": gettext_noop("All"),
    "pending": gettext_noop("Pending"),
    "submitted": gettext_noop("Sent"),
    "confirmed": gettext_noop("Confirmed"),
    "failed": gettext_noop("Failed"),
    "requires_review": gettext_noop("Under review"),
}


def index(request: PageRequest) -> HttpResponse:
    filters = Filters.of(request.GET, _TABS)
    # Payouts have rooms as tabs above them, so statuses look like what they are.
    coins = coins_of(request.access)
    context = {
        "can_send": bool(coins.spendable),
        "coins": coins.assets,
        "filters_look": "pills",
    }
    return list_page(request, PAYOUTS, filters, _rows(request, filters), _TABS, _add_up, context)


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    return PAYOUTS.csv(request, _rows(request, Filters.of(request.GET, _TABS)))


def _rows(request: PageRequest, filters: Filters) -> "QuerySet[Payout]":
    rows = selectors.search(selectors.payouts_visible_to(request.access), filters.q)
    selection = selectors.filtered(
        rows, status=filters.status, rail=None, schedule_id=None, asset_id=filters.coin
    )
    return filters.within(selection)


def _add_up(request: PageRequest, rows: "QuerySet[Payout]") -> list[Worth]:
    """Sums of the rows; those that failed for good came back, and count for nothing."""
    columns = rows.values_list("asset_id", "amount_atomic", "created_at", "funds")
    sales = [
        (asset_id, 0 if funds == Payout.Funds.RETURNED else int(amount), at)
        for asset_id, amount, at, funds in columns[: money_lists.SUMMED_MAX]
    ]
    return worths_of([sale for sale in sales if sale[1]], request.access.store.settlement_currency)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    payout: Payout = find(selectors.payouts_visible_to(request.access), id)
    is_failed = payout.status == Payout.Status.FAILED and payout.funds == Payout.Funds.RESERVED
    context = {
        "payout": payout,
        "to": _to(payout),
        "steps": _history(payout),
        "gas": payout.asset if payout.asset.pays_fees else fee_asset_of(payout.asset.chain_id),
        "is_open": (
            payout.status not in (Payout.Status.CONFIRMED, Payout.Status.FAILED)
            or payout.retry_at is not None
        ),
        "review_reason": states.REASON_WORDS.get(payout.review_reason, payout.review_reason),
        "waits_for_approval": payout.waits_for_approver,
        "worth": _worth(request, payout),
        "can_retry": is_failed,
        "can_give_up": is_failed and not payout.is_outcome_unknown,
        "rate": None if payout.paid_fx_rate is None else money.fraction_text(payout.paid_fx_rate),
        "waits": gettext(_WAITS.get(payout.pending_reason, ""))
        if payout.status in states.WAITING
        else "",
    }
    return show(request, "dashboard/payouts/detail.html", context)


def _history(payout: Payout) -> list[PublicTransition]:
    """Oldest first: what the API says of it, when it came under review, and when to a second person
    of the store."""
    return [
        replace(step, to="awaiting_approval", note="")
        if step.note == states.NEEDS_APPROVER
        else replace(step, note=gettext(states.REASON_WORDS.get(step.note, step.note)))
        for step in public_transitions(payout, states.TOLD_AT_HOME)
    ]


# By the code of `pending_reason`.
_WAITS = {
    "waiting_for_funds": (
        gettext_noop(
            "The wallet that pays out is being funded. The payout is sent automatically after that."
        )
    ),
    "waiting_for_sweep": (
        gettext_noop(
            "The coins are on their way to the wallet that pays out. The payout is sent"
            " automatically when they arrive."
        )
    ),
    "network_congested": (
        gettext_noop(
            "Network fees are unusually high. The payout is sent automatically when they drop."
        )
    ),
    "token_stopped": (
        gettext_noop(
            "The issuer of this token has stopped its transfers. The payout is sent automatically"
            " when they are possible again."
        )
    ),
}


def _worth(request: PageRequest, payout: Payout) -> Fiat | None:
    sale = (payout.asset_id, payout.amount_atomic, payout.created_at)
    currency = request.access.store.settlement_currency
    return worths_of([sale], currency, {payout.asset_id: payout.asset})[0].fiat


def _to(payout: Payout) -> str:
    if payout.destination is not None and not payout.destination.is_wallet:
        return title(payout.destination)
    return shown_address(payout.destination_address or "")


def _amount(payout: Payout) -> str:
    return money.decimal_from_atomic(payout.amount_atomic, payout.asset.atomic_decimals)


def retry(request: PageRequest, id: str) -> HttpResponse:
    return _about_failed(
        request, id, retry_payout, gettext("Retrying. This page shows its progress.")
    )


def give_up(request: PageRequest, id: str) -> HttpResponse:
    """The coins come back; who wants them elsewhere goes on to a new payout of the same amount."""
    if request.POST.get("then") != "elsewhere":
        return _about_failed(
            request, id, give_up_payout, gettext("Funds returned to your balance.")
        )
    payout: Payout = find(selectors.payouts_visible_to(request.access), id)
    answer = _about_failed(
        request,
        id,
        give_up_payout,
        gettext("Funds returned to your balance. Choose another destination."),
    )
    payout.refresh_from_db(fields=["funds"])
    if payout.funds != Payout.Funds.RETURNED:
        return answer
    filled_in = urlencode({"asset": payout.asset_id, "amount": _amount(payout), "destination": ""})
    return HttpResponseRedirect(f"{reverse('dashboard:payout_create')}?{filled_in}", status=303)


def _about_failed(request: PageRequest, id: str, act: Any, done: str) -> HttpResponse:
    payout: Payout = find(selectors.payouts_visible_to(request.access), id)
    rows = [
        (gettext("Amount"), f"{_amount(payout)} {payout.asset.coin_symbol}"),
        (gettext("To"), _to(payout)),
    ]
    try:
        if act is retry_payout:
            confirmation = confirming.ask_about_form(
                request,
                rows,
                lambda: act(payout, by=request.access),
                back=reverse("dashboard:payout", args=[payout.pk]),
            )
            if confirmation is not None:
                return confirmation
        act(payout, by=request.access)
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(request, done)
    return go("payout", payout.pk)
