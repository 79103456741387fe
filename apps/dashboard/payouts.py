"""Payouts: the list, and one with its history and what can be done when it has failed."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from apps.chain.addresses import checksummed
from apps.core import money
from apps.dashboard import confirming
from apps.dashboard.coins import spendable
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show
from apps.payouts import selectors, states
from apps.payouts.documents import GAS_DECIMALS, told_transitions
from apps.payouts.models import Payout
from apps.payouts.services.destinations import title
from apps.payouts.services.retry import give_up_payout, retry_payout

_TABS = {
    "": "All",
    "pending": "Pending",
    "submitted": "Sent",
    "confirmed": "Confirmed",
    "failed": "Failed",
    "requires_review": "Under review",
}


def index(request: PageRequest) -> HttpResponse:
    status = request.GET.get("status", "")
    status = status if status in _TABS else ""
    rows = selectors.filtered(selectors.payouts_seen_by(request.access), status=status, rail=None, schedule_id=None, asset_id=None)
    page = window(rows, request.GET, {"status": status})
    context = {
        "payouts": page.rows,
        "window": page,
        "tabs": [{"name": name, "query": f"?status={one}" if one else "", "is_current": one == status} for one, name in _TABS.items()],
        "is_empty": not page.rows and not status and page.newer is None,
        "can_send": bool(spendable(request.access)),
    }
    return show(request, "dashboard/payouts/list.html", context)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    payout: Payout = find(selectors.payouts_seen_by(request.access), id)
    fee = payout.network_fee_atomic
    is_failed = payout.status == Payout.Status.FAILED and payout.funds == Payout.Funds.RESERVED
    context = {
        "payout": payout,
        "to": _to(payout),
        "steps": told_transitions(payout),
        "network_fee": None if fee is None else money.decimal_from_atomic(fee, GAS_DECIMALS),
        "is_open": payout.status not in (Payout.Status.CONFIRMED, Payout.Status.FAILED) or payout.retry_at is not None,
        "waits_for_approval": payout.review_reason == states.NEEDS_APPROVER,
        "can_retry": is_failed,
        "can_give_up": is_failed and not payout.is_outcome_unknown,
        "rate": None if payout.paid_fx_rate is None else money.fraction_text(payout.paid_fx_rate),
        "waits": _WAITS.get(payout.pending_reason) if payout.status in states.WAITING else None,
        "failed_gas": money.decimal_from_atomic(payout.failed_gas_atomic, GAS_DECIMALS) if payout.failed_gas_atomic else None,
    }
    return show(request, "dashboard/payouts/detail.html", context)


# By the code of `pending_reason`.
_WAITS = {
    "waiting_for_funds": "The wallet that pays out is being filled. It leaves by itself then.",
    "waiting_for_sweep": "The coins are on their way to the wallet that pays out. It leaves by itself when they are there.",
    "network_congested": "The network asks unusually much for a transfer. It leaves by itself when that is over.",
}


def _to(payout: Payout) -> str:
    if payout.destination is not None and not payout.destination.is_wallet:
        return title(payout.destination)
    return checksummed(payout.destination_address or "")


def _amount(payout: Payout) -> str:
    return money.decimal_from_atomic(payout.amount_atomic, payout.asset.atomic_decimals)


def retry(request: PageRequest, id: str) -> HttpResponse:
    return _about_failed(request, id, retry_payout, "It is tried again. This page shows how far it is.")


def give_up(request: PageRequest, id: str) -> HttpResponse:
    return _about_failed(request, id, give_up_payout, "The coins are back in your balance.")


def _about_failed(request: PageRequest, id: str, act: Any, done: str) -> HttpResponse:
    payout: Payout = find(selectors.payouts_seen_by(request.access), id)
    rows = [("Amount", f"{_amount(payout)} {payout.asset.coin_symbol}"), ("To", _to(payout))]
    try:
        if act is retry_payout:
            asked = confirming.ask_about_form(request, rows, lambda: act(payout, by=request.access))
            if asked is not None:
                return asked
        act(payout, by=request.access)
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(request, done)
    return go("payout", payout.pk)
