"""Sending a payout: what and where to, then a page that says exactly what leaves.

What was agreed to is sent or nothing: a digest of amount and destination comes back with the form,
and a code for just that.
"""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext

from apps.access.factors import stepup
from apps.assets.models import Asset
from apps.chain.networks.families import shown_address
from apps.chain.sending import costs
from apps.core.messages.fields import Invalid, is_uuid
from apps.core.money import Amount
from apps.core.templatetags.tillgate import fiat
from apps.core.typed_amounts import unmistakable
from apps.core.web.forms import Form
from apps.dashboard.site import confirming, form_keys
from apps.dashboard.site.coins import CoinsOfMode, atomic_typed, coins_of, rate_words
from apps.dashboard.site.confirming import ConfirmationForm
from apps.dashboard.site.reviews import (
    Caution,
    Fact,
    NotCompared,
    Review,
    ReviewTransfer,
    coins,
    review_page,
)
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.dashboard.tables import cells as list_cells
from apps.payments.services.worth import fiat_text, fiat_typed
from apps.payouts import selectors, states
from apps.payouts.models import Destination, Payout, PaysNetworkFee
from apps.payouts.requests import PayoutRequest, target_of
from apps.payouts.services.create import ForeseenPayout, create_foreseen, foresee_payout
from apps.payouts.services.destinations import title
from apps.payouts.services.offer import PayoutOffer, available_of, check_affordable, offer_of
from apps.payouts.services.orders import read_priced
from apps.payouts.services.quote import quote_payout

FIAT = "fiat"


class AgreedToAnother(Invalid):
    """The form that came back isn't the page that was shown."""


class PayoutForm(Form):
    """A part of the balance, in coins or the store's currency, to a saved destination
    (`wallet:<id>`) or another address."""

    names = ("asset_id", "amount", "unit", "destination", "destination_address")
    hidden = ("form_key", "agreed")
    inputs = {"amount_atomic": "amount"}

    @property
    def in_fiat(self) -> bool:
        return self.values["unit"] == FIAT

    def request(self, asset: Asset) -> PayoutRequest:
        """The typed request, in coins. Raises Invalid."""
        kind, _, detail_id = self.values["destination"].partition(":")
        target = target_of(
            detail_id if kind == "bank" else None,
            detail_id if kind == "wallet" else None,
            None if kind in ("bank", "wallet") else self.values["destination_address"] or None,
        )
        return PayoutRequest(asset.pk, atomic_typed(self.values["amount"], asset), target)

    def convert(self, offer: PayoutOffer | None) -> None:
        """The review is about coins, whatever their rate is by then. Raises Invalid."""
        most = None if offer is None else offer.in_fiat
        if most is None:
            raise Invalid("unit", "no_rate")
        typed = fiat_typed(self.values["amount"], most.price.currency)
        self.values["amount"] = unmistakable(most.coins_for(typed).coins)
        self.values["unit"] = ""

    def fill_in_maximum(self, offer: PayoutOffer) -> None:
        most = offer.in_fiat
        if self.in_fiat and most is not None:
            self.values["amount"] = fiat_text(most.fiat)
        else:
            self.values["amount"] = unmistakable(offer.maximum.coins)

    def input_of(self, field: str) -> str:
        """Input of a field's error: a destination's error is where it was named."""
        if field in ("destination", "destination_address"):
            return "destination" if self.values["destination"] else "destination_address"
        return super().input_of(field)


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        coins_to_spend = coins_of(request.access)
        offer = _offer(request, coins_to_spend, request.GET.get("asset", ""))
        return _form(request, _opened(request, offer), coins_to_spend, offer)
    form = PayoutForm.from_post(request.POST)
    typed = dict(form.values)
    try:
        foreseen = _foreseen(request, form)
        answered = _answered(request, form, foreseen)
        if answered is not None:
            return _review(request, form, foreseen, answered)
        payout, _ = create_foreseen(
            request.access,
            foreseen,
            f"dashboard-{form.values['form_key']}",
            caller=request.access.caller,
        )
    except Refusals as refusal:
        form.values = typed
        coins_to_spend = coins_of(request.access)
        offer = _offer(request, coins_to_spend, typed["asset_id"])
        return _form(request, form.refuse(refusal), coins_to_spend, offer)
    messages.success(request, _done(payout))
    return go("payout", payout.pk)


