"""Sums of hours change nothing that a statement tells of a range: what came in, went out, was taken
as fees and was worth is the same before any account is summed, after some of its entries are, and
after all."""

import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

import pytest
from django.db import connection, transaction

from apps.assets.models import DailyRate
from apps.core import clock
from apps.core.models import RowTurn
from apps.ledger import chart, movements
from apps.ledger.models import Account
from apps.ledger.statements import LineFilter
from apps.reports import hourly_bookings
from apps.reports.bookings import BookingSums, sums_of
from apps.reports.models import HourlyBooking, HourlyBookingPlace
from apps.reports.tasks import sum_bookings
from apps.stores.models import Store
from tests.auditing import found_of
from tests.ledger.books import AT, COIN, Books
from tests.ledger.test_daily_sums import FIRST, sell
from tests.reports.test_bookings import rate, story

HALF_HOUR = timedelta(minutes=30)
RANGES = (
    LineFilter(),
    LineFilter(since=FIRST + timedelta(days=2), until=FIRST + timedelta(days=4)),
    LineFilter(since=FIRST + timedelta(days=2) + HALF_HOUR),
    LineFilter(until=AT + timedelta(days=3) + HALF_HOUR),
    LineFilter(since=AT + HALF_HOUR / 3, until=AT + HALF_HOUR),
    LineFilter(since=AT + timedelta(hours=3), until=AT + timedelta(hours=7)),
    LineFilter(since=AT + timedelta(days=2, hours=-13), until=AT + timedelta(days=4, hours=9)),
    LineFilter(since=AT + timedelta(days=1), until=AT + timedelta(days=5, hours=3)),
    LineFilter(kind="payment_settled", since=FIRST + timedelta(days=1) + HALF_HOUR),
    LineFilter(kind="payout_created"),
    LineFilter(since=AT + timedelta(days=400)),
    LineFilter(until=FIRST - timedelta(days=400)),
)


@pytest.fixture
def sold(committed: Books) -> Iterator[Books]:
    """In two currencies and none, with rates of some days."""
    for day, amount in ((1, "0.005"), (4, "0.9345"), (9, "12345.678901")):
        rate(day, amount)
    sell(committed, 15, Random(2))
    story(committed, 1)
    yield committed
    RowTurn.objects.filter(job=hourly_bookings.TAILS.mark.name).delete()
    HourlyBooking.objects.all().delete()
    HourlyBookingPlace.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM assets_dailyrate WHERE asset_id = %s", [COIN])
        for table in ("payment", "paymentchange", "hourlysum"):
            cursor.execute(
                f"DELETE FROM payments_{table} WHERE store_id = %s", [committed.store.pk]
            )
        cursor.execute("SET session_replication_role = origin")


def told(books: Books, currency: str = "EUR") -> list[BookingSums]:
    return [
        sums
        for kind in chart.STORE_KINDS
        for wanted in RANGES
        for sums in sums_of(books.store.pk, books.mode, currency, kind, wanted)
    ]


def check(books: Books, change: Callable[[], object]) -> None:
    before = told(books)
    change()
    assert told(books) == before
    assert found_of("hourly_bookings_true") == []


def sum_all(books: Books) -> None:
    for account_id in Account.objects.filter(store=books.store).values_list("pk", flat=True):
        with transaction.atomic():
            hourly_bookings.sum_account(account_id)


def summed(books: Books) -> int:
    rows = HourlyBooking.objects.filter(account__store=books.store, is_day=False)
    return sum(rows.values_list("entries", flat=True))


def test_what_is_told_is_the_same_at_every_stage(
    sold: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hourly_bookings, "ENTRIES_AT_ONCE", 20)
    check(sold, lambda: sum_all(sold))
    some = summed(sold)
    monkeypatch.setattr(hourly_bookings, "ENTRIES_AT_ONCE", 50_000)
    check(sold, lambda: sum_all(sold))
    assert summed(sold) > some > 0
    story(sold, 2)
    check(sold, lambda: sum_all(sold))


def test_an_account_of_any_length_is_added_up_whole(sold: Books) -> None:
    everything = (sold.store.pk, sold.mode, "EUR", "available")
    before = sums_of(*everything, LineFilter())
    (cut,) = sums_of(*everything, LineFilter(), scan=5)
    assert not cut.is_whole
    sum_all(sold)

    assert sums_of(*everything, LineFilter(), scan=5) == before
    for _ in range(6):
        sold.earn(10)
    (cut,) = sums_of(*everything, LineFilter(), scan=5)
    assert (cut.is_whole, cut.entries, cut.in_atomic) == (False, 5, 50)


def test_the_job_sums_accounts_with_long_tails_only(
    sold: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.reports.hourly_bookings.sum_bookings.__defaults__", (30,))
    check(sold, sum_bookings)
    kinds = set(HourlyBooking.objects.values_list("account__kind", flat=True))

    assert "available" in kinds and "reserved" not in kinds


def deposit(books: Books, at: datetime) -> None:
    """One for which no rate was locked."""
    movements.deposit_confirmed(
        **{**books.of_store, "at": at},
        deposit_id=uuid.uuid4(),
        payment_id=uuid.uuid4(),
        amount_atomic=77,
        is_simulated=False,
    )


def test_what_may_still_be_valued_otherwise_waits(sold: Books) -> None:
    """Until its day has a rate; what came after it waits behind it."""
    sum_all(sold)
    before = summed(sold)
    now = clock.real_now()
    deposit(sold, now)
    deposit(sold, AT)
    check(sold, lambda: sum_all(sold))
    assert summed(sold) == before

    DailyRate.objects.create(
        asset_id=COIN, currency="EUR", day=now.date(), rate=Decimal(3), source="kraken", as_of=now
    )
    check(sold, lambda: sum_all(sold))
    assert summed(sold) == before + 2


def test_a_store_in_another_currency_is_summed_anew(sold: Books) -> None:
    sum_all(sold)
    Store.objects.filter(pk=sold.store.pk).update(settlement_currency="JPY")
    expected = told(sold, "JPY")
    assert expected != told(sold, "EUR")
    sum_all(sold)

    assert told(sold, "JPY") == expected
    assert set(HourlyBookingPlace.objects.values_list("currency", flat=True)) == {"JPY"}
    assert found_of("hourly_bookings_true") == []
