"""Daily sums change no report: reports and a platform's fees are equal before any account is
summed, after some of its entries are, and after all."""

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, transaction

from apps.access.access import Access
from apps.core.models import RowTurn
from apps.core.text.days import Days
from apps.ledger import movements
from apps.ledger.models import Entry
from apps.payments import daily_sums
from apps.payments.models import DailySum, DailySumPlace, Payment
from apps.payments.tasks import sum_days
from apps.platforms.services.overview import fees_earned
from apps.reports import selectors
from apps.reports.selectors import AssetSums, Extent, ReportLine
from tests.auditing import found_of
from tests.ledger.books import COIN, Books

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 8
MOMENTS = (timedelta(0), timedelta(hours=24, microseconds=-1))
ZONES = ("UTC", "Asia/Kolkata", "America/New_York", "Pacific/Kiritimati")
Told = tuple[list[tuple[list[AssetSums], list[ReportLine]]], list[tuple[tuple[str, str, int], ...]]]


@pytest.fixture
def town(committed: Books) -> Iterator[Books]:
    yield committed
    RowTurn.objects.filter(job=daily_sums.MARK.name).delete()
    DailySum.objects.all().delete()
    DailySumPlace.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for table in ("payment", "paymentchange", "hourlysum"):
            cursor.execute(
                f"DELETE FROM payments_{table} WHERE store_id = %s", [committed.store.pk]
            )
        cursor.execute("SET session_replication_role = origin")


def sell(books: Books, payments: int, random: Random) -> None:
    """Payments in two currencies and none, some of them part of a refund, at moments in any order,
    as clocks of stores are apart."""
    for _ in range(payments):
        at = FIRST + timedelta(days=random.randrange(DAYS))
        at += random.choice([*MOMENTS, timedelta(seconds=random.randrange(86_400))])
        payment_id = uuid.uuid4()
        currency = random.choice(["EUR", "JPY", ""])
        if currency:
            Payment.objects.create(
                id=payment_id,
                store=books.store,
                mode=books.mode,
                created_at=at,
                updated_at=at,
                expires_at=at,
                reference=uuid.uuid4().hex[:16],
                settlement_amount_cents=100,
                settlement_currency=currency,
                customer_pays_fee=False,
                fee_fraction=0,
            )
        of_store = {**books.of_store, "at": at, "payment_id": payment_id}
        amount = random.randrange(100, 10_000)
        movements.deposit_confirmed(
            **of_store, deposit_id=uuid.uuid4(), amount_atomic=amount, is_simulated=False
        )
        movements.payment_settled(
            **of_store,
            gross_atomic=amount,
            service_fee_atomic=1,
            platform_fee_atomic=random.randrange(1, 50),
            platform_id=books.platform.pk,
        )


def reported(books: Books) -> list[tuple[list[AssetSums], list[ReportLine]]]:
    found = []
    for store in (books.store, books.platform):
        for currency in ("", "EUR", "JPY"):
            # Days of UTC, and of zones to the west and the east of it.
            for first, last, hours in (
                (0, DAYS, 0),
                (3, 4, 0),
                (3, 6, 0),
                (DAYS - 1, DAYS + 5, 0),
                (-5, 2, 0),
                (3, 6, -2),
                (3, 4, 5),
                (0, DAYS, 10),
            ):
                begin = FIRST + timedelta(days=first, hours=hours)
                end = FIRST + timedelta(days=last, hours=hours)
                extent = Extent(store.pk, books.mode, currency, "EUR", begin, end)
                sums = selectors.asset_sums(extent)
                found.append((sums, list(selectors.lines(extent, sums))))
    return found


def told(books: Books) -> Told:
    access = Access.for_public(books.platform, books.mode)
    earned = []
    for zone in ZONES:
        for first, last in ((0, DAYS - 1), (2, 2), (2, 5), (-3, 1), (DAYS, DAYS + 9)):
            days = Days(
                (FIRST + timedelta(days=first)).date(),
                (FIRST + timedelta(days=last)).date(),
                ZoneInfo(zone),
            )
            fees = fees_earned(access, days)
            raw = Entry.objects.filter(
                account__store=books.platform,
                role="platform_fee",
                movement__at__gte=days.begin,
                movement__at__lte=days.end,
            ).values_list("amount_atomic", flat=True)
            assert [int(fee.amount_atomic) for fee in fees] == ([sum(raw)] if raw else [])
            earned.append(
                tuple((fee.asset_id, fee.amount_atomic, fee.atomic_decimals) for fee in fees)
            )
    return reported(books), earned


def broken() -> list[str]:
    return [finding.invariant for finding in found_of("daily_sums_true")]


def sum_all() -> None:
    for account_id in Entry.objects.values_list("account_id", flat=True).distinct():
        with transaction.atomic():
            daily_sums.sum_account(account_id)


def check(books: Books, change: Callable[[], object]) -> None:
    before = told(books)
    change()
    assert told(books) == before
    assert broken() == []


def test_what_is_told_is_the_same_at_every_stage(
    town: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(1)
    sell(town, 25, random)
    monkeypatch.setattr(daily_sums, "ENTRIES_AT_ONCE", 20)
    check(town, sum_all)
    assert DailySum.objects.exists()
    check(town, sum_all)
    monkeypatch.setattr(daily_sums, "ENTRIES_AT_ONCE", 50_000)
    sell(town, 10, random)
    check(town, sum_all)
    own = DailySum.objects.filter(account__store=town.store, account__kind="available")
    net = Entry.objects.filter(account__store=town.store, account__kind="available")
    assert sum(own.values_list("amount_atomic", flat=True)) == sum(
        net.values_list("amount_atomic", flat=True)
    )
    sell(town, 5, random)
    assert broken() == []


def test_the_job_sums_accounts_with_long_tails_only(
    town: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.payments.daily_sums.sum_days.__defaults__", (6,))
    sell(town, 4, Random(4))
    check(town, sum_days)
    kinds = set(DailySum.objects.values_list("account__kind", flat=True))
    assert kinds == {"held"}  # each payment comes and goes there: eight entries
    sell(town, 4, Random(5))
    check(town, sum_days)
    assert {"held", "available"} == set(DailySum.objects.values_list("account__kind", flat=True))


def test_what_a_running_transaction_may_still_write_is_in_no_sum(town: Books) -> None:
    sell(town, 2, Random(6))
    sum_all()
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT pg_current_xact_id()")
            sell(town, 3, Random(7))
            sum_all()
            cursor.execute("COMMIT")
    finally:
        other.close()
    held = DailySum.objects.filter(account__store=town.store, account__kind="held")
    assert sum(held.values_list("entries", flat=True)) == 4
    check(town, sum_all)
    assert sum(held.values_list("entries", flat=True)) == 10


def test_a_sum_that_was_changed_is_found(town: Books) -> None:
    sell(town, 3, Random(8))
    sum_all()
    assert broken() == []
    row = DailySum.objects.filter(account__store=town.platform, account__asset_id=COIN)[0]
    DailySum.objects.filter(pk=row.pk).update(platform_fee_atomic=row.platform_fee_atomic + 1)
    assert broken() == ["daily_sums_true"]
