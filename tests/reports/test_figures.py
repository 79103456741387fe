"""Figures of a report: every entry once, opening plus entries is closing, each valued at the
rate it was booked with."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from apps.assets.models import Asset, DailyRate
from apps.assets.providers import fixed
from apps.core import clock
from apps.ledger import chart, movements
from apps.ledger.movements.table import MOVEMENTS
from apps.reports import labels
from tests import make
from tests.cast import Shop
from tests.ledger.books import COIN, Books, open_books
from tests.reports.reading import STATEMENT, access_to, made, rows_of

OCTOBER = datetime(2025, 10, 30, 9, tzinfo=UTC)
NOVEMBER = datetime(2025, 11, 2, 12, tzinfo=UTC)
MONTH = ("2025-11-01", "2025-11-30")
UNIT = Decimal(10) ** 6


@pytest.fixture
def books(db: None) -> Books:
    """Deposits before, within and after November, a settlement and a refund within."""
    books = open_books()
    refunded = uuid.uuid4()
    before, within, after = (
        {**books.of_store, "at": at} for at in (OCTOBER, NOVEMBER, NOVEMBER + timedelta(days=40))
    )
    for of_time, amount in ((before, 7_000_001), (within, 5_000_003), (within, 1), (after, 900)):
        movements.deposit_confirmed(
            **of_time,
            deposit_id=uuid.uuid4(),
            payment_id=refunded,
            amount_atomic=amount,
            is_simulated=False,
        )
    fees = {
        "service_fee_atomic": 70_000,
        "platform_fee_atomic": 30_001,
        "platform_id": books.platform.pk,
    }
    movements.payment_settled(**within, payment_id=refunded, gross_atomic=12_000_004, **fees)
    movements.refund_created(
        **within,
        payment_id=refunded,
        refund_id=refunded,
        amount_atomic=2_000_000,
        is_from_held=False,
    )
    return books


def atomic(text: str) -> int:
    return int(Decimal(text) * UNIT)


def test_opening_plus_entries_is_closing_to_the_atomic_unit(books: Books) -> None:
    entries = rows_of(made(access_to(books), *MONTH))
    statement = rows_of(made(access_to(books), *MONTH, STATEMENT))
    balances = {row["kind"]: row for row in statement if row["section"] == "balance"}
    for account in ("available", "held", "reserved"):
        opening, closing = (
            atomic(balances[f"{which}_balance"][account]) for which in ("opening", "closing")
        )
        moved = [atomic(row["amount"]) for row in entries if row["account"] == account]
        assert opening + sum(moved) == closing
        last = [row["balance"] for row in entries if row["account"] == account][-1:]
        assert not last or atomic(last[0]) == closing
    assert {kind: atomic(row["total"]) for kind, row in balances.items()} == {
        "opening_balance": 7_000_001,
        "deposit_confirmed": 5_000_004,
        "payment_settled": -100_001,
        "refund_created": 0,
        "closing_balance": 11_900_004,
    }
    assert [row["amount"] for row in entries] == [
        "5.000003",
        "0.000001",
        "-12.000004",
        "11.900003",
        "-2",
        "2",
    ]
    assert balances["deposit_confirmed"]["count"] == "2"


def test_the_closing_balance_of_all_time_is_the_ledgers(books: Books) -> None:
    statement = rows_of(made(access_to(books), "2025-10-01", "2026-01-31", STATEMENT))
    closing = next(row for row in statement if row["kind"] == "closing_balance")
    told = [atomic(closing[kind]) for kind in chart.STORE_KINDS]
    assert told == books.balances(*chart.STORE_KINDS)


def test_a_platform_reads_what_it_earned(books: Books) -> None:
    of_platform = Books(books.platform, books.store, books.mode)
    rows = rows_of(made(access_to(of_platform), *MONTH))
    assert [(row["kind"], row["role"], row["amount"]) for row in rows] == [
        ("payment_settled", "platform_fee", "0.030001")
    ]


def test_a_range_without_entries_has_no_lines_and_an_unchanged_balance(books: Books) -> None:
    quiet = ("2025-10-31", "2025-10-31")
    assert rows_of(made(access_to(books), *quiet)) == []
    told = rows_of(made(access_to(books), *quiet, STATEMENT))
    assert [(row["kind"], row["total"]) for row in told] == [
        ("opening_balance", "7.000001"),
        ("closing_balance", "7.000001"),
    ]
    assert rows_of(made(access_to(Books(books.platform, books.store)), *quiet, STATEMENT)) == []


def test_days_are_closed_ranges_in_utc(books: Books) -> None:
    first = datetime(2025, 11, 5, tzinfo=UTC)
    last = datetime(2025, 11, 5, 23, 59, 59, 999999, tzinfo=UTC)
    for at in (first - timedelta(microseconds=1), first, last, last + timedelta(microseconds=1)):
        options = {**books.of_store, "at": at, "payment_id": uuid.uuid4()}
        movements.deposit_confirmed(
            **options, deposit_id=uuid.uuid4(), amount_atomic=5, is_simulated=False
        )
    assert [row["at"] for row in rows_of(made(access_to(books), "2025-11-05", "2025-11-05"))] == [
        clock.iso(first),
        clock.iso(last),
    ]


def rate(day: str, amount: str, currency: str = "EUR", source: str = "kraken") -> DailyRate:
    at = datetime.fromisoformat(f"{day}T00:00:07+00:00")
    return DailyRate.objects.create(
        asset_id=COIN, currency=currency, day=day, rate=Decimal(amount), source=source, as_of=at
    )


def test_what_belongs_to_no_payment_is_valued_at_the_newest_rate_of_its_day_or_before(
    books: Books,
) -> None:
    for day, amount in (("2025-10-31", "0.9"), ("2025-11-02", "0.8765"), ("2025-11-03", "7")):
        rate(day, amount)
    row = rows_of(made(access_to(books), *MONTH))[0]
    assert (row["value"], row["currency"], row["rate"], row["rate_source"], row["rate_at"]) == (
        ("4.38", "EUR", "0.8765", "kraken", "2025-11-02T00:00:07.000000Z")
    )


def test_what_was_booked_before_rates_were_kept_has_no_value(books: Books) -> None:
    rate("2025-11-03", "1")
    statement = rows_of(made(access_to(books), *MONTH, STATEMENT))
    assert [
        (row["unit"], row["count"], row["in"], row["out"])
        for row in statement
        if row["section"] == "value"
    ] == [
        ("EUR", "2", "0.00", "0.00"),
        ("EUR", "2", "0.00", "0.00"),
        ("EUR", "2", "0.00", "0.00"),
    ]
    assert {row["value"] for row in rows_of(made(access_to(books), *MONTH))} == {""}


def yesterday(shop: Shop) -> tuple[str, str]:
    """Move the clock on until today is closed; today's date twice."""
    day = shop.access().now().date()
    make.advance(shop.test, 2 * 86400)
    return str(day), str(day)


