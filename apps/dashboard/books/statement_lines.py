"""Cells of a statement's line: its kind in words, its purpose with a link, its fee, and its value
when it was booked.

A page of lines asks the same number of questions, however long it is.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext

from apps.agents.models import Settlement
from apps.assets.models import Asset
from apps.core import clock, money
from apps.core.money import Fiat
from apps.dashboard.site.views import PageRequest
from apps.dashboard.tables.cells import cut, ends_of
from apps.ledger.selectors import StoreAccount
from apps.ledger.statements import StatementLine
from apps.payments.models import Payment
from apps.payouts.models import Payout
from apps.platforms.selectors import payments_of_platform
from apps.reports.account_codes import Codes
from apps.reports.bookings import EntryValue, bookings_of
from apps.reports.labels import kind_label
from apps.swaps.models import Swap


class Subject(NamedTuple):
    """A line's subject: in words, its reference or address, a second name, and its page."""

    text: str
    code: str
    more: str
    url: str

    @property
    def below(self) -> str:
        return " · ".join(part for part in (self.code, self.more) if part)


NOTHING = Subject("", "", "", "")


@dataclass(frozen=True)
class ShownLine:
    line: StatementLine
    label: str
    subject: Subject
    booking: EntryValue
    account: StoreAccount
    asset: Asset

    @property
    def worth(self) -> Fiat | None:
        return self.booking.worth(self.line.amount_atomic)

    @property
    def book_worth(self) -> Fiat | None:
        return self.booking.book_worth(self.line.amount_atomic)

    @property
    def own_worth(self) -> Fiat | None:
        """In the payment's own currency, where that isn't the books'."""
        return None if self.booking.currency == self.booking.book_currency else self.worth

    @property
    def fee_worth(self) -> Fiat | None:
        return self.booking.fee_worth if self.booking.fee_atomic else None


def shown(
    request: PageRequest,
    lines: Sequence[StatementLine],
    accounts: Sequence[StoreAccount],
    assets: Mapping[str, Asset],
) -> list[ShownLine]:
    """Each entry in words. Six questions at most, and fewer where nothing is found. `accounts` are
    those that the lines are of, `assets` theirs."""
    access = request.access
    by_id = {item.account_id: item for item in accounts}
    if not lines:
        return []
    currency = access.store.settlement_currency
    bookings = bookings_of(
        access.store_id, access.mode, currency, [item.entry_id for item in lines]
    )
    subjects = _subjects(request, {item.reference for item in lines if item.reference})
    result = []
    for item in lines:
        account = by_id[item.account_id]
        subject = subjects.get(item.reference, NOTHING)
        result.append(
            ShownLine(
                item,
                gettext("Platform fee")
                if _is_platform_fee(item)
                else gettext(kind_label(item.kind)),
                subject,
                bookings[item.entry_id],
                account,
                assets[account.asset_id],
            )
        )
    return result


def _is_platform_fee(line: StatementLine) -> bool:
    """Of a payment of a sub-merchant, which isn't the platform's own."""
    return line.kind == "payment_settled" and line.role == "platform_fee"


def _subjects(
    request: PageRequest, references: "set[uuid.UUID]"
) -> "dict[uuid.UUID | None, Subject]":
    """The store's own payments, payouts, swaps and agents' payments, and those of its
    sub-merchants; what is none of them has no words."""
    subjects: dict[uuid.UUID | None, Subject] = {}
    for rows in (_payments, _payouts, _swaps, _settlements, _payments_of_accounts):
        missing = references - subjects.keys()
        if missing:
            subjects.update(rows(request, missing))
    return subjects


Found = Iterable[tuple[uuid.UUID, Subject]]


def _payments(request: PageRequest, ids: "set[uuid.UUID]") -> Found:
    rows = (
        Payment.objects.visible_to(request.access)
        .filter(pk__in=ids)
        .values_list("pk", "reference", "title", "order_id")
    )
    for id, reference, title, order_id in rows:
        code = reference if title else ""
        yield id, Subject(title or reference, code, cut(order_id or ""), _url("payment", id))