def _foreseen(request: PageRequest, form: PayoutForm) -> ForeseenPayout:
    """The typed payout, as it would be sent. Raises Invalid or what foresee_payout does."""
    access = request.access
    form_keys.of(form.values)
    priced = read_priced(form.values["asset_id"], access.store)
    if priced is None:
        raise Invalid("asset_id", "choose_payout")
    if form.in_fiat:
        form.convert(_offer(request, coins_of(access), form.values["asset_id"]))
    return foresee_payout(access, form.request(priced[0]), priced)


def _offer(request: PageRequest, coins_to_spend: CoinsOfMode, asset_id: str) -> PayoutOffer | None:
    """Of the coin that is asked for, else of the first that can go where the address says, else of
    the first."""
    holdings = coins_to_spend.spendable
    chosen = next((coin for coin in holdings if coin.asset.pk == asset_id), None)
    if chosen is None and not asset_id:
        kind, _, id = request.GET.get("to", "").partition(":")
        saved = (
            selectors.destinations_visible_to(request.access).filter(pk=id).first()
            if kind and is_uuid(id)
            else None
        )
        network = saved.network if saved is not None else ""
        chosen = next((coin for coin in holdings if coin.asset.chain_id == network), None)
    chosen = chosen or next(iter(holdings), None)
    return None if chosen is None else offer_of(request.access, chosen.available, chosen.price)


def _opened(request: PageRequest, offer: PayoutOffer | None) -> PayoutForm:
    """The form with what its address says: a coin, where to, an amount. Else it goes where the last
    one of the coin went."""
    typed = {
        name: request.GET.get(name, "")
        for name in ("amount", "unit", "destination", "destination_address")
    }
    form = PayoutForm({**typed, **form_keys.new()})
    if offer is None:
        return form
    form.values["asset_id"] = offer.asset.pk
    offered = [_value(destination) for destination in offer.destinations]
    if "destination" not in request.GET:
        target = request.GET.get("to", "")
        form.values["destination"] = target if target in offered else next(iter(offered), "")
    elif form.values["destination"] not in offered:
        form.values["destination"] = (
            "" if form.values["destination_address"] else next(iter(offered), "")
        )
    if "maximum" in request.GET:
        form.fill_in_maximum(offer)
    return form


def _value(destination: Destination) -> str:
    return f"{destination.kind}:{destination.pk}"


def _done(payout: Payout) -> str:
    if payout.review_reason == states.NEEDS_APPROVER:
        return gettext(
            "Payout created. It needs a second approval: owners and admins have been emailed."
        )
    if payout.status == Payout.Status.REQUIRES_REVIEW:
        return gettext("Payout created. We’ll review it before it’s sent.")
    return gettext("Payout created. This page shows its progress.")


def _answered(
    request: PageRequest, form: PayoutForm, foreseen: ForeseenPayout
) -> ConfirmationForm | None:
    """None once this very payout was agreed to, its address compared and a code given; else what
    the review says.

    Raises AgreedToAnother.
    """
    code = ConfirmationForm.from_post(request.POST)
    agreed = form.values["agreed"]
    if not agreed:
        return code
    if foreseen.lookalike and not code.values["compared"]:
        return code.refuse(NotCompared())
    if agreed != stepup.act_digest(foreseen.request):
        raise AgreedToAnother("agreed", "other_payout")
    return confirming.ask(request, confirming.page_act(request, agreed, form.values["form_key"]))


def _review(
    request: PageRequest, form: PayoutForm, foreseen: ForeseenPayout, code: ConfirmationForm
) -> HttpResponse:
    """Review page: amount, destination, cost, and that it can't be called back. Raises Insufficient
    or Invalid."""
    amount = foreseen.order.amount
    target = foreseen.order.target
    saved = target.destination
    available = available_of(request.access, amount.asset)
    if not form.values["agreed"]:
        check_affordable(request.access, amount, available, foreseen.terms.cap)
    agreed = stepup.act_digest(foreseen.request)
    lookalike = foreseen.lookalike
    review = Review(
        title=gettext("Confirm payout"),
        button=gettext("Send payout"),
        crumbs=[(gettext("Payouts"), reverse("dashboard:payouts")), (gettext("Pay out"), "")],
        back=reverse("dashboard:payouts"),
        agreed=agreed,
        transfers=[
            ReviewTransfer(
                facts=_facts(request, foreseen),
                to=(
                    shown_address(target.address)
                    if target.address
                    else title(saved)
                    if saved is not None
                    else ""
                ),
                label=saved.label if saved is not None else "",
            )
        ],
        permanent=gettext("Coins can’t be recalled once sent."),
        noun="payout",
        after=_afterwards(amount, available),
        cautions=_cautions(request, foreseen),
        lookalike=shown_address(lookalike) if lookalike else "",
    )
    act = confirming.page_act(request, agreed, form.values["form_key"])
    return review_page(request, review, form.values, act, code)


