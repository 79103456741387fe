"""Refunds of a payment: what to send back, in coins or in its currency; then a page that says
exactly what leaves and where to; then the sending.

The page that was agreed to is sent or nothing: its figures come back with the form and are compared
under the lock.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from django.contrib import messages
from django.db.models import UUIDField
from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from apps.assets.models import Asset, Chain
from apps.billing.selectors import invoice_of
from apps.chain.networks.families import shown_address
from apps.core import money
from apps.core.db.prepared_reads import Query, any_viewer
from apps.core.db.sql import BlankParameter
from apps.core.messages.fields import Invalid
from apps.core.money import Amount, Bps, CoinPrice
from apps.core.templatetags.tillgate import fiat
from apps.core.typed_amounts import coins_typed, unmistakable
from apps.core.web.forms import Form
from apps.dashboard.site import confirming, form_keys
from apps.dashboard.site.coins import rate_words
from apps.dashboard.site.confirming import ConfirmationForm
from apps.dashboard.site.reviews import Caution, Fact, Review, ReviewTransfer, coins, review_page
from apps.dashboard.site.views import PageRequest, Refusals, find, go, show
from apps.ledger.selectors import balances
from apps.payments import states
from apps.payments.models import Payment, Refund
from apps.payments.requests import RefundRequest
from apps.payments.selectors import Received, payments_visible_to
from apps.payments.services.refund import (
    FiguresChanged,
    look_at_payers,
    plan_digest,
    request_refund,
)
from apps.payments.services.refund_quote import (
    LOCKED,
    TODAY,
    Refundable,
    confirmed_of,
    refundable,
)
from apps.payments.services.refund_shares import (
    OPEN_STATUSES,
    PayerUnknown,
    Share,
    shares_to_send,
)
from apps.payments.services.worth import MaximumAmount, fiat_text, fiat_typed, part_of
from apps.stores import roles

_FROM_BALANCE = gettext_noop("From your available balance. The processing fee isn’t returned.")
# Decision 406.
_PARTIAL = (
    gettext_noop("This is a partial refund."),
    gettext_noop("A payment can only be refunded once. The rest can’t be refunded later."),
)
_PERMANENT = gettext_noop(
    "Coins can’t be recalled once sent. "
    "Compare every character of the address with the one your customer gave you."
)
_PARTS = (25, 50, 75, 100)


@dataclass(frozen=True)
class ShownRefund:
    refund: Refund
    to_address: str


class RefundForm(Form):
    """The coin is chosen before, where several came; an amount is there for one coin of a completed
    payment.

    `unit` says what the amount is: coins, or the payment's currency at one of two rates.
    """

    names = ("amount", "unit", "destination_address")
    hidden = ("form_key", "agreed", "asset_id")
    labels = {"amount": gettext_noop("Amount"), "destination_address": gettext_noop("Address")}

    def __init__(self, typed: Mapping[str, str], payment: Payment) -> None:
        super().__init__(typed)
        self.payment = payment

    @cached_property
    def received(self) -> list[Received]:
        """The assets of which something has confirmed."""
        return confirmed_of(self.payment)

    @cached_property
    def refundable(self) -> list[Refundable]:
        is_completed = self.payment.status == states.COMPLETED
        return refundable(self.payment, self.received) if is_completed else []

    @property
    def takes_asset(self) -> bool:
        return len(self.received) > 1

    @property
    def coin(self) -> Refundable | None:
        """The coin that an amount is of."""
        asset_id = self.values["asset_id"]
        if not asset_id and self.takes_asset:
            return None
        return next((item for item in self.refundable if asset_id in ("", item.asset.pk)), None)

    @property
    def network(self) -> Chain | None:
        """The network that the coins go back on, where it is one."""
        coin = self.coin
        assets = [coin.asset] if coin else [row.address.asset for row in self.received]
        chains = {asset.chain for asset in assets}
        return chains.pop() if len(chains) == 1 else None

    @property
    def unit(self) -> str:
        return self.values["unit"] if self.values["unit"] in (LOCKED, TODAY) else ""

    def fill_in(self, part: str) -> None:
        """A part of what can go back as the amount, in the unit that is chosen."""
        if self.coin is None or part not in map(str, _PARTS):
            return
        part_bps = Bps(int(part) * 100)
        most = self.coin.at(self.unit)
        if self.unit and most is not None:
            self.values["amount"] = fiat_text(most.fiat_part(part_bps))
        else:
            self.values["amount"] = unmistakable(part_of(self.coin.remaining, part_bps).coins)

    def request(self) -> RefundRequest:
        """The typed request, in coins. Raises Invalid."""
        form_keys.of(self.values)
        typed = self.values["amount"]
        chosen = self.coin
        if typed and self.unit and chosen is not None:
            most = chosen.at(self.unit)
            if most is None:
                raise Invalid("unit", "no_rate")
            bought = most.coins_for(fiat_typed(typed, most.price.currency))
            self.values["amount"] = unmistakable(bought.coins)
            self.values["unit"] = ""
        elif typed and chosen is not None:
            self.values["amount"] = unmistakable(
                coins_typed(typed, "amount", chosen.asset.atomic_decimals)
            )
        return RefundRequest.read(self.sent)

    @property
    def key(self) -> str:
        return f"dashboard-{self.values['form_key']}"

    def input_of(self, field: str) -> str:
        return field if field not in ("amount", "unit") or self.coin is not None else ""


_REFUNDS = Query(
    lambda: (
        Refund.objects.visible_to(any_viewer())
        .filter(payment=BlankParameter("payment_id", UUIDField()))
        .order_by("-created_at", "-part")
    ),
    "asset",
    "asset__chain",
)


def rows(request: PageRequest, payment: Payment) -> list[ShownRefund]:
    """The refunds of a payment, newest first."""
    access = request.access
    refunds = _REFUNDS.read(store_id=access.store_id, mode=access.mode, payment_id=payment.pk)
    return [ShownRefund(refund, shown_address(refund.destination_address)) for refund in refunds]


def is_under_way(refunds: list[ShownRefund]) -> bool:
    return any(item.refund.status in OPEN_STATUSES for item in refunds)


def is_offered(request: PageRequest, payment: Payment) -> bool:
    """True if this person may send something of this payment back now."""
    if not roles.may(request.member.role, roles.MOVE_MONEY):
        return False
    try:
        return any(
            isinstance(share, Share) for share in shares_to_send(payment, RefundRequest())
        ) or bool(payment.needs_attention)
    except PayerUnknown:
        return True
    except Refusals:
        return False


def create(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(payments_visible_to(request.access), id)
    if request.method == "GET":
        return _form(request, _opened(request, payment))
    form = RefundForm(request.POST.dict(), payment)
    typed = dict(form.values)
    try:
        refund_request = form.request()
        look_at_payers(payment, refund_request)
        return (
            _reviewed(request, form, refund_request)
            if form.values["agreed"]
            else _review(request, form, refund_request)
        )
    except Refusals as refusal:
        form.values = typed
        return _form(request, form.refuse(refusal))


def _opened(request: PageRequest, payment: Payment) -> RefundForm:
    """The form with what its address says: a coin, a unit, and a part of what can go back."""
    typed = {
        name: request.GET.get(name, "")
        for name in ("asset_id", "unit", "amount", "destination_address")
    }
    form = RefundForm({**typed, **form_keys.new()}, payment)
    form.fill_in(request.GET.get("part", ""))
    return form


def _reviewed(
    request: PageRequest, form: RefundForm, refund_request: RefundRequest
) -> HttpResponse:
    """Send what was agreed to, once a code was given for it; other figures are looked at anew."""
    payment = form.payment
    agreed = form.values["agreed"]
    try:
        code = _ask(request, form, refund_request)
        if code is not None:
            return _review(request, form, refund_request, code)
        answer = request_refund(request.access, payment, refund_request, form.key, agreed=agreed)
    except FiguresChanged as refusal:
        return _review(
            request, form, refund_request, ConfirmationForm.from_post(request.POST).refuse(refusal)
        )
    if answer.is_other:
        messages.error(
            request, gettext("Another refund was already in progress. Nothing more was sent.")
        )
    else:
        messages.success(request, gettext("Refund issued. This page shows its progress."))
    return go("payment", payment.pk)


def _ask(
    request: PageRequest, form: RefundForm, refund_request: RefundRequest
) -> ConfirmationForm | None:
    """A code for the figures that were looked at. Other figures are shown before it is taken."""
    agreed = form.values["agreed"]
    act = _act(request, form, agreed)
    if (
        not confirming.is_open(request, act)
        and plan_digest(shares_to_send(form.payment, refund_request)) != agreed
    ):
        raise FiguresChanged
    return confirming.ask(request, act)


def _act(request: PageRequest, form: RefundForm, agreed: str) -> str:
    return confirming.page_act(request, agreed, form.values["form_key"])


def _review(
    request: PageRequest,
    form: RefundForm,
    refund_request: RefundRequest,
    code: ConfirmationForm | None = None,
) -> HttpResponse:
    """Review page: amounts, destination, and the consequences that can't be undone."""
    payment = form.payment
    shares = shares_to_send(payment, refund_request)
    transfers = [share for share in shares if isinstance(share, Share)]
    if not shares:
        raise PayerUnknown
    if not transfers:
        under_way = [share for share in shares if isinstance(share, Refund)]
        in_progress = "; ".join(
            gettext("{coins} to {address}").format(
                coins=_coins(share), address=shown_address(share.destination_address)
            )
            for share in under_way
        )
        text = gettext(
            "A refund of this payment is already in progress ({in_progress}). Nothing more was"
            " sent."
        ).format(in_progress=in_progress)
        messages.error(request, text)
        return go("payment", payment.pk)
    afterwards = RemainingAfterRefund.of(form, transfers)
    address = reverse("dashboard:payment", args=[payment.pk])
    review = Review(
        title=gettext("Confirm refund"),
        button=gettext("Issue refund"),
        crumbs=[
            (gettext("Payments"), reverse("dashboard:payments")),
            (payment.reference, address),
            (gettext("Refund"), ""),
        ],
        back=address,
        agreed=plan_digest(shares),
        about=_about(request, payment),
        transfers=[_transfer(share, form) for share in transfers],
        total=_in_all(transfers) if len(transfers) > 1 else [],
        after=afterwards.facts(payment),
        permanent=gettext(_PERMANENT),
        noun="refund",
        cautions=[Caution(*map(gettext, _PARTIAL))] if afterwards.is_partial else [],
    )
    return review_page(request, review, form.values, _act(request, form, review.agreed), code)


