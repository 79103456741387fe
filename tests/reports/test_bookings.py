"""Sums over a statement: they are the sums of its lines, to the cent and the atomic unit, and lead
to the ledger's balance."""

import random
import uuid
from collections import defaultdict
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.assets.models import DailyRate
from apps.ledger import chart, movements, statements
from apps.ledger.posting import account_id
from apps.ledger.statements import LineFilter, StatementLine
from apps.reports.bookings import BookingSums, EntryValue, bookings_of, sums_of
from tests import make
from tests.cast import Shop
from tests.ledger.books import AT, COIN, Books, open_books

DAYS = 12


def rate(day: int, amount: str) -> None:
    at = AT + timedelta(days=day)
    DailyRate.objects.create(
        asset_id=COIN,
        currency="EUR",
        day=at.date(),
        rate=Decimal(amount),
        source="kraken",
        as_of=at,
    )


def story(books: Books, seed: int) -> None:
    """Deposits, settlements with fees, refunds and payouts, in any order and of any amounts."""
    chance = random.Random(seed)  # of a test
    for day in range(DAYS):
        of_day = {**books.of_store, "at": AT + timedelta(days=day, minutes=chance.randrange(600))}
        for _ in range(chance.randrange(1, 4)):
            payment_id = uuid.uuid4()
            amount = chance.randrange(1_000_000, 9_999_999)
            received = {"deposit_id": uuid.uuid4(), "payment_id": payment_id, "is_simulated": False}
            movements.deposit_confirmed(**of_day, **received, amount_atomic=amount)
            if chance.random() < 0.2:
                continue
            fees = {"service_fee_atomic": amount // 97, "platform_fee_atomic": amount // 211}
            movements.payment_settled(
                **of_day,
                payment_id=payment_id,
                gross_atomic=amount,
                **fees,
                platform_id=books.platform.pk,
            )
            if chance.random() < 0.4:
                refund = {
                    "payment_id": payment_id,
                    "refund_id": uuid.uuid4(),
                    "amount_atomic": amount // 3,
                }
                movements.refund_created(**of_day, **refund, is_from_held=False)
                if chance.random() < 0.5:
                    movements.refund_released(**of_day, **refund, is_to_held=False)
            if chance.random() < 0.4:
                payout = {"payout_id": uuid.uuid4(), "amount_atomic": amount // 5}
                movements.payout_created(**of_day, **payout)
                if chance.random() < 0.5:
                    movements.payout_released(**of_day, **payout)
    own = uuid.uuid4()
    books.deposit(7_000, own, is_own=True)
    movements.payment_settled(
        **books.of_store,
        payment_id=own,
        gross_atomic=7_000,
        service_fee_atomic=70,
        platform_fee_atomic=0,
        is_own=True,
    )


def told(books: Books, kind: str, wanted: LineFilter) -> BookingSums:
    (found,) = sums_of(books.store.pk, books.mode, "EUR", kind, wanted)
    return found


def lines_of(books: Books, kind: str, wanted: LineFilter) -> list[tuple[StatementLine, EntryValue]]:
    account = account_id(books.store.pk, books.mode, COIN, kind)
    lines = statements.page(account, filters=wanted, limit=statements.PAGE_MAX).lines
    found = bookings_of(books.store.pk, books.mode, "EUR", [line.entry_id for line in lines])
    return [(line, found[line.entry_id]) for line in lines]


RANGES = {
    "everything": LineFilter(),
    "days": LineFilter(since=AT + timedelta(days=3), until=AT + timedelta(days=8)),
    "until": LineFilter(until=AT + timedelta(days=5)),
    "kind": LineFilter(kind="payment_settled", since=AT + timedelta(days=2)),
}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sums_are_those_of_the_lines_and_lead_to_the_balance(db: None, seed: int) -> None:
    books = open_books()
    for day, amount in ((1, "0.005"), (4, "0.9345"), (9, "12345.678901")):
        rate(day, amount)
    story(books, seed)
    for name, wanted in RANGES.items():
        for kind in chart.STORE_KINDS:
            sums = told(books, kind, wanted)
            lines = lines_of(books, kind, wanted)
            assert_sums_are_of(lines, sums, f"{name}, {kind}")
            if not wanted.kind:
                assert sums.opening_atomic + sums.net_atomic == sums.closing_atomic
                assert not lines or sums.closing_atomic == lines[0][0].balance_atomic
            if wanted == LineFilter():
                assert (sums.opening_atomic, sums.closing_atomic) == (0, books.balance(kind))


def assert_sums_are_of(
    lines: list[tuple[StatementLine, EntryValue]], sums: BookingSums, title: str
) -> None:
    amounts = [line.amount_atomic for line, _ in lines]
    assert sums.in_atomic == sum(amount for amount in amounts if amount > 0), title
    assert sums.out_atomic == sum(amount for amount in amounts if amount < 0), title
    assert sums.fee_atomic == sum(booking.fee_atomic for _, booking in lines), title
    assert (sums.entries, sums.is_whole) == (len(lines), True), title
    worth: dict[str, int] = defaultdict(int)
    for line, booking in lines:
        value = booking.worth(line.amount_atomic)
        worth[booking.currency] += 0 if value is None else value.cents
    assert sums.worth == worth, title
    fees = sum(booking.fee_cents for _, booking in lines if booking.rate is not None)
    assert sum(sums.fees_worth.values()) == fees, title
    assert sums.unvalued == sum(booking.rate is None for _, booking in lines), title


def test_cents_are_rounded_half_to_even_in_the_database_too(db: None) -> None:
    books = open_books()
    rate(0, "0.5")
    for amount in (10_000, 30_000, 50_000, 70_001, 1):
        books.earn(amount)
    sums = told(books, "available", LineFilter())
    lines = lines_of(books, "available", LineFilter())
    values = [booking.worth(line.amount_atomic) for line, booking in lines]
    assert [value.cents for value in values if value] == [0, 4, 2, 2, 0]
    assert sums.worth == {"EUR": 8}
    held = told(books, "held", LineFilter())
    assert held.worth == {"EUR": 0}, "a negative half is rounded like a positive one"


def test_an_account_with_more_entries_than_are_added_up_tells_no_balances(db: None) -> None:
    books = open_books()
    for _ in range(5):
        books.earn(1_000)
    everything = (books.store.pk, books.mode, "EUR", "available")
    (cut,) = sums_of(*everything, LineFilter(), scan=3)
    assert not cut.is_whole and cut.entries == 3
    (later,) = sums_of(*everything, LineFilter(since=AT + timedelta(days=1)), scan=3)
    assert later.is_whole and later.entries == 0


def test_a_line_of_a_payment_has_its_locked_rate_whatever_coins_are_worth_later(
    bakery: Shop,
) -> None:
    payment = make.paid(bakery.test, amount="20.00", currency="USD")
    locked = Decimal(payment["payment_addresses"][0]["exchange_rate_snapshot"])
    account = account_id(bakery.store.pk, "test", "SETH", "held")
    lines = statements.page(account).lines
    found = bookings_of(bakery.store.pk, "test", "EUR", [line.entry_id for line in lines])
    assert {(item.currency, item.rate) for item in found.values()} == {("USD", locked)}
    assert {
        one.cents for line in lines if (one := found[line.entry_id].worth(line.amount_atomic))
    } == {2000, -2000}


@pytest.mark.parametrize("amount", ["7.50", "34.50", "15.50", "10.49"])
def test_a_net_is_worth_what_the_payments_own_page_says(bakery: Shop, amount: str) -> None:
    """Rounded by itself it would be a cent more than gross less fee, where both are halves."""
    told = make.detail(bakery.test, make.paid(bakery.test, amount=amount)["id"])["financials"]
    account = account_id(bakery.store.pk, "test", "SETH", "available")
    (line,) = statements.page(account).lines
    booking = bookings_of(bakery.store.pk, "test", "EUR", [line.entry_id])[line.entry_id]
    net = booking.worth(line.amount_atomic)

    assert net and booking.fee_worth
    assert [str(net), str(booking.fee_worth)] == [
        f"{told['net_amount']} EUR",
        f"{told['fee_amount']} EUR",
    ]


def test_another_stores_entries_have_no_booking(bakery: Shop) -> None:
    make.paid(bakery.test)
    lines = statements.page(account_id(bakery.store.pk, "test", "SETH", "held")).lines
    assert bookings_of(uuid.uuid4(), "test", "EUR", [line.entry_id for line in lines]) == {}


def test_many_lines_ask_one_question(db: None) -> None:
    books = open_books()
    story(books, 7)
    with CaptureQueriesContext(connection) as asked:
        sums_of(books.store.pk, books.mode, "EUR", "available", LineFilter())
    assert len(asked) == 1
