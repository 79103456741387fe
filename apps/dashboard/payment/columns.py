"""The columns of the list of payments, and what they show of a page of them: three statements,
fewer with fewer columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from apps.core import clock, money
from apps.core.templatetags.tillgate import badge, status_words
from apps.dashboard.site.views import PageRequest
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.lists import Column, Listing, listing
from apps.dashboard.tables.payers import Payer, payers_of
from apps.payments.models import Payment
from apps.payments.proceeds import NOTHING, CoinReceived, Proceeds, proceeds_of


@dataclass(frozen=True)
class PaymentLine:
    """A payment with what came of it and who pays it."""

    payment: Payment
    takings: Proceeds
    payer: Payer | None


def read(
    request: PageRequest, payments: Sequence[Payment], columns: frozenset[str]
) -> list[PaymentLine]:
    takings = proceeds_of(payments) if columns & _OF_TAKINGS else {}
    payers = payers_of(payments) if columns & _OF_CUSTOMERS else {}
    return [
        PaymentLine(payment, takings.get(payment.pk, NOTHING), payers.get(payment.pk))
        for payment in payments
    ]


def _name(line: PaymentLine) -> SafeString:
    payment = line.payment
    order = (
        format_html(gettext("Order {}"), list_cells.cut(payment.order_id))
        if payment.order_id
        else ""
    )
    if not payment.title:
        return list_cells.name("payment", payment.pk, payment.reference, order, is_reference=True)
    below = format_html(
        '<span class="dotted"><span class="mono">{}</span>{}</span>',
        payment.reference,
        format_html("<span>{}</span>", order) if order else "",
    )
    return list_cells.name("payment", payment.pk, payment.title, below)


def status(payment: Payment) -> SafeString:
    is_part = (
        payment.status == Payment.Status.REFUNDED
        and payment.refund_state == Payment.RefundState.PARTIAL
    )
    main = badge("payment", "partially_refunded" if is_part else payment.status)
    if payment.needs_attention:
        return format_html("{} {}", main, badge("attention", payment.needs_attention))
    reason = payment.notable_reason
    return list_cells.two_lines(main, status_words("reason", reason)) if reason else main


def _coin(line: PaymentLine) -> SafeString:
    return list_cells.lines(list_cells.coin(coin.asset) for coin in line.takings.coins)


def _received(line: PaymentLine) -> SafeString:
    return list_cells.lines(
        list_cells.amount(coin.amount_atomic, coin.asset) for coin in line.takings.coins
    )


def _fiat(amount_cents: int | None) -> str:
    return "" if amount_cents is None else money.text_from_cents(amount_cents)


def _whole(coin: CoinReceived) -> str:
    return money.decimal_from_atomic(coin.amount_atomic, coin.asset.atomic_decimals)


def _each(line: PaymentLine, part: str) -> str:
    """Of several coins each, in the same order in every column."""
    parts = {
        "coin": lambda coin: coin.asset.coin_symbol,
        "network": lambda coin: coin.asset.chain.name,
        "amount": _whole,
    }
    return "; ".join(parts[part](coin) for coin in line.takings.coins)


def _cents_column(key: str, label: str, attribute: str, *, is_default: bool) -> Column:
    """Of a sum that takings tell."""
    return Column(
        key,
        label,
        lambda line: list_cells.cents(
            getattr(line.takings, attribute), line.payment.settlement_currency
        ),
        {key: lambda line: _fiat(getattr(line.takings, attribute))},
        is_number=True,
        is_default=is_default,
    )


def _time_column(key: str, label: str, attribute: str, *, is_default: bool = False) -> Column:
    return Column(
        key,
        label,
        lambda line: list_cells.time(getattr(line.payment, attribute)),
        {attribute: lambda line: clock.iso(getattr(line.payment, attribute))},
        is_default=is_default,
        on_phone=is_default,
    )


PAYMENTS = listing(
    Listing(
        "payments",
        (
            Column(
                "payment",
                gettext_noop("Payment"),
                _name,
                {
                    "reference": lambda line: line.payment.reference,
                    "order_id": lambda line: line.payment.order_id,
                    "title": lambda line: line.payment.title,
                },
            ),
            Column(
                "amount",
                gettext_noop("Amount"),
                lambda line: list_cells.cents(
                    line.payment.settlement_amount_cents, line.payment.settlement_currency
                ),
                {
                    "amount": lambda line: money.text_from_cents(
                        line.payment.settlement_amount_cents
                    ),
                    "currency": lambda line: line.payment.settlement_currency,
                },
                is_number=True,
                on_phone=True,
            ),
            Column(
                "status",
                gettext_noop("Status"),
                lambda line: status(line.payment),
                {
                    "status": lambda line: line.payment.status,
                    "state_reason": lambda line: line.payment.state_reason,
                    "refund_state": lambda line: line.payment.refund_state,
                },
                on_phone=True,
            ),
            Column(
                "customer",
                gettext_noop("Customer"),
                lambda line: list_cells.payer(line.payer),
                {
                    "customer_email": lambda line: line.payer.email if line.payer else "",
                    "customer_name": lambda line: line.payer.name if line.payer else "",
                },
            ),
            Column(
                "coin",
                gettext_noop("Coin"),
                _coin,
                {
                    "coin": lambda line: _each(line, "coin"),
                    "network": lambda line: _each(line, "network"),
                },
            ),
            Column(
                "received",
                gettext_noop("Received"),
                _received,
                {"received": lambda line: _each(line, "amount")},
                is_number=True,
                is_default=False,
            ),
            _cents_column("gross", gettext_noop("Gross"), "gross_cents", is_default=False),
            _cents_column("fee", gettext_noop("Fee"), "fee_cents", is_default=True),
            _cents_column("net", gettext_noop("Net"), "net_cents", is_default=True),
            _cents_column("refunded", gettext_noop("Refunded"), "refunded_cents", is_default=False),
            _time_column("created", gettext_noop("Created"), "created_at", is_default=True),
            _time_column("completed", gettext_noop("Completed"), "completed_at"),
            _time_column("expires", gettext_noop("Payable until"), "expires_at"),
            Column(
                "id",
                "ID",
                lambda line: format_html('<span class="mono small">{}</span>', line.payment.pk),
                {"mode": lambda line: line.payment.mode, "id": lambda line: line.payment.pk},
                is_default=False,
            ),
        ),
        read,
    )
)
_OF_TAKINGS = frozenset({"coin", "received", "gross", "fee", "net", "refunded"})
_OF_CUSTOMERS = frozenset({"customer"})