def _about(request: PageRequest, payment: Payment) -> list[Fact]:
    """Facts that name the payment."""
    facts = [Fact(gettext("Payment"), payment.title or payment.reference)]
    invoice = invoice_of(request.access, payment)
    if invoice is not None:
        facts.append(Fact(gettext("Customer"), invoice.customer.name or invoice.customer.email))
    if payment.order_id and payment.order_id not in (payment.title or ""):
        facts.append(Fact(gettext("Order"), payment.order_id))
    return [
        *facts,
        Fact(gettext("Paid"), fiat(payment.settlement_amount_cents, payment.settlement_currency)),
    ]


@dataclass(frozen=True)
class RemainingAfterRefund:
    """State of a completed payment after the transfers."""

    remaining: list[tuple[Refundable, int]]

    @classmethod
    def of(cls, form: RefundForm, transfers: list[Share]) -> "RemainingAfterRefund":
        totals = _total(transfers)
        remaining = [
            (item, item.remaining.atomic - totals.get(item.asset.pk, 0)) for item in form.refundable
        ]
        return cls([(item, atomic) for item, atomic in remaining if atomic > 0])

    @property
    def is_partial(self) -> bool:
        return bool(self.remaining)

    def facts(self, payment: Payment) -> list[Fact]:
        return [
            Fact(gettext("Not refunded"), _with_worth(item.locked, atomic))
            for item, atomic in self.remaining
        ]


