"""One payment with everything that happened to it, and the acceptance of a deposit that came late."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib import messages
from django.http import HttpResponse
from msgspec.structs import asdict

from apps.agents.selectors import signed_payment_of
from apps.assets.models import Asset
from apps.billing.selectors import invoice_of
from apps.core import money
from apps.core.web import status_of
from apps.dashboard import refunds
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, is_htmx, sentences, show
from apps.onramp.selectors import sessions_of
from apps.payments import selectors, states
from apps.payments.documents import parts
from apps.payments.documents.checkout import outstanding
from apps.payments.documents.deposits import oldest_first
from apps.payments.documents.detail import LateDepositDocument, PaymentFacts, detail
from apps.payments.documents.order import order_of
from apps.payments.models import LateDeposit, Payment
from apps.payments.services.late import accept_late_deposit, held_atomic, late_deposit_of
from apps.payments.whole import find_whole
from apps.webhooks.selectors import deliveries_about

CARD_SESSIONS_MAX = 20
_EVENTS_TRAIL = timedelta(hours=1)


class ShownLateDeposit(LateDepositDocument, frozen=True, kw_only=True):
    is_held: bool


class ShownAddress(parts.PaymentAddressDocument, frozen=True, kw_only=True):
    """With its page on the explorer."""

    explorer_url: str | None


@dataclass(frozen=True)
class Amounts:
    """In cents of the payment's currency; `left_cents` is below zero when all went back, for fees don't."""

    paid_cents: int
    fee_cents: int
    refunded_cents: int
    left_cents: int


@dataclass(frozen=True)
class Missing:
    """What an underpaid payment still waits for."""

    asset: Asset
    amount_atomic: int


def show_one(request: PageRequest, id: str) -> HttpResponse:
    whole = find_whole(request.access, request.access.store, id)
    payment, received, told = whole.payment, whole.received, detail(whole)
    deliveries = deliveries_about(request.access, payment.reference, payment.created_at, _last_event_at(payment, received) + _EVENTS_TRAIL)
    sent_back = refunds.rows(request, payment)
    context = {
        "payment": payment,
        "invoice": invoice_of(request.access, payment),
        "told": told,
        "order": order_of(payment),
        "amounts": _amounts(told),
        "addresses": _addresses(told, received),
        "missing": _missing(payment, received),
        "transactions": oldest_first((row, one.address.asset) for one in received for row in one.counted),
        "late_deposits": [_late_deposit(payment, one) for one in told.late_deposits],
        "signed": signed_payment_of(request.access, payment),
        "refunds": sent_back,
        "is_refund_under_way": refunds.is_under_way(sent_back),
        "is_refund_offered": refunds.is_offered(request, payment),
        "deliveries": deliveries,
        "card_sessions": list(sessions_of(payment)[:CARD_SESSIONS_MAX]) if payment.is_card_funded else [],
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(request, "dashboard/payments/_detail.html" if part else "dashboard/payments/detail.html", context)


def _amounts(told: PaymentFacts) -> Amounts:
    paid, financials = money.cents_from_text(told.amount_paid), told.financials
    if financials is None:
        return Amounts(paid, 0, 0, 0)
    texts = (financials.fee_amount, financials.refunded_amount, financials.net_amount)
    fee, refunded, net = map(money.cents_from_text, texts)
    return Amounts(paid, fee, refunded, net - refunded)


def _missing(payment: Payment, received: "list[selectors.Received]") -> Missing | None:
    """In the coin that came."""
    paid_in = next((one.address.asset for one in received if one.received_atomic), None)
    if payment.state_reason != states.PROCESSING_UNDERPAID or paid_in is None:
        return None
    return Missing(paid_in, outstanding(received)[paid_in.pk])


def _addresses(told: PaymentFacts, received: "list[selectors.Received]") -> list[ShownAddress]:
    bases = [one.address.asset.chain.explorer_url for one in received]
    rows = zip(told.payment_addresses, bases, strict=True)
    return [ShownAddress(**asdict(row), explorer_url=f"{base}/address/{row.address}" if base else None) for row, base in rows]


def _late_deposit(payment: Payment, late: LateDepositDocument) -> ShownLateDeposit:
    is_held = held_atomic(payment, late.asset_id) >= int(late.amount_atomic)
    return ShownLateDeposit(**asdict(late), is_held=is_held)


def _last_event_at(payment: Payment, received: "list[selectors.Received]") -> datetime:
    moments = [
        moment for one in received for row in one.deposits for moment in (row.detected_at, row.confirmed_at, row.failed_at) if moment
    ]
    return max([payment.created_at, payment.updated_at, payment.expires_at, *moments])


def accept_late(request: PageRequest, id: str, deposit_id: str) -> HttpResponse:
    """A page that says what will be booked, then the booking."""
    payment: Payment = find(selectors.payments_seen_by(request.access), id)
    late = late_deposit_of(payment, deposit_id)
    if request.method == "GET":
        return _late_page(request, payment, late, [])
    try:
        accept_late_deposit(payment, deposit_id, request.access.now(), by=request.access)
    except Refusals as refusal:
        return _late_page(request, payment, late, sentences(refusal), status_of(refusal))
    messages.success(request, "The deposit has been accepted and is in your available balance.")
    return go("payment", payment.pk)


def _late_page(request: PageRequest, payment: Payment, late: LateDeposit, errors: list[str], status: int = 200) -> HttpResponse:
    return show(request, "dashboard/payments/accept_late.html", {"payment": payment, "late": late, "errors": errors}, status=status)
