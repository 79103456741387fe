"""Payouts: the list, one with its history, and sending: what and where to, then a page that says exactly what leaves.

What was agreed to is sent or nothing: a digest of amount and destination comes back with the form, and a code for just that.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse

from apps.access import stepup
from apps.assets.models import Asset
from apps.chain import costs
from apps.chain.addresses import checksummed
from apps.core import money
from apps.core.forms import Form
from apps.core.literal import Invalid
from apps.core.templatetags.tillgate import fiat
from apps.dashboard import confirming, form_keys
from apps.dashboard.coins import atomic_typed, spendable
from apps.dashboard.confirming import CodeForm
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show
from apps.dashboard.reviews import Caution, Fact, NotCompared, Review, Transfer, coins, review_page
from apps.payouts import selectors, states
from apps.payouts.documents import GAS_DECIMALS, told_transitions
from apps.payouts.models import Payout
from apps.payouts.requests import PayoutRequest, target_of
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
    hidden = ("form_key", "agreed")
    inputs = {"amount_atomic": "amount"}

    def request(self) -> PayoutRequest:
        """What is asked for. Raises Invalid."""
        form_keys.of(self.values)
        asset = Asset.objects.filter(pk=self.values["asset_id"]).first()
        if asset is None:
            raise Invalid("asset_id", "choose_payout")
        kind, _, detail_id = self.values["destination"].partition(":")
        target = target_of(
            detail_id if kind == "bank" else None,
            detail_id if kind == "wallet" else None,
            None if kind in ("bank", "wallet") else self.values["destination_address"] or None,
        )
        return PayoutRequest(asset.pk, atomic_typed(self.values["amount"], asset), target)

    def input_of(self, field: str) -> str:
        """What is wrong about a destination is said where it was named."""
        if field in ("destination", "destination_address"):
            return "destination" if self.values["destination"] else "destination_address"
        return super().input_of(field)


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


# --- sending --------------------------------------------------------------------------------------


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        opened = {**form_keys.new(), "asset_id": request.GET.get("asset", ""), "destination": request.GET.get("to", "")}
        return _form(request, PayoutForm(opened))
    form = PayoutForm.from_post(request.POST)
    try:
        asked = form.request()
        order = foresee_payout(request.access, asked)
        answered = _answered(request, form, asked, order)
        if answered is not None:
            return _review(request, form, asked, order, answered)
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


def _answered(request: PageRequest, form: PayoutForm, asked: PayoutRequest, order: Order) -> CodeForm | None:
    """None once this very payout was agreed to, its address compared and a code given; else what the review says.

    Raises AgreedToAnother.
    """
    code, agreed = CodeForm.from_post(request.POST), form.values["agreed"]
    if not agreed:
        return code
    if lookalike_of(request.access, order.target.address) and not code.values["compared"]:
        return code.refuse(NotCompared())
    if agreed != stepup.act_of(asked):
        raise AgreedToAnother("agreed", "other_payout")
    return confirming.ask(request, confirming.act_of(request, agreed, form.values["form_key"]))


def _review(request: PageRequest, form: PayoutForm, asked: PayoutRequest, order: Order, code: CodeForm) -> HttpResponse:
    """What leaves, where to, what it costs, and that it can't be called back."""
    target, saved, agreed = order.target, order.target.destination, stepup.act_of(asked)
    lookalike = lookalike_of(request.access, target.address)
    review = Review(
        title="Send this?",
        button="Send it",
        crumbs=[("Payouts", reverse("dashboard:payouts")), ("Pay out", "")],
        back=reverse("dashboard:payouts"),
        agreed=agreed,
        transfers=[
            Transfer(
                facts=_facts(request, asked, order),
                to=checksummed(target.address) if target.address else title(saved) if saved is not None else "",
                label=saved.label if saved is not None else "",
            )
        ],
        permanent="Coins that have left can't be called back.",
        noun="payout",
        cautions=_cautions(request, order),
        lookalike=checksummed(lookalike) if lookalike else "",
    )
    act = confirming.act_of(request, agreed, form.values["form_key"])
    return review_page(request, review, form.values, act, code)


def _facts(request: PageRequest, asked: PayoutRequest, order: Order) -> list[Fact]:
    sent = [Fact("You send", coins(order.amount.atomic, order.amount.asset)), Fact("On", order.amount.asset.chain.name)]
    if order.target.is_bank:
        quote = quote_payout(request.access, asked)
        return [
            *sent,
            Fact("Lands in the bank, about", fiat(quote.fiat.cents, quote.fiat.currency)),
            Fact("The off-ramp keeps, about", fiat(quote.fee.cents, quote.fee.currency)),
        ]
    if request.access.store.payout_network_fee != PaysNetworkFee.MERCHANT:
        return [*sent, Fact("Network fee", "paid by us")]
    fee = costs.fee(order.amount.asset)
    if fee is None:
        return [*sent, Fact("Network fee, about", "not known now")]
    arrives = max(0, order.amount.atomic - fee)
    return [*sent, Fact("Network fee, about", coins(fee, order.amount.asset)), Fact("Arrives, about", coins(arrives, order.amount.asset))]


def _cautions(request: PageRequest, order: Order) -> list[Caution]:
    target = order.target
    if not is_new_target(request.access, target, request.access.now()):
        return []
    unpaid = "Nothing has ever been paid to it." if target.destination is None else "It was saved recently."
    looked_at = "A person looks at the payout first." if request.access.store.review_new_destinations else ""
    return [Caution("This destination is new.", " ".join(one for one in (unpaid, looked_at) if one))]


def _form(request: PageRequest, form: PayoutForm) -> HttpResponse:
    saved = list(selectors.destinations_seen_by(request.access))
    context = {
        "form": form,
        "errors": form.common_errors,
        "spendable": spendable(request.access),
        "saved": [{"row": one, "value": f"{one.kind}:{one.pk}", "title": title(one)} for one in saved if one.is_wallet or one.verified_at],
        "needs_second_factor": not form.errors and stepup.lacks_second_factor(request.person),
    }
    return show(request, "dashboard/payouts/create.html", context, status=form.status)
