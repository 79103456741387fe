"""Payouts: the list, one with its history, and sending: what and where to, then a page that says exactly what leaves.

What was agreed to is sent or nothing: a digest of amount and destination comes back with the form, and a code for just that.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from apps.access import stepup
from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.chain import costs
from apps.chain.addresses import checksummed
from apps.core import money
from apps.core.forms import Form
from apps.core.literal import Invalid
from apps.dashboard import confirming, form_keys
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show
from apps.ledger.selectors import balances
from apps.payouts import selectors, states
from apps.payouts.documents import GAS_DECIMALS, told_transitions
from apps.payouts.models import Payout
from apps.payouts.requests import Bank, PayoutRequest, RawAddress, Wallet
from apps.payouts.services.create import create_payout, foresee_payout, is_new_target
from apps.payouts.services.destinations import lookalike_of, title
from apps.payouts.services.orders import Order
from apps.payouts.services.quote import quote_payout
from apps.payouts.services.retry import give_up_payout, retry_payout
from apps.stores.models import PaysNetworkFee

_TABS = {
    "": "All",
    "pending": "Pending",
    "submitted": "Sent",
    "confirmed": "Confirmed",
    "failed": "Failed",
    "requires_review": "Under review",
}


class AgreedToAnother(Invalid):
    """The form that came back isn't the page that was shown."""


class PayoutForm(Form):
    """A part of the balance in coins, to a saved destination (`wallet:<id>`) or another address."""

    names = ("asset_id", "amount", "destination", "destination_address")
    hidden = ("form_key", "agreed", "compared")
    inputs = {"amount_atomic": "amount"}

    def request(self) -> PayoutRequest:
        """What is asked for. Raises Invalid."""
        form_keys.of(self.values)
        asset = Asset.objects.filter(pk=self.values["asset_id"]).first()
        if asset is None:
            raise Invalid("asset_id", "choose_payout")
        amount = money.atomic_from_coins(self.values["amount"], asset.atomic_decimals)
        if amount is None:
            raise Invalid("amount", "coins", places=asset.atomic_decimals)
        if not amount:
            raise Invalid("amount", "positive")
        return PayoutRequest(asset.pk, amount, self._target())

    def _target(self) -> Wallet | Bank | RawAddress:
        kind, _, detail_id = self.values["destination"].partition(":")
        if kind in ("wallet", "bank"):
            return Wallet(detail_id) if kind == "wallet" else Bank(detail_id)
        if not self.values["destination_address"]:
            raise Invalid("destination_address", "one_destination")
        return RawAddress(self.values["destination_address"])

    def input_of(self, field: str) -> str:
        """What is wrong about a destination is said where it was named."""
        if field in ("destination", "destination_address"):
            return "destination" if self.values["destination"] else "destination_address"
        return super().input_of(field)


@dataclass(frozen=True)
class Spendable:
    """An asset of which the store can spend something."""

    asset: Asset
    available_atomic: int


def spendable(request: PageRequest) -> list[Spendable]:
    held = balances(request.access.store_id, request.access.mode)
    found = [(one, held[one.pk].available_atomic) for one in active_assets(request.access.mode) if one.pk in held]
    return [Spendable(asset, amount) for asset, amount in found if amount > 0]


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
        "can_send": bool(spendable(request)),
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


# --- sending --------------------------------------------------------------------------------------


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        opened = {**form_keys.new(), "asset_id": request.GET.get("asset", ""), "destination": request.GET.get("to", "")}
        return _form(request, PayoutForm(opened))
    form = PayoutForm(request.POST.dict())
    try:
        asked = form.request()
        order = foresee_payout(request.access, asked)
        review = _review(request, form, asked, order)
        if review is not None:
            return review
        payout, _ = create_payout(request.access, asked, f"dashboard-{form.values['form_key']}", caller=request.access.caller)
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    messages.success(request, _done(payout))
    return go("payout", payout.pk)


def _done(payout: Payout) -> str:
    if payout.review_reason == states.NEEDS_APPROVER:
        return "The payout is made, and waits for a second person. Owners and admins have an email about it."
    if payout.status == Payout.Status.REQUIRES_REVIEW:
        return "The payout is made, and waits for a person to look at it."
    return "The payout is on its way. This page shows how far it is."


def _digest(order: Order) -> str:
    """What would leave and where to, as a short text that a person agrees to."""
    where = order.target.destination.pk if order.target.destination is not None else order.target.address
    return hashlib.sha256(f"{order.asset.pk}:{order.amount_atomic}:{where}".encode()).hexdigest()


def _review(request: PageRequest, form: PayoutForm, asked: PayoutRequest, order: Order) -> HttpResponse | None:
    """The page that says what leaves, until it has been agreed to and a code was given for it; None lets it go."""
    address, agreed = order.target.address, form.values["agreed"]
    lookalike = lookalike_of(request.access, address) if address else None
    if not agreed:
        return _review_page(request, form, asked, order, lookalike, confirming.Asked([], 200))
    if lookalike and not form.values["compared"]:
        errors = ["Compare the two addresses, and say that you have."]
        return _review_page(request, form, asked, order, lookalike, confirming.Asked(errors, 422))
    if agreed != _digest(order):
        raise AgreedToAnother("agreed", "other_payout")
    wanted = confirming.ask(request, _act(request, form, order))
    return None if wanted is None else _review_page(request, form, asked, order, lookalike, wanted)


def _act(request: PageRequest, form: PayoutForm, order: Order) -> str:
    return confirming.act_of(request, _digest(order), form.values["form_key"])


def _review_page(
    request: PageRequest,
    form: PayoutForm,
    asked: PayoutRequest,
    order: Order,
    lookalike: str | None,
    wanted: confirming.Asked,
) -> HttpResponse:
    """What leaves, where to, what it costs, and that it can't be called back."""
    store, target = request.access.store, order.target
    bears_fee = not target.is_bank and store.payout_network_fee == PaysNetworkFee.MERCHANT
    fee = costs.fee(order.asset) if bears_fee else None
    context = {
        "given": form.values,
        "errors": wanted.errors,
        "order": order,
        "to": checksummed(target.address) if target.address else title(target.destination) if target.destination else "",
        "label": target.destination.label if target.destination is not None else "",
        "quote": quote_payout(request.access, asked) if target.is_bank else None,
        "bears_fee": bears_fee,
        "fee_atomic": fee,
        "arrives_atomic": None if fee is None else max(0, order.amount_atomic - fee),
        "is_new": is_new_target(request.access, target, request.access.now()),
        "lookalike": None if lookalike is None else checksummed(lookalike),
        "agreed": _digest(order),
        **confirming.fields(request, _act(request, form, order)),
    }
    return show(request, "dashboard/payouts/review.html", context, status=wanted.status)


def _form(request: PageRequest, form: PayoutForm) -> HttpResponse:
    saved = list(selectors.destinations_seen_by(request.access))
    context = {
        "form": form,
        "errors": form.common_errors,
        "spendable": spendable(request),
        "saved": [{"row": one, "value": f"{one.kind}:{one.pk}", "title": title(one)} for one in saved if one.is_wallet or one.verified_at],
        "needs_second_factor": not form.errors and stepup.lacks_second_factor(request.person),
    }
    return show(request, "dashboard/payouts/create.html", context, status=form.status)
