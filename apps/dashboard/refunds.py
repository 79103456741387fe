"""Refunds of a payment: what to send back, then a page that says exactly what leaves and where to, then the sending.

The page that was agreed to is sent or nothing: its figures come back with the form and are compared under the lock.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString

from apps.chain.addresses import checksummed
from apps.core import money
from apps.core.forms import Form
from apps.dashboard import confirming, form_keys
from apps.dashboard.confirming import CodeForm
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, show
from apps.dashboard.reviews import Caution, Fact, Review, Transfer, coins, review_page
from apps.payments import states
from apps.payments.models import Payment, Refund
from apps.payments.requests import RefundRequest
from apps.payments.selectors import Received, payments_seen_by, received_by
from apps.payments.services.refund import FiguresChanged, plan_digest, request_refund
from apps.payments.services.refund_shares import PayerUnknown, Share, left_to_refund, shares_to_send
from apps.stores import roles

_FROM_BALANCE = "Out of your available balance; the fee that was taken is not given back."
_PARTIAL = Caution("This is a part of what was paid.", "A payment can be refunded once: the rest can't be refunded afterwards.")
_PERMANENT = (
    "Coins that have left can't be called back. "
    "Compare the address with the one your customer gave you, from its first to its last character."
)


@dataclass(frozen=True)
class ShownRefund:
    refund: Refund
    to_address: str


class RefundForm(Form):
    """A coin is chosen where several came, an amount where a part may go back; the other inputs aren't on the page."""

    names = ("asset_id", "amount", "destination_address")
    hidden = ("form_key", "agreed")
    labels = {"asset_id": "What to send back", "amount": "Amount in coins", "destination_address": "Address"}

    def __init__(self, typed: Mapping[str, str], payment: Payment) -> None:
        super().__init__(typed)
        self.payment = payment

    @cached_property
    def received(self) -> list[Received]:
        """The assets of which something has confirmed."""
        return [one for one in received_by(self.payment) if any(row.status == "confirmed" for row in one.deposits)]

    @property
    def takes_asset(self) -> bool:
        return len(self.received) > 1

    @property
    def takes_amount(self) -> bool:
        return self.payment.status == states.COMPLETED

    def request(self) -> RefundRequest:
        """What is asked for. Raises Invalid."""
        form_keys.of(self.values)
        return RefundRequest.read(self.sent)

    @property
    def key(self) -> str:
        return f"dashboard-{self.values['form_key']}"

    def input_of(self, field: str) -> str:
        is_shown = {"asset_id": self.takes_asset, "amount": self.takes_amount}
        return field if is_shown.get(field, True) else ""


def rows(request: PageRequest, payment: Payment) -> list[ShownRefund]:
    """The refunds of a payment, newest first."""
    found = Refund.objects.seen_by(request.access).filter(payment=payment).select_related("asset__chain").order_by("-created_at", "-part")
    return [ShownRefund(one, checksummed(one.destination_address)) for one in found]


def is_offered(request: PageRequest, payment: Payment) -> bool:
    """Whether this person may send something of this payment back now."""
    if not roles.may(request.member.role, roles.MOVE_MONEY):
        return False
    try:
        return any(isinstance(one, Share) for one in shares_to_send(payment, RefundRequest())) or bool(payment.needs_attention)
    except PayerUnknown:
        return True
    except Refusals:
        return False


def create(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(payments_seen_by(request.access), id)
    if request.method == "GET":
        return _form(request, RefundForm(form_keys.new(), payment))
    form = RefundForm(request.POST.dict(), payment)
    try:
        asked = form.request()
        return _reviewed(request, form, asked) if form.values["agreed"] else _review(request, form, asked)
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))


def _reviewed(request: PageRequest, form: RefundForm, asked: RefundRequest) -> HttpResponse:
    """Send what was agreed to, once a code was given for it; other figures are looked at anew."""
    payment, agreed = form.payment, form.values["agreed"]
    try:
        wanted = _ask(request, form, asked)
        if wanted is not None:
            return _review(request, form, asked, wanted)
        made = request_refund(request.access, payment, asked, form.key, agreed=agreed)
    except FiguresChanged as refusal:
        return _review(request, form, asked, CodeForm.from_post(request.POST).refuse(refusal))
    if made.is_other:
        messages.error(request, "Another refund was under way already. Nothing more is sent.")
    else:
        messages.success(request, "The refund is on its way. This page shows how far it is.")
    return go("payment", payment.pk)


def _ask(request: PageRequest, form: RefundForm, asked: RefundRequest) -> CodeForm | None:
    """A code for the figures that were looked at. Other figures are told before it is taken."""
    agreed = form.values["agreed"]
    act = _act(request, form, agreed)
    if not confirming.is_open(request, act) and plan_digest(shares_to_send(form.payment, asked)) != agreed:
        raise FiguresChanged
    return confirming.ask(request, act)


def _act(request: PageRequest, form: RefundForm, agreed: str) -> str:
    return confirming.act_of(request, agreed, form.values["form_key"])


def _review(request: PageRequest, form: RefundForm, asked: RefundRequest, code: CodeForm | None = None) -> HttpResponse:
    """What would leave, where to, and what can't be done any more afterwards."""
    payment = form.payment
    shares = shares_to_send(payment, asked)
    transfers = [one for one in shares if isinstance(one, Share)]
    if not shares:
        raise PayerUnknown
    if not transfers:
        under_way = [one for one in shares if isinstance(one, Refund)]
        told = "; ".join(f"{_coins(one)} to {checksummed(one.destination_address)}" for one in under_way)
        text = f"A refund of this payment is already under way ({told}). Nothing more is sent."
        messages.error(request, text)
        return go("payment", payment.pk)
    is_partial = payment.status == states.COMPLETED and _total(transfers) != left_to_refund(payment)
    address = reverse("dashboard:payment", args=[payment.pk])
    review = Review(
        title="Send this back?",
        button="Send it back",
        crumbs=[("Payments", reverse("dashboard:payments")), (payment.reference, address), ("Refund", "")],
        back=address,
        agreed=plan_digest(shares),
        transfers=[_transfer(one) for one in transfers],
        total=_in_all(transfers) if len(transfers) > 1 else [],
        permanent=_PERMANENT,
        noun="refund",
        cautions=[_PARTIAL] if is_partial else [],
    )
    return review_page(request, review, form.values, _act(request, form, review.agreed), code)


def _transfer(share: Share) -> Transfer:
    return Transfer(
        facts=[Fact("You send", coins(share.amount_atomic, share.asset)), Fact("On", share.asset.chain.name)],
        to=checksummed(share.to_address),
        note="Out of what is held for this payment." if share.is_from_held else _FROM_BALANCE,
    )


def _coins(refund: Refund) -> str:
    asset = refund.asset
    amount = money.decimal_from_atomic(refund.amount_atomic, asset.atomic_decimals)
    return f"{amount} {asset.coin_symbol}"


def _total(shares: list[Share]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for one in shares:
        totals[one.asset.pk] = totals.get(one.asset.pk, 0) + one.amount_atomic
    return totals


def _in_all(shares: list[Share]) -> list[SafeString]:
    assets = {one.asset.pk: one.asset for one in shares}
    return [coins(amount, assets[asset_id]) for asset_id, amount in _total(shares).items()]


def _form(request: PageRequest, form: RefundForm) -> HttpResponse:
    context = {"payment": form.payment, "form": form, "errors": form.common_errors}
    return show(request, "dashboard/refunds/create.html", context, status=form.status)
