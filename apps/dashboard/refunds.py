"""Refunds of a payment: what to send back, then a page that says exactly what leaves and where to, then the sending.

The page that was agreed to is sent or nothing: its figures come back with the form and are compared under the lock.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from apps.chain.addresses import checksummed
from apps.core import money
from apps.core.web import status_of
from apps.dashboard import confirming, form_keys
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show
from apps.payments import states
from apps.payments.models import Payment, Refund
from apps.payments.selectors import payments_seen_by, received_by
from apps.payments.services.fields import REFUND
from apps.payments.services.refund import FiguresChanged, plan_digest, request_refund
from apps.payments.services.refund_shares import PayerUnknown, Share, Wish, left_to_refund, shares_to_send
from apps.stores import roles

_FIELDS = ("amount", "asset_id", "destination_address")


def rows(request: PageRequest, payment: Payment) -> list[dict[str, Any]]:
    """The refunds of a payment, newest first."""
    found = Refund.objects.seen_by(request.access).filter(payment=payment).select_related("asset__chain").order_by("-created_at", "-part")
    return [{"refund": one, "to_address": checksummed(one.destination_address)} for one in found]


def is_offered(request: PageRequest, payment: Payment) -> bool:
    """Whether this person may send something of this payment back now."""
    if not roles.may(request.member.role, roles.MOVE_MONEY):
        return False
    try:
        return any(isinstance(one, Share) for one in shares_to_send(payment, Wish())) or bool(payment.needs_attention)
    except PayerUnknown:
        return True
    except Refusals:
        return False


def create(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(payments_seen_by(request.access), id)
    if request.method == "GET":
        return _form(request, payment, form_keys.new(), [])
    given = {name: request.POST.get(name, "").strip() for name in (*_FIELDS, "form_key", "agreed")}
    try:
        wish, key = _read(given)
        if given["agreed"]:
            wanted = _ask(request, payment, wish, given)
            if wanted is not None:
                return _review(request, payment, given, wish, wanted.errors, wanted.status)
            asked = request_refund(request.access, payment, wish, key, agreed=given["agreed"])
            if asked.is_other:
                messages.error(request, "Another refund was under way already. Nothing more is sent.")
            else:
                messages.success(request, "The refund is on its way. This page shows how far it is.")
            return go("payment", payment.pk)
        return _review(request, payment, given, wish, [])
    except FiguresChanged as refusal:
        return _review(request, payment, given, wish, sentences(refusal), status_of(refusal))
    except Refusals as refusal:
        return _form(request, payment, given, sentences(refusal), status_of(refusal))


def _ask(request: PageRequest, payment: Payment, wish: Wish, given: dict[str, str]) -> confirming.Asked | None:
    """A code for the figures that were looked at. Other figures are told before it is taken."""
    act = _act(request, given, given["agreed"])
    if not confirming.is_open(request, act) and plan_digest(shares_to_send(payment, wish)) != given["agreed"]:
        raise FiguresChanged
    return confirming.ask(request, act)


def _act(request: PageRequest, given: dict[str, str], agreed: str) -> str:
    return confirming.act_of(request, agreed, given["form_key"])


def _read(given: dict[str, str]) -> tuple[Wish, str]:
    """The form as the service takes it: what was left empty is not sent."""
    key = form_keys.of(given)
    fields: dict[str, Any] = REFUND.check({name: given[name] for name in _FIELDS if given[name]}, "refund")
    return Wish(**fields), f"dashboard-{key}"


def _review(
    request: PageRequest, payment: Payment, given: dict[str, str], wish: Wish, errors: list[str], status: int = 200
) -> HttpResponse:
    """What would leave, where to, and what can't be done any more afterwards."""
    shares = shares_to_send(payment, wish)
    transfers = [one for one in shares if isinstance(one, Share)]
    if not shares:
        raise PayerUnknown
    if not transfers:
        under_way = [one for one in shares if isinstance(one, Refund)]
        told = "; ".join(f"{_coins(one)} to {checksummed(one.destination_address)}" for one in under_way)
        text = f"A refund of this payment is already under way ({told}). Nothing more is sent."
        messages.error(request, text)
        return go("payment", payment.pk)
    context = {
        "payment": payment,
        "given": given,
        "errors": errors,
        "transfers": [{"share": one, "to_address": checksummed(one.to_address)} for one in transfers],
        "is_partial": payment.status == states.COMPLETED and _total(transfers) != left_to_refund(payment),
        "agreed": plan_digest(shares),
        **confirming.fields(request, _act(request, given, plan_digest(shares))),
    }
    return show(request, "dashboard/refunds/review.html", context, status=status)


def _coins(refund: Refund) -> str:
    asset = refund.asset
    amount = money.decimal_from_atomic(refund.amount_atomic, asset.atomic_decimals)
    return f"{amount} {asset.coin_symbol}"


def _total(shares: list[Share]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for one in shares:
        totals[one.asset.pk] = totals.get(one.asset.pk, 0) + one.amount_atomic
    return totals


def _form(request: PageRequest, payment: Payment, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    received = [one for one in received_by(payment) if any(row.status == "confirmed" for row in one.deposits)]
    context = {
        "payment": payment,
        "given": given,
        "errors": errors,
        "received": received,
        "takes_amount": payment.status == states.COMPLETED,
    }
    return show(request, "dashboard/refunds/create.html", context, status=status)