def test_a_payments_entries_bear_its_locked_rate_and_its_references(bakery: Shop) -> None:
    payment = make.paid(bakery.test, amount="20.00", currency="USD", order_id="=1+1")
    locked = payment["payment_addresses"][0]["exchange_rate_snapshot"]
    days = yesterday(bakery)
    rows = rows_of(made(bakery.access(), *days))
    assert len(rows) == 3
    for row in rows:
        assert Decimal(row["rate"]) == Decimal(locked)
        assert (row["currency"], row["reference"], row["payment_reference"]) == (
            "USD",
            payment["id"],
            payment["reference"],
        )
        assert row["order_id"] == "'=1+1"
    gross = next(row for row in rows if row["role"] == "gross")
    assert Decimal(gross["value"]) == -Decimal("20.00")


def test_a_net_is_its_gross_less_the_fee(bakery: Shop) -> None:
    told = make.detail(bakery.test, make.paid(bakery.test, amount="7.50")["id"])["financials"]
    days = yesterday(bakery)
    values = {row["role"]: row["value"] for row in rows_of(made(bakery.access(), *days))}
    assert (values["gross"], values["net"]) == ("-7.50", told["net_amount"])
    assert (told["net_amount"], told["fee_amount"]) == ("7.42", "0.08")


def test_a_currency_filter_covers_the_payments_priced_in_it(bakery: Shop) -> None:
    for currency in ("EUR", "USD", "USD"):
        make.paid(bakery.test, currency=currency)
    days = yesterday(bakery)
    counts = {
        code: len(rows_of(made(bakery.access(), *days, currency=code)))
        for code in ("", "EUR", "USD", "GBP")
    }
    assert counts == {"": 9, "EUR": 3, "USD": 6, "GBP": 0}
    statement = rows_of(made(bakery.access(), *days, STATEMENT, currency="USD"))
    assert {row["unit"] for row in statement if row["section"] == "value"} == {"USD"}


def test_the_sums_in_money_are_the_sums_of_the_entries(bakery: Shop) -> None:
    for amount in ("10.01", "3.33", "7.77"):
        make.paid(bakery.test, amount=amount)
    days = yesterday(bakery)
    entries = rows_of(made(bakery.access(), *days))
    for told in [
        row for row in rows_of(made(bakery.access(), *days, STATEMENT)) if row["section"] == "value"
    ]:
        values = [Decimal(row["value"]) for row in entries if row["kind"] == told["kind"]]
        assert Decimal(told["in"]) == sum(value for value in values if value > 0)
        assert Decimal(told["net"]) == sum(values) == Decimal(told["in"]) - Decimal(told["out"])
        assert told["count"] == str(len(values))


def test_the_first_rate_of_a_day_is_kept_and_nobody_changes_it(db: None) -> None:
    from django.db import connection, transaction
    from django.db.utils import IntegrityError

    from apps.assets.rates import refresh

    today = clock.real_now().date()
    kept = DailyRate.objects.get(asset_id="SETH", currency="EUR", day=today)
    refresh()
    priced = Asset.objects.filter(coin_symbol__in=[*fixed.IN_DOLLARS, "USDC.e", "pathUSD"]).count()
    assert priced > 40 and DailyRate.objects.filter(day=today).count() == priced * len(fixed.ETHER)
    assert (kept.rate, kept.source) == (Decimal(1800), "fixed")
    for change in ("UPDATE assets_dailyrate SET rate = 1", "DELETE FROM assets_dailyrate"):
        with (
            pytest.raises(IntegrityError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(change)


def test_every_kind_of_movement_and_account_has_plain_words() -> None:
    assert set(MOVEMENTS) == set(labels.KINDS)
    assert set(labels.ACCOUNTS) == set(chart.STORE_KINDS)
    assert all("_" not in words for words in labels.KINDS.values())
