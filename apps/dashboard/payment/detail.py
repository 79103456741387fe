"""One payment with its whole history, the acceptance of a late deposit, and the cancellation of an
unpaid one."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext
from msgspec.structs import asdict

from apps.agents.selectors import signed_payment_of
from apps.assets.models import Asset
from apps.billing.numbers import formatted_number
from apps.billing.selectors import invoice_of
from apps.billing.services.emails import key_starts
from apps.core import mail, money
from apps.core.money import CoinPrice
from apps.core.web.refusals import status_of
from apps.dashboard.payment import refunds
from apps.dashboard.payment.own_refunds import own_refunds
from apps.dashboard.payment.timeline import SHOWN, SHOWN_MAX, TimelineFacts, timeline_of
from apps.dashboard.site.coins import rate_words
from apps.dashboard.site.views import (
    PageRequest,
    Refusals,
    find,
    go,
    is_htmx,
    next_url,
    sentences,
    show,
)
from apps.dashboard.tables.payers import payer_of
from apps.ledger.selectors import Split
from apps.links.selectors import link_payment_of
from apps.onramp.selectors import sessions_of
from apps.payments import selectors, states
from apps.payments.documents import parts
from apps.payments.documents.checkout import outstanding
from apps.payments.documents.detail import LateDepositDocument, PaymentFacts, detail
from apps.payments.documents.held import entered_addresses, held_coins, held_rows
from apps.payments.documents.order import order_of
from apps.payments.documents.progress import Progress, coin_cents, progress_of
from apps.payments.documents.sightings import SeenCoins, seen_coins
from apps.payments.lost_coins import lost_coins_in
from apps.payments.models import LateDeposit, Payment
from apps.payments.services.cancel import CANCELED, cancel_for_merchant, is_cancelable
from apps.payments.services.extend import is_extendable
from apps.payments.services.hold import HELD_REFUND
from apps.payments.services.late import accept_late_deposit, held_atomic, late_deposit_of
from apps.payments.services.receipts import key_start
from apps.payments.services.refund_links import key_start as links_of
from apps.payments.services.refund_links import known_email
from apps.payments.services.shortfall import can_accept_shortfall
from apps.payments.services.transfers import transfers_at
from apps.payments.snapshot import find_snapshot
from apps.stores import roles
from apps.stores.auditing.audit import entries_about
from apps.webhooks.selectors import deliveries_about

CARD_SESSIONS_MAX = 20


class ShownLateDeposit(LateDepositDocument, frozen=True, kw_only=True):
    is_held: bool


class ShownAddress(parts.PaymentAddressDocument, frozen=True, kw_only=True):
    """With its page on the explorer."""

    explorer_url: str | None


@dataclass(frozen=True)
class Amounts:
    """In cents of the payment's currency; `left_cents` is below zero when all went back, for fees
    don't."""

    fee_percentage: str
    fee_cents: int
    refunded_cents: int
    left_cents: int
    is_booked: bool


@dataclass(frozen=True)
class ReceivedCoin:
    """A coin that came, with what it was worth at the payment's rate."""

    asset: Asset
    amount_atomic: int
    cents: int
    rate: str


@dataclass(frozen=True)
class MissingAmount:
    """Amount that an underpaid payment still waits for."""

    asset: Asset
    amount_atomic: int
    cents: int


def show_one(request: PageRequest, id: str) -> HttpResponse:
    whole = find_snapshot(request.access, request.access.store, id)
    payment = whole.payment
    received = whole.received
    progress = progress_of(payment, received)
    paid = _paid(payment, received, progress)
    facts = detail(whole)
    sent_back = refunds.rows(request, payment)
    entries = entries_about(payment.store_id, payment)
    invoice = invoice_of(request.access, payment)
    is_held = payment.needs_attention == HELD_REFUND
    story = TimelineFacts(
        whole,
        sent_back,
        deliveries_about(
            request.access, payment.reference, [entry.created_at for entry in whole.history]
        ),
        list(sessions_of(payment)[:CARD_SESSIONS_MAX]) if payment.is_card_funded else [],
        entries,
        selectors.renewals_of(payment),
        mail.about(
            key_start(payment), links_of(payment), *(key_starts(invoice) if invoice else ())
        ),
        roles.may(request.member.role, roles.MANAGE),
        held_rows(payment) if payment.status in states.CLOSED else (),
        selectors.first_viewed_at(payment),
    )
    context = {
        "payment": payment,
        "invoice": invoice,
        "invoice_name": formatted_number(invoice) if invoice else "",
        "payer": payer_of(payment, invoice.customer if invoice else None),
        "at_link": link_payment_of(payment),
        "facts": facts,
        "order": order_of(payment),
        "amounts": _amounts(facts, whole.splits),
        "paid": paid,
        "progress": progress,
        "addresses": _addresses(facts, received),
        "sightings": _seen(facts, received),
        "missing": _missing(payment, received, progress),
        "timeline": timeline_of(
            story,
            SHOWN_MAX if request.GET.get("timeline") == "all" else SHOWN,
            request.GET.get("show", ""),
        ),
        "lost": lost_coins_in(payment, whole.history),
        "late_deposits": [_late_deposit(payment, item) for item in facts.late_deposits],
        "held": held_coins(payment) if is_held else [],
        "own_refunds": own_refunds(received),
        "entered_addresses": entered_addresses(payment) if is_held else [],
        "is_customer_asked": is_held and bool(known_email(payment)),
        "signed": signed_payment_of(request.access, payment),
        "is_refund_under_way": refunds.is_under_way(sent_back),
        "is_refund_offered": refunds.is_offered(request, payment),
        "is_cancelable": is_cancelable(payment),
        "is_shortfall_acceptable": can_accept_shortfall(payment, received),
        "is_extendable": is_extendable(payment, received),
        "unexpected": transfers_at(payment),
        "is_canceled": any(item.action == CANCELED for item in entries),
        "card_sessions": story.cards,
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request,
        "dashboard/payments/_detail.html" if part else "dashboard/payments/detail.html",
        context,
    )


