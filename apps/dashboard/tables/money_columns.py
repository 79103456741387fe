"""The columns of the lists of payouts, refunds and swaps, and what they show of a page of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_noop

from apps.assets.models import Asset
from apps.chain.networks.families import shown_address
from apps.core import clock, money
from apps.core.money import Fiat
from apps.core.templatetags.tillgate import badge, fiat, shorten
from apps.dashboard.site.views import PageRequest
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.lists import Column, Listing, listing
from apps.dashboard.tables.money_lists import Worth, worth_at, worths_of
from apps.payments.models import Refund
from apps.payouts.models import Payout
from apps.swaps.models import Swap

LABEL_MAX = 40


@dataclass(frozen=True)
class MoneyLine:
    """A row, and what its amount was worth when it was made."""

    row: Any
    worth: Fiat | None


def _lines(rows: Sequence[Any], worths: Sequence[Worth]) -> list[MoneyLine]:
    return [MoneyLine(row, worth.fiat) for row, worth in zip(rows, worths, strict=True)]


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
        gettext_noop("Value"),
        lambda line: (
            list_cells.NONE if line.worth is None else fiat(line.worth.cents, line.worth.currency)
        ),
        {
            "value": lambda line: (
                "" if line.worth is None else money.text_from_cents(line.worth.cents)
            ),
            "currency": lambda line: "" if line.worth is None else line.worth.currency,
        },
        is_number=True,
        on_phone=True,
    )


def _status(noun: str, attribute: str = "status", **more: Callable[[MoneyLine], object]) -> Column:
    """`attribute` is the status as people read it; a file has its own."""
    file = {"status": lambda line: line.row.status, **more}
    return Column(
        "status",
        gettext_noop("Status"),
        lambda line: badge(noun, getattr(line.row, attribute)),
        file,
        on_phone=True,
    )


def _time(key: str, label: str, attribute: str, *, is_default: bool = False) -> Column:
    return Column(
        key,
        label,
        lambda line: list_cells.time(getattr(line.row, attribute)),
        {attribute: lambda line: clock.iso(getattr(line.row, attribute))},
        is_default=is_default,
        on_phone=is_default,
    )


def _hash() -> Column:
    return Column(
        "hash",
        gettext_noop("Transaction"),
        lambda line: _address(line.row.tx_hash) if line.row.tx_hash else list_cells.NONE,
        {"tx_hash": lambda line: line.row.tx_hash or ""},
        is_default=False,
    )


def _id() -> Column:
    return Column(
        "id",
        "ID",
        lambda line: format_html('<span class="mono small">{}</span>', line.row.pk),
        {"mode": lambda line: line.row.mode, "id": lambda line: line.row.pk},
        is_default=False,
    )


def _coin(of: Callable[[Any], Asset]) -> Column:
    return Column(
        "coin",
        gettext_noop("Coin"),
        lambda line: list_cells.coin(of(line.row)),
        {
            "coin": lambda line: of(line.row).coin_symbol,
            "network": lambda line: of(line.row).chain.name,
        },
        is_default=False,
    )


# --- payouts --------------------------------------------------------------------------------------


def read_payouts(
    request: PageRequest, payouts: Sequence[Payout], columns: frozenset[str]
) -> list[MoneyLine]:
    sales = [(payout.asset_id, payout.amount_atomic, payout.created_at) for payout in payouts]
    assets = {payout.asset_id: payout.asset for payout in payouts}
    return _lines(payouts, worths_of(sales, request.access.store.settlement_currency, assets))


def _payout(line: MoneyLine) -> SafeString:
    payout = line.row
    amount = list_cells.amount(payout.amount_atomic, payout.asset)
    return list_cells.row(
        "payout",
        payout.pk,
        amount,
        gettext("Scheduled") if payout.schedule_id else payout.asset.chain.name,
    )


def _destination(payout: Payout) -> str:
    if payout.destination_address:
        return shown_address(payout.destination_address)
    bank = payout.destination
    return (
        gettext("{currency} account ending in {ending}").format(
            currency=bank.currency, ending=bank.account_hint
        )
        if bank is not None
        else ""
    )


def _to(line: MoneyLine) -> SafeString:
    to = _destination(line.row)
    saved = line.row.destination
    text = _address(to) if line.row.destination_address else format_html("{}", to)
    if saved is None or not saved.label:
        return text
    label = Truncator(saved.label).chars(LABEL_MAX)
    return format_html('<bdi>{}</bdi><br><span class="small muted">{}</span>', label, text)


PAYOUTS = listing(
    Listing(
        "payouts",
        (
            Column(
                "amount",
                gettext_noop("Amount"),
                _payout,
                {
                    "amount": lambda line: _text(line.row.amount_atomic, line.row.asset),
                    "asset": lambda line: line.row.asset_id,
                },
            ),
            _value(),
            Column(
                "to",
                gettext_noop("To"),
                _to,
                {
                    "destination": lambda line: _destination(line.row),
                    "destination_name": lambda line: (
                        line.row.destination.label if line.row.destination else ""
                    ),
                },
                on_phone=True,
                is_wide=True,
            ),
            _status(
                "payout",
                "shown_status",
                failure_reason=lambda line: line.row.failure_reason or "",
            ),
            Column(
                "fee",
                gettext_noop("Network fee"),
                lambda line: (
                    list_cells.amount(line.row.withheld_atomic, line.row.asset)
                    if line.row.withheld_atomic
                    else list_cells.NONE
                ),
                {
                    "network_fee": lambda line: _text(
                        line.row.withheld_atomic or None, line.row.asset
                    )
                },
                is_number=True,
                is_default=False,
            ),
            Column(
                "landed",
                gettext_noop("Received by bank"),
                lambda line: list_cells.cents(
                    line.row.paid_fiat_amount_cents, line.row.fiat_currency or ""
                ),
                {
                    "bank_amount": lambda line: (
                        ""
                        if line.row.paid_fiat_amount_cents is None
                        else money.text_from_cents(line.row.paid_fiat_amount_cents)
                    ),
                    "bank_currency": lambda line: line.row.fiat_currency or "",
                },
                is_number=True,
                is_default=False,
            ),
            _coin(lambda row: row.asset),
            _hash(),
            _time("created", gettext_noop("Created"), "created_at", is_default=True),
            _time("submitted", gettext_noop("Sent"), "submitted_at"),
            _id(),
        ),
        read_payouts,
    )
)


# --- refunds --------------------------------------------------------------------------------------

REASONS = {
    Refund.Reason.MERCHANT_REQUESTED: gettext_noop("Requested"),
    Refund.Reason.FAILED_UNDERPAID: gettext_noop("Underpaid"),
    Refund.Reason.FAILED_OVERPAID: gettext_noop("Overpaid"),
}


def refund_worth(refund: Refund) -> Fiat | None:
    """At the rate that was locked for its payment."""
    rate = getattr(refund, "locked_rate", None)
    return worth_at(rate, refund.amount_atomic, refund.asset, refund.payment.settlement_currency)


def read_refunds(
    request: PageRequest, refunds: Sequence[Refund], columns: frozenset[str]
) -> list[MoneyLine]:
    return [MoneyLine(refund, refund_worth(refund)) for refund in refunds]


def _refund(line: MoneyLine) -> SafeString:
    payment = line.row.payment
    return list_cells.name(
        "payment",
        payment.pk,
        payment.title or payment.reference,
        list_cells.code(payment.reference) if payment.title else "",
    )


REFUNDS = listing(
    Listing(
        "refunds",
        (
            Column(
                "payment",
                gettext_noop("Payment"),
                _refund,
                {
                    "payment_reference": lambda line: line.row.payment.reference,
                    "order_id": lambda line: line.row.payment.order_id or "",
                    "title": lambda line: line.row.payment.title or "",
                },
            ),
            Column(
                "amount",
                gettext_noop("Amount"),
                lambda line: list_cells.amount(line.row.amount_atomic, line.row.asset),
                {
                    "amount": lambda line: _text(line.row.amount_atomic, line.row.asset),
                    "asset": lambda line: line.row.asset_id,
                },
                is_number=True,
                on_phone=True,
            ),
            _value(),
            Column(
                "to",
                gettext_noop("To"),
                lambda line: _address(shown_address(line.row.destination_address)),
                {"destination": lambda line: shown_address(line.row.destination_address)},
            ),
            Column(
                "reason",
                gettext_noop("Reason"),
                lambda line: REASONS[line.row.reason],
                {"reason": lambda line: line.row.reason},
            ),
            _status("refund", failure_reason=lambda line: line.row.failure_reason or ""),
            _coin(lambda row: row.asset),
            _hash(),
            _time("created", gettext_noop("Created"), "created_at", is_default=True),
            _id(),
        ),
        read_refunds,
    )
)


# --- swaps ----------------------------------------------------------------------------------------


def read_swaps(
    request: PageRequest, swaps: Sequence[Swap], columns: frozenset[str]
) -> list[MoneyLine]:
    sales = [(swap.source_asset_id, swap.sell_amount_atomic, swap.created_at) for swap in swaps]
    assets = {swap.source_asset_id: swap.source_asset for swap in swaps}
    return _lines(swaps, worths_of(sales, request.access.store.settlement_currency, assets))


def _sold(line: MoneyLine) -> SafeString:
    swap = line.row
    amount = list_cells.amount(swap.sell_amount_atomic, swap.source_asset)
    return list_cells.row(
        "swap",
        swap.pk,
        amount,
        gettext("Automatic") if swap.is_automatic else swap.source_asset.chain.name,
    )


def _bought(line: MoneyLine) -> SafeString:
    swap = line.row
    if swap.actual_buy_amount_atomic is not None:
        return list_cells.amount(swap.actual_buy_amount_atomic, swap.buy_asset)
    if swap.status == Swap.Status.FAILED:
        return list_cells.NONE
    return format_html(
        '<span class="muted">≈</span> {}',
        list_cells.amount(swap.expected_buy_amount_atomic, swap.buy_asset),
    )


SWAPS = listing(
    Listing(
        "swaps",
        (
            Column(
                "sold",
                gettext_noop("Sold"),
                _sold,
                {
                    "sold": lambda line: _text(line.row.sell_amount_atomic, line.row.source_asset),
                    "sold_asset": lambda line: line.row.source_asset_id,
                },
            ),
            _value(),
            Column(
                "bought",
                gettext_noop("Bought"),
                _bought,
                {
                    "bought": lambda line: _text(
                        line.row.actual_buy_amount_atomic, line.row.buy_asset
                    ),
                    "expected": lambda line: _text(
                        line.row.expected_buy_amount_atomic, line.row.buy_asset
                    ),
                    "bought_asset": lambda line: line.row.buy_asset_id,
                },
                is_number=True,
                on_phone=True,
            ),
            _status(
                "swap",
                automatic=lambda line: "yes" if line.row.is_automatic else "no",
                failure_reason=lambda line: line.row.failure_reason or "",
            ),
            _hash(),
            _time("created", gettext_noop("Created"), "created_at", is_default=True),
            _time("completed", gettext_noop("Completed"), "completed_at"),
            _id(),
        ),
        read_swaps,
    )
)