def _with_worth(price: CoinPrice[Asset], atomic: int) -> SafeString:
    worth = price.worth(Amount(price.asset, atomic))
    return format_html(
        '{} <span class="muted">({})</span>',
        coins(atomic, price.asset),
        fiat(worth.cents, worth.currency),
    )


def _transfer(share: Share, form: RefundForm) -> ReviewTransfer:
    """The outgoing amount and its value at both rates."""
    asset = share.asset
    amount = Amount(share.asset, share.amount_atomic)
    facts = [
        Fact(gettext("You send"), coins(share.amount_atomic, asset)),
        Fact(gettext("On"), asset.chain.name),
    ]
    for item in form.refundable:
        if item.asset.pk == asset.pk:
            facts += [Fact(name, _at_rate(price, amount)) for name, price in _prices(item)]
    return ReviewTransfer(
        facts=facts,
        to=shown_address(share.to_address),
        note=gettext("From the funds held for this payment.")
        if share.is_from_held
        else gettext(_FROM_BALANCE),
    )


def _prices(refundable: Refundable) -> list[tuple[str, CoinPrice[Asset]]]:
    """Both rates, by what people call them; today's is missing where nobody knows it."""
    today = (
        [(gettext("At today’s rate"), refundable.current)] if refundable.current is not None else []
    )
    return [(gettext("At the payment’s rate"), refundable.locked), *today]