def _seen(facts: PaymentFacts, received: "list[selectors.Received]") -> list[SeenCoins]:
    """Of a payment that has ended only what is still on its way."""
    seen = seen_coins([item.address for item in received], outstanding(received))
    return [coins for coins in seen if coins.is_waiting or not facts.terminal]


def _paid(
    payment: Payment, received: "list[selectors.Received]", progress: Progress
) -> list[ReceivedCoin]:
    """Received coins at the rate that was locked for each; the one of most value first."""
    result = []
    cents = coin_cents(payment, received, progress)
    for item in received:
        if item.received_atomic:
            price = CoinPrice(
                item.address.asset, item.address.exchange_rate, payment.settlement_currency
            )
            result.append(
                ReceivedCoin(
                    item.address.asset,
                    item.received_atomic,
                    cents[item.address.asset_id],
                    rate_words(price),
                )
            )
    return sorted(result, key=lambda item: item.cents, reverse=True)


def _amounts(facts: PaymentFacts, splits: Mapping[str, Split]) -> Amounts | None:
    """None before the payment is booked: until then nobody has a net."""
    financials = facts.financials
    if financials is None:
        return None
    texts = (financials.fee_amount, financials.refunded_amount, financials.net_amount)
    fee, refunded, net = map(money.cents_from_text, texts)
    is_booked = any(split.booked_at for split in splits.values())
    return Amounts(financials.fee_percentage, fee, refunded, net - refunded, is_booked)


def _missing(
    payment: Payment, received: "list[selectors.Received]", progress: Progress
) -> MissingAmount | None:
    """In the coin that came, as the checkout asks for it."""
    paid_in = next((item.address.asset for item in received if item.received_atomic), None)
    if payment.state_reason != states.PROCESSING_UNDERPAID or paid_in is None:
        return None
    return MissingAmount(paid_in, outstanding(received)[paid_in.pk], progress.left_cents)


def _addresses(facts: PaymentFacts, received: "list[selectors.Received]") -> list[ShownAddress]:
    bases = [item.address.asset.chain.explorer_url for item in received]
    rows = zip(facts.payment_addresses, bases, strict=True)
    return [
        ShownAddress(**asdict(row), explorer_url=f"{base}/address/{row.address}" if base else None)
        for row, base in rows
    ]


def _late_deposit(payment: Payment, late: LateDepositDocument) -> ShownLateDeposit:
    is_held = held_atomic(payment, late.asset_id) >= int(late.amount_atomic)
    return ShownLateDeposit(**asdict(late), is_held=is_held)


def accept_late(request: PageRequest, id: str, deposit_id: str) -> HttpResponse:
    """A page that says what will be booked, then the booking."""
    payment: Payment = find(selectors.payments_visible_to(request.access), id)
    late = late_deposit_of(payment, deposit_id)
    if request.method == "GET":
        return _late_page(request, payment, late, [])
    try:
        accept_late_deposit(payment, deposit_id, request.access.now(), by=request.access)
    except Refusals as refusal:
        return _late_page(request, payment, late, sentences(refusal), status_of(refusal))
    messages.success(request, gettext("Deposit accepted. It’s in your available balance."))
    if "next" in request.POST:  # from a list of what needs attention, to which it leads back
        return HttpResponseRedirect(next_url(request), status=303)
    return go("payment", payment.pk)


def _late_page(
    request: PageRequest, payment: Payment, late: LateDeposit, errors: list[str], status: int = 200
) -> HttpResponse:
    return show(
        request,
        "dashboard/payments/accept_late.html",
        {"payment": payment, "late": late, "errors": errors},
        status=status,
    )


def cancel(request: PageRequest, id: str) -> HttpResponse:
    """A page that says what ends, then the end."""
    payment: Payment = find(selectors.payments_visible_to(request.access), id)
    errors: list[str] = []
    status = 200
    if request.method == "POST":
        try:
            cancel_for_merchant(payment)
        except Refusals as refusal:
            errors = sentences(refusal)
            status = status_of(refusal)
        else:
            messages.success(request, gettext("Payment canceled. Its link can no longer be paid."))
            return go("payment", payment.pk)
    return show(
        request,
        "dashboard/payments/cancel.html",
        {"payment": payment, "errors": errors},
        status=status,
    )
