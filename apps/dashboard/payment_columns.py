"""The columns of the list of payments, and what they show of a page of them: three statements,
fewer with fewer columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.billing.models import Customer
from apps.billing.selectors import customers_of
from apps.core import clock, money
from apps.core.templatetags.tillgate import badge
from apps.dashboard import cells
from apps.dashboard.lists import Column, Listing, listing
from apps.dashboard.plumbing import PageRequest
from apps.payments.models import Payment
from apps.payments.proceeds import NOTHING, CoinReceived, Proceeds, proceeds_of


@dataclass(frozen=True)
class Line:
    """A payment with what came of it and who was asked."""

    payment: Payment
    takings: Proceeds
    customer: Customer | None


def read(request: PageRequest, payments: Sequence[Payment], wanted: frozenset[str]) -> list[Line]:
    takings = proceeds_of(payments) if wanted & _OF_TAKINGS else {}
    customers = customers_of(payments) if wanted & _OF_CUSTOMERS else {}
    return [Line(one, takings.get(one.pk, NOTHING), customers.get(one.pk)) for one in payments]


def _name(one: Line) -> SafeString:
    payment = one.payment
    order = format_html("order {}", cells.cut(payment.order_id)) if payment.order_id else ""
    if not payment.title:
        return cells.name("payment", payment.pk, payment.reference, order)
    below = format_html(
        '<span class="dotted"><span class="mono">{}</span>{}</span>',
        payment.reference,
        format_html("<span>{}</span>", order) if order else "",
    )
    return cells.name("payment", payment.pk, payment.title, below)


def status(payment: Payment) -> SafeString:
    is_part = (
        payment.status == Payment.Status.REFUNDED
        and payment.refund_state == Payment.RefundState.PARTIAL
    )
    shown = badge("payment", "partially_refunded" if is_part else payment.status)
    return (
        format_html("{} {}", shown, badge("attention", payment.needs_attention))
        if payment.needs_attention
        else shown
    )


def _coin(one: Line) -> SafeString:
    return cells.lines(cells.coin(taken.asset) for taken in one.takings.coins)


def _received(one: Line) -> SafeString:
    return cells.lines(
        cells.amount(taken.amount_atomic, taken.asset) for taken in one.takings.coins
    )


def _fiat(amount_cents: int | None) -> str:
    return "" if amount_cents is None else money.text_from_cents(amount_cents)


def _whole(taken: CoinReceived) -> str:
    return money.decimal_from_atomic(taken.amount_atomic, taken.asset.atomic_decimals)


def _each(one: Line, part: str) -> str:
    """Of several coins each, in the same order in every column."""
    parts = {
        "coin": lambda taken: taken.asset.coin_symbol,
        "network": lambda taken: taken.asset.chain.name,
        "amount": _whole,
    }
    return "; ".join(parts[part](taken) for taken in one.takings.coins)


def _cents_column(key: str, label: str, attribute: str, *, is_default: bool) -> Column:
    """Of a sum that takings tell."""
    return Column(
        key,
        label,
        lambda one: cells.cents(getattr(one.takings, attribute), one.payment.settlement_currency),
        {key: lambda one: _fiat(getattr(one.takings, attribute))},
        is_number=True,
        is_default=is_default,
    )


def _time_column(key: str, label: str, attribute: str, *, is_default: bool = False) -> Column:
    return Column(
        key,
        label,
        lambda one: cells.time(getattr(one.payment, attribute)),
        {attribute: lambda one: clock.iso(getattr(one.payment, attribute))},
        is_default=is_default,
        on_phone=is_default,
    )


PAYMENTS = listing(
    Listing(
        "payments",
        (
            Column(
                "payment",
                "Payment",
                _name,
                {
                    "reference": lambda one: one.payment.reference,
                    "order_id": lambda one: one.payment.order_id,
                    "title": lambda one: one.payment.title,
                },
            ),
            Column(
                "amount",
                "Amount",
                lambda one: cells.cents(
                    one.payment.settlement_amount_cents, one.payment.settlement_currency
                ),
                {
                    "amount": lambda one: money.text_from_cents(
                        one.payment.settlement_amount_cents
                    ),
                    "currency": lambda one: one.payment.settlement_currency,
                },
                is_number=True,
                on_phone=True,
            ),
            Column(
                "status",
                "Status",
                lambda one: status(one.payment),
                {
                    "status": lambda one: one.payment.status,
                    "state_reason": lambda one: one.payment.state_reason,
                    "refund_state": lambda one: one.payment.refund_state,
                },
                on_phone=True,
            ),
            Column(
                "customer",
                "Customer",
                lambda one: cells.customer(one.customer),
                {
                    "customer_email": lambda one: one.customer.email if one.customer else "",
                    "customer_name": lambda one: one.customer.name if one.customer else "",
                },
            ),
            Column(
                "coin",
                "Coin",
                _coin,
                {
                    "coin": lambda one: _each(one, "coin"),
                    "network": lambda one: _each(one, "network"),
                },
            ),
            Column(
                "received",
                "Received",
                _received,
                {"received": lambda one: _each(one, "amount")},
                is_number=True,
            ),
            _cents_column("gross", "Gross", "gross_cents", is_default=False),
            _cents_column("fee", "Fee", "fee_cents", is_default=False),
            _cents_column("net", "Net", "net_cents", is_default=True),
            _cents_column("refunded", "Refunded", "refunded_cents", is_default=False),
            _time_column("created", "Created", "created_at", is_default=True),
            _time_column("completed", "Completed", "completed_at"),
            _time_column("expires", "Payable until", "expires_at"),
            Column(
                "id",
                "ID",
                lambda one: format_html('<span class="mono small">{}</span>', one.payment.pk),
                {"mode": lambda one: one.payment.mode, "id": lambda one: one.payment.pk},
                is_default=False,
            ),
        ),
        read,
    )
)
_OF_TAKINGS = frozenset({"coin", "received", "gross", "fee", "net", "refunded"})
_OF_CUSTOMERS = frozenset({"customer"})