def _at_rate(price: CoinPrice[Asset], amount: Amount[Asset]) -> SafeString:
    worth = price.worth(amount)
    return format_html(
        '{} <span class="muted">({})</span>', fiat(worth.cents, worth.currency), rate_words(price)
    )


def _coins(refund: Refund) -> str:
    asset = refund.asset
    amount = money.decimal_from_atomic(refund.amount_atomic, asset.atomic_decimals)
    return f"{amount} {asset.coin_symbol}"


def _total(shares: list[Share]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for share in shares:
        totals[share.asset.pk] = totals.get(share.asset.pk, 0) + share.amount_atomic
    return totals


def _in_all(shares: list[Share]) -> list[SafeString]:
    assets = {share.asset.pk: share.asset for share in shares}
    return [coins(amount, assets[asset_id]) for asset_id, amount in _total(shares).items()]


def _form(request: PageRequest, form: RefundForm) -> HttpResponse:
    chosen = form.coin
    context = {
        "payment": form.payment,
        "form": form,
        "errors": form.common_errors,
        "chosen": chosen,
        "network": form.network,
        "units": [] if chosen is None else _units(chosen),
        "maximums": [] if chosen is None else _maximums(chosen),
        "parts": _PARTS,
        "is_short": chosen is not None
        and _available(request, chosen.asset) < chosen.remaining.atomic,
        "available_atomic": 0 if chosen is None else _available(request, chosen.asset),
    }
    return show(request, "dashboard/refunds/create.html", context, status=form.status)


def _units(refundable: Refundable) -> list[tuple[str, str]]:
    """Units of a typed amount: the coin, or the currency at one of the rates."""
    currency = refundable.locked.currency
    today = (
        [(TODAY, gettext("{currency} at today’s rate").format(currency=currency))]
        if refundable.current is not None
        else []
    )
    return [
        ("", refundable.asset.coin_symbol),
        (LOCKED, gettext("{currency} at the payment’s rate").format(currency=currency)),
        *today,
    ]


def _maximums(refundable: Refundable) -> list[tuple[str, str, str]]:
    """Value of the maximum at each rate: (name, amount, rate)."""
    maximums = []
    for name, price in _prices(refundable):
        worth = MaximumAmount(refundable.remaining, price).fiat
        maximums.append((name, fiat(worth.cents, worth.currency), rate_words(price)))
    return maximums


def _available(request: PageRequest, asset: Asset) -> int:
    account = balances(request.access.store_id, request.access.mode).get(asset.pk)
    return 0 if account is None else account.available_atomic
