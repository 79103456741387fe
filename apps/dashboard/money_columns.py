"""The columns of the lists of payouts, refunds and swaps, and what they show of a page of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.assets.models import Asset
from apps.chain.addresses import checksummed
from apps.core import clock, money
from apps.core.money import Fiat
from apps.core.templatetags.tillgate import badge, fiat, shorten
from apps.dashboard import cells
from apps.dashboard.lists import Column, Listing, listing
from apps.dashboard.money_lists import Worth, worth_at, worths_of
from apps.dashboard.plumbing import PageRequest
from apps.payments.models import Refund
from apps.payouts.models import Payout
from apps.swaps.models import Swap


@dataclass(frozen=True)
class Line:
    """A row, and what its amount was worth when it was made."""

    row: Any
    worth: Fiat | None


def _lines(rows: Sequence[Any], worths: Sequence[Worth]) -> list[Line]:
    return [Line(row, worth.fiat) for row, worth in zip(rows, worths, strict=True)]


def _text(amount_atomic: int | None, asset: Asset) -> str:
    return (
        ""
        if amount_atomic is None
        else money.decimal_from_atomic(amount_atomic, asset.atomic_decimals)
    )


def _address(text: str) -> SafeString:
    return format_html('<span class="mono" title="{}">{}</span>', text, shorten(text))


def _value() -> Column:
    return Column(
        "value",
        "Value",
        lambda one: cells.NONE if one.worth is None else fiat(one.worth.cents, one.worth.currency),
        {
            "value": lambda one: (
                "" if one.worth is None else money.text_from_cents(one.worth.cents)
            ),
            "currency": lambda one: "" if one.worth is None else one.worth.currency,
        },
        is_number=True,
        on_phone=True,
    )


def _status(noun: str, **more: Callable[[Line], object]) -> Column:
    file = {"status": lambda one: one.row.status, **more}
    return Column("status", "Status", lambda one: badge(noun, one.row.status), file, on_phone=True)


def _time(key: str, label: str, attribute: str, *, is_default: bool = False) -> Column:
    return Column(
        key,
        label,
        lambda one: cells.time(getattr(one.row, attribute)),
        {attribute: lambda one: clock.iso(getattr(one.row, attribute))},
        is_default=is_default,
        on_phone=is_default,
    )


def _hash() -> Column:
    return Column(
        "hash",
        "Transaction",
        lambda one: _address(one.row.tx_hash) if one.row.tx_hash else cells.NONE,
        {"tx_hash": lambda one: one.row.tx_hash or ""},
        is_default=False,
    )


def _id() -> Column:
    return Column(
        "id",
        "ID",
        lambda one: format_html('<span class="mono small">{}</span>', one.row.pk),
        {"mode": lambda one: one.row.mode, "id": lambda one: one.row.pk},
        is_default=False,
    )


def _coin(of: Callable[[Any], Asset]) -> Column:
    return Column(
        "coin",
        "Coin",
        lambda one: cells.coin(of(one.row)),
        {
            "coin": lambda one: of(one.row).coin_symbol,
            "network": lambda one: of(one.row).chain.name,
        },
        is_default=False,
    )


# --- payouts --------------------------------------------------------------------------------------


def read_payouts(
    request: PageRequest, payouts: Sequence[Payout], wanted: frozenset[str]
) -> list[Line]:
    sales = [(one.asset_id, one.amount_atomic, one.created_at) for one in payouts]
    return _lines(payouts, worths_of(sales, request.access.store.settlement_currency))


def _payout(one: Line) -> SafeString:
    payout = one.row
    amount = cells.amount(payout.amount_atomic, payout.asset)
    return cells.row(
        "payout",
        payout.pk,
        amount,
        "Scheduled" if payout.schedule_id else payout.asset.chain.name,
    )


def _destination(payout: Payout) -> str:
    if payout.destination_address:
        return checksummed(payout.destination_address)
    bank = payout.destination
    return f"{bank.currency} account ending in {bank.account_hint}" if bank is not None else ""


def _to(one: Line) -> SafeString:
    to = _destination(one.row)
    saved = one.row.destination
    shown = _address(to) if one.row.destination_address else format_html("{}", to)
    if saved is None or not saved.label:
        return shown
    return format_html(
        '<bdi>{}</bdi><br><span class="small muted">{}</span>', saved.label[:40], shown
    )


PAYOUTS = listing(
    Listing(
        "payouts",
        (
            Column(
                "amount",
                "Amount",
                _payout,
                {
                    "amount": lambda one: _text(one.row.amount_atomic, one.row.asset),
                    "asset": lambda one: one.row.asset_id,
                },
            ),
            _value(),
            Column(
                "to",
                "To",
                _to,
                {
                    "destination": lambda one: _destination(one.row),
                    "destination_name": lambda one: (
                        one.row.destination.label if one.row.destination else ""
                    ),
                },
            ),
            _status("payout", failure_reason=lambda one: one.row.failure_reason or ""),
            Column(
                "fee",
                "Network fee",
                lambda one: (
                    cells.amount(one.row.withheld_atomic, one.row.asset)
                    if one.row.withheld_atomic
                    else cells.NONE
                ),
                {"network_fee": lambda one: _text(one.row.withheld_atomic or None, one.row.asset)},
                is_number=True,
                is_default=False,
            ),
            Column(
                "landed",
                "Received by bank",
                lambda one: cells.cents(
                    one.row.paid_fiat_amount_cents, one.row.fiat_currency or ""
                ),
                {
                    "bank_amount": lambda one: (
                        ""
                        if one.row.paid_fiat_amount_cents is None
                        else money.text_from_cents(one.row.paid_fiat_amount_cents)
                    ),
                    "bank_currency": lambda one: one.row.fiat_currency or "",
                },
                is_number=True,
                is_default=False,
            ),
            _coin(lambda row: row.asset),
            _hash(),
            _time("created", "Created", "created_at", is_default=True),
            _time("submitted", "Sent", "submitted_at"),
            _id(),
        ),
        read_payouts,
    )
)


# --- refunds --------------------------------------------------------------------------------------

REASONS = {
    Refund.Reason.MERCHANT_REQUESTED: "Requested",
    Refund.Reason.FAILED_UNDERPAID: "Underpaid",
    Refund.Reason.FAILED_OVERPAID: "Overpaid",
}


def refund_worth(refund: Refund) -> Fiat | None:
    """At the rate that was locked for its payment."""
    rate = getattr(refund, "locked_rate", None)
    return worth_at(rate, refund.amount_atomic, refund.asset, refund.payment.settlement_currency)


def read_refunds(
    request: PageRequest, refunds: Sequence[Refund], wanted: frozenset[str]
) -> list[Line]:
    return [Line(one, refund_worth(one)) for one in refunds]


def _refund(one: Line) -> SafeString:
    payment = one.row.payment
    return cells.name(
        "payment",
        payment.pk,
        payment.title or payment.reference,
        payment.reference if payment.title else "",
    )


REFUNDS = listing(
    Listing(
        "refunds",
        (
            Column(
                "payment",
                "Payment",
                _refund,
                {
                    "payment_reference": lambda one: one.row.payment.reference,
                    "order_id": lambda one: one.row.payment.order_id or "",
                    "title": lambda one: one.row.payment.title or "",
                },
            ),
            Column(
                "amount",
                "Amount",
                lambda one: cells.amount(one.row.amount_atomic, one.row.asset),
                {
                    "amount": lambda one: _text(one.row.amount_atomic, one.row.asset),
                    "asset": lambda one: one.row.asset_id,
                },
                is_number=True,
                on_phone=True,
            ),
            _value(),
            Column(
                "to",
                "To",
                lambda one: _address(checksummed(one.row.destination_address)),
                {"destination": lambda one: checksummed(one.row.destination_address)},
            ),
            Column(
                "reason",
                "Reason",
                lambda one: REASONS[one.row.reason],
                {"reason": lambda one: one.row.reason},
            ),
            _status("refund", failure_reason=lambda one: one.row.failure_reason or ""),
            _coin(lambda row: row.asset),
            _hash(),
            _time("created", "Created", "created_at", is_default=True),
            _id(),
        ),
        read_refunds,
    )
)


# --- swaps ----------------------------------------------------------------------------------------


def read_swaps(request: PageRequest, swaps: Sequence[Swap], wanted: frozenset[str]) -> list[Line]:
    sales = [(one.source_asset_id, one.sell_amount_atomic, one.created_at) for one in swaps]
    return _lines(swaps, worths_of(sales, request.access.store.settlement_currency))


def _sold(one: Line) -> SafeString:
    swap = one.row
    amount = cells.amount(swap.sell_amount_atomic, swap.source_asset)
    return cells.row(
        "swap", swap.pk, amount, "Automatic" if swap.is_automatic else swap.source_asset.chain.name
    )


def _bought(one: Line) -> SafeString:
    swap = one.row
    if swap.actual_buy_amount_atomic is not None:
        return cells.amount(swap.actual_buy_amount_atomic, swap.buy_asset)
    if swap.status == Swap.Status.FAILED:
        return cells.NONE
    return format_html(
        '<span class="muted">≈</span> {}',
        cells.amount(swap.expected_buy_amount_atomic, swap.buy_asset),
    )


SWAPS = listing(
    Listing(
        "swaps",
        (
            Column(
                "sold",
                "Sold",
                _sold,
                {
                    "sold": lambda one: _text(one.row.sell_amount_atomic, one.row.source_asset),
                    "sold_asset": lambda one: one.row.source_asset_id,
                },
            ),
            _value(),
            Column(
                "bought",
                "Bought",
                _bought,
                {
                    "bought": lambda one: _text(
                        one.row.actual_buy_amount_atomic, one.row.buy_asset
                    ),
                    "expected": lambda one: _text(
                        one.row.expected_buy_amount_atomic, one.row.buy_asset
                    ),
                    "bought_asset": lambda one: one.row.buy_asset_id,
                },
                is_number=True,
                on_phone=True,
            ),
            _status(
                "swap",
                automatic=lambda one: "yes" if one.row.is_automatic else "no",
                failure_reason=lambda one: one.row.failure_reason or "",
            ),
            _hash(),
            _time("created", "Created", "created_at", is_default=True),
            _time("completed", "Completed", "completed_at"),
            _id(),
        ),
        read_swaps,
    )
)