def _facts(request: PageRequest, foreseen: ForeseenPayout) -> list[Fact]:
    order = foreseen.order
    asset = order.amount.asset
    facts = [
        Fact(gettext("You send"), coins(order.amount.atomic, asset)),
        Fact(gettext("On"), asset.chain.name),
    ]
    if order.price is not None:
        worth = order.price.worth(order.amount)
        facts.append(
            Fact(
                gettext("Value today"),
                format_html(
                    '{} <span class="muted">({})</span>',
                    fiat(worth.cents, worth.currency),
                    rate_words(order.price),
                ),
            )
        )
    if order.target.is_bank:
        quote = quote_payout(request.access, foreseen.request)
        return [
            *facts,
            Fact(
                gettext("Arrives in the bank, about"), fiat(quote.fiat.cents, quote.fiat.currency)
            ),
            Fact(gettext("Off-ramp fee, about"), fiat(quote.fee.cents, quote.fee.currency)),
        ]
    if foreseen.terms.settings.payout_network_fee != PaysNetworkFee.MERCHANT:
        return [*facts, Fact(gettext("Network fee"), gettext("Paid by us"))]
    fee = costs.fee(asset)
    if fee is None:
        return [*facts, Fact(gettext("Network fee, about"), gettext("Currently unknown"))]
    arrives = max(0, order.amount.atomic - fee)
    return [
        *facts,
        Fact(gettext("Network fee, about"), coins(fee, asset)),
        Fact(gettext("Arrives, about"), coins(arrives, asset)),
    ]


def _afterwards(amount: Amount[Asset], available: Amount[Asset]) -> list[Fact]:
    if available < amount:
        return []
    remaining = (available - amount).atomic
    return [Fact(gettext("Available balance afterwards"), coins(remaining, amount.asset))]


def _cautions(request: PageRequest, foreseen: ForeseenPayout) -> list[Caution]:
    if not foreseen.is_new(request.access.now()):
        return []
    unpaid = (
        gettext("You haven’t paid out to it before.")
        if foreseen.order.target.destination is None
        else gettext("It was added recently.")
    )
    looked_at = (
        gettext("We’ll review the payout before it’s sent.")
        if foreseen.terms.settings.review_new_destinations
        else ""
    )
    return [
        Caution(
            gettext("This destination is new."),
            " ".join(sentence for sentence in (unpaid, looked_at) if sentence),
        )
    ]


def _waiting(request: PageRequest, destinations: Sequence[Destination]) -> list[dict[str, object]]:
    """Shown beside the others, and not to be chosen yet."""
    return [
        {
            "row": destination,
            "shown": list_cells.destination(destination),
            "available": list_cells.usable_from(destination, request.access.now()),
        }
        for destination in destinations
    ]


def _form(
    request: PageRequest,
    form: PayoutForm,
    coins_to_spend: CoinsOfMode,
    offer: PayoutOffer | None,
) -> HttpResponse:
    destinations = [] if offer is None else offer.destinations
    most = None if offer is None else offer.in_fiat
    context = {
        "form": form,
        "errors": form.common_errors,
        "spendable": coins_to_spend.spendable,
        "offer": offer,
        "currency": "" if most is None else most.price.currency,
        "worth": "" if most is None else fiat(most.fiat.cents, most.fiat.currency),
        "rate": "" if most is None else rate_words(most.price),
        "saved": [
            {
                "row": destination,
                "value": _value(destination),
                "shown": list_cells.destination(destination),
            }
            for destination in destinations
        ],
        "waiting": [] if offer is None else _waiting(request, offer.waiting),
        "has_destinations": offer.has_destinations
        if offer is not None
        else selectors.destinations_visible_to(request.access).exists(),
        "is_elsewhere": not form.values["destination"],
        "can_swap": any(asset.is_fiat_eligible for asset in coins_to_spend.assets),
        "needs_second_factor": not form.errors and stepup.lacks_second_factor(request.person),
    }
    return show(request, "dashboard/payouts/create.html", context, status=form.status)
