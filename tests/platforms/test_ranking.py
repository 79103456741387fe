"""The best of a platform's merchants are found among those who lead the lists of its months and
days: the same as by comparing all, and without reading more of eight times the merchants."""

from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from apps.access.access import Access
from apps.assets.models import DailyRate
from apps.core import clock
from apps.payments import sold_sums
from apps.payments.daily_sums import Span
from apps.payments.models import PlatformSum, SoldSpan, SoldSum
from apps.platforms.services import ranking
from apps.platforms.services.overview import days_of
from apps.stores.models import Store
from tests.auditing import found_of
from tests.cast import Cast
from tests.growth.buffers import reading
from tests.whole import usually

# (merchant, day before today, currency, cents)
Sales = list[tuple[int, int, str, int]]


@pytest.fixture
def platform(cast: Cast) -> Store:
    return cast.strangers.store


def today() -> date:
    return clock.real_now().date()


def sell(platform: Store, sales: "Sales") -> None:
    """Sums of merchants that are only numbers."""
    SoldSum.objects.bulk_create(
        SoldSum(
            platform=platform,
            mode="live",
            day=today() - timedelta(days=days),
            store_id=UUID(int=merchant),
            currency=currency,
            payments=1,
            cents=cents,
        )
        for merchant, days, currency, cents in sales
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_soldsum, payments_soldspan, payments_platformsum")


def ranked(
    platform: Store, first: int, last: int, currencies: tuple[str, ...] = ("EUR",)
) -> ranking._Ranking:
    """Of the days from `first` days ago to `last` days ago."""
    begin, end = (today() - timedelta(days=days) for days in (first, last))
    days = days_of(begin.isoformat(), end.isoformat(), end)
    span = Span.of(days.begin, days.end)
    return ranking._Ranking(Access.for_public(platform, "live"), span, list(currencies))


def are_sums_true() -> bool:
    return found_of("sold_spans_true") == []


def book_rates(random: Random) -> None:
    for days in (40, 20, 3):
        for currency in ("EUR", "JPY", "USD"):
            day = today() - timedelta(days=days)
            rate = Decimal(random.randrange(100, 120))
            DailyRate.objects.update_or_create(
                asset_id="ETH",
                currency=currency,
                day=day,
                defaults={"rate": rate, "source": "fixed", "as_of": clock.real_now()},
            )


@pytest.mark.parametrize("seed", range(usually(short=3, whole=20)))
def test_those_who_lead_are_the_best_or_all_are_compared(
    platform: Store, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    book_rates(random)
    monkeypatch.setattr(ranking, "DEPTHS", (5, 15))
    currencies = ("EUR", "JPY", "USD")[: random.choice([1, 2, 3])]
    scale = random.choice([0, 1, 2])  # from merchants that are alike to a few that sell most
    days = {
        (merchant, random.randrange(70), random.choice(currencies)): int(
            random.randrange(1, 6) * 1_000 / (1 + merchant) ** scale
        )
        for merchant in range(1, 60)
        for _ in range(12)
    }
    sell(platform, [(*key, cents) for key, cents in days.items()])
    sold_sums.move_newest_days(today())
    found = 0
    for first, last in ((29, 0), (6, 0), (0, 0), (69, 0), (45, 20), (31, 2)):
        rankings = ranked(platform, first, last, currencies)
        leaders = rankings.of_leaders()
        found += leaders is not None
        assert leaders is None or leaders == rankings.of_all()
    assert found
    assert are_sums_true()


def test_eight_times_the_merchants_read_no_more(platform: Store) -> None:
    """Thirty days of merchants that are alike, and a week of some that sell more than most do."""
    with connection.cursor() as cursor:
        # An index that others' rows, rolled back, made almost a level higher would grow by it here.
        cursor.execute("TRUNCATE payments_soldsum, payments_soldspan, payments_platformsum")
    sold_sums.move_newest_days(today())

    def sold(merchants: range) -> "Sales":
        return [
            (merchant, day, "EUR", 100_000 // merchant if merchant < 40 else 100 + merchant % 50)
            for merchant in merchants
            for day in range(0, 30, 3)
        ]

    spans = ((29, 0), (6, 0))
    read: list[list[int]] = []
    for merchants in (range(1, 125), range(125, 1_000)):
        sell(platform, sold(merchants))
        read.append([])
        for days in spans:
            with reading() as few:
                best = ranked(platform, *days).of_leaders()
            assert best is not None and set(best) == {UUID(int=number) for number in range(1, 6)}
            read[-1].append(sum(few.buffers.values()))
    for days, small, large in zip(spans, *read, strict=True):
        assert large <= 1.3 * small, (days, read)


def test_merchants_that_are_alike_are_told_apart_by_their_newest_days(platform: Store) -> None:
    sold_sums.move_newest_days(today())
    sell(platform, [(n, day, "EUR", 100 + n) for n in range(1, 300) for day in range(0, 30, 5)])

    best = ranked(platform, 29, 0).of_leaders()

    assert best is not None and min(set(best), key=best.__getitem__) == UUID(int=295)


def test_the_newest_days_move_on(platform: Store) -> None:
    """By one, and by more than all of them; also when a sum that leaves them was the only one."""
    sold_sums.move_newest_days(today())
    sell(platform, [(1, 0, "EUR", 5), (1, 29, "EUR", 7), (2, 29, "EUR", 11), (3, -1, "EUR", 13)])
    assert newest() == {1: 12, 2: 11}
    sold_sums.move_newest_days(today() + timedelta(days=1))
    assert newest() == {1: 5, 3: 13} and are_sums_true()
    sold_sums.move_newest_days(today())
    assert newest() == {1: 5, 3: 13}
    sold_sums.move_newest_days(today() + timedelta(days=90))
    assert newest() == {} and are_sums_true()
    assert PlatformSum.objects.count() == 3


def newest() -> dict[int, int]:
    rows: Any = SoldSpan.objects.filter(span=sold_sums.RECENT).values_list("store_id", "cents")
    return {store_id.int: cents for store_id, cents in rows}