def _payouts(request: PageRequest, ids: "set[uuid.UUID]") -> Found:
    rows = Payout.objects.visible_to(request.access).filter(pk__in=ids)
    names = (
        "pk",
        "destination_address",
        "destination__label",
        "destination__currency",
        "destination__account_hint",
    )
    for id, address, label, currency, hint in rows.values_list(*names):
        wallet = ends_of(address)
        bank = (
            ""
            if address
            else gettext("{currency} account ending in {ending}").format(
                currency=currency, ending=hint
            )
        )
        below = (wallet, bank) if label else ("", "")
        yield (
            id,
            Subject(
                gettext("Payout to {name}").format(name=label or wallet or bank),
                *below,
                _url("payout", id),
            ),
        )


def _swaps(request: PageRequest, ids: "set[uuid.UUID]") -> Found:
    rows = Swap.objects.visible_to(request.access).filter(pk__in=ids)
    for id, source, buy in rows.values_list(
        "pk", "source_asset__coin_symbol", "buy_asset__coin_symbol"
    ):
        yield (
            id,
            Subject(
                gettext("Swap of {sold} to {bought}").format(sold=source, bought=buy),
                "",
                "",
                _url("swap", id),
            ),
        )


def _settlements(request: PageRequest, ids: "set[uuid.UUID]") -> Found:
    rows = Settlement.objects.visible_to(request.access).filter(pk__in=ids)
    for id, mandate_id, agent, pay_to in rows.values_list(
        "pk", "mandate_id", "credential__name", "pay_to"
    ):
        yield id, Subject(agent, pay_to or "", "", _url("mandate", mandate_id))


def _payments_of_accounts(request: PageRequest, ids: "set[uuid.UUID]") -> Found:
    """Sources of a platform's fees: the sub-merchant's payment, with a link."""
    if not request.access.store.is_platform:
        return
    rows = payments_of_platform(request.access).filter(pk__in=ids).order_by()
    page = reverse("dashboard:platform_payments")
    for id, reference, account_id, name in rows.values_list(
        "pk", "reference", "store_id", "store__name"
    ):
        yield id, Subject(name, reference, "", f"{page}?account_id={account_id}")


def _url(page: str, id: uuid.UUID) -> str:
    return reverse(f"dashboard:{page}", args=[str(id)])


CSV_COLUMNS = (
    "at",
    "kind",
    "description",
    "subject",
    "details",
    "role",
    "amount",
    "fee",
    "balance",
    "asset",
    "value",
    "fee_value",
    "currency",
    "rate",
    "rate_source",
    "account",
    "account_code",
    "fee_account_code",
    "reference",
    "book_value",
    "book_fee_value",
    "book_currency",
    "book_rate",
    "book_rate_source",
    "date",
)


def cells(shown_line: ShownLine, codes: Codes, zone: tzinfo) -> list[object]:
    """A line as CSV: every amount a plain decimal, what nobody knows empty. Its date is a day of
    `zone`."""

    def coins(atomic: int) -> str:
        return money.decimal_from_atomic(atomic, shown_line.account.atomic_decimals)

    line = shown_line.line
    booking = shown_line.booking
    account = shown_line.account
    fee = booking.fee_atomic
    rate = booking.rate
    return [
        clock.iso(line.at),
        line.kind,
        shown_line.label,
        shown_line.subject.text,
        shown_line.subject.below,
        line.role,
        coins(line.amount_atomic),
        coins(fee) if fee else "",
        coins(line.balance_atomic),
        account.asset_id,
        _cents(shown_line.worth),
        _cents(shown_line.fee_worth),
        booking.currency,
        "" if rate is None else money.fraction_text(rate),
        booking.rate_source,
        account.kind,
        codes.of(line.kind),
        codes.fees if fee else "",
        line.reference,
        _cents(shown_line.book_worth),
        _cents(booking.book_fee_worth if fee else None),
        booking.book_currency,
        "" if booking.book_rate is None else money.fraction_text(booking.book_rate),
        booking.book_rate_source,
        line.at.astimezone(zone).date(),
    ]


def _cents(worth: Fiat | None) -> str:
    return "" if worth is None else money.text_from_cents(worth.cents)
