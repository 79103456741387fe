"""Sums of hours and days change nothing that is read: a summary and a platform's figures are what
the payments say, whatever is in a sum already and however late a payment changes."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import Count, DateTimeField, F, Func, IntegerField, Q, Sum, Value
from django.db.models.functions import TruncDate

from apps.access.access import Access
from apps.assets.models import DailyRate
from apps.core.text.days import Days
from apps.payments import hourly_sums, net
from apps.payments.daily_sums import Span
from apps.payments.documents import summary
from apps.payments.models import HourlySum, Payment, PaymentChange, PaymentNet, SoldSum
from apps.platforms.services import overview, ranking
from tests.auditing import found_of
from tests.cast import Cast
from tests.growth.buffers import reading
from tests.taken_out import committed_cast
from tests.whole import usually

FIRST = datetime(2026, 3, 27, tzinfo=UTC)  # clocks of Europe change within
DAYS = 6
ZONES = ("UTC", "Asia/Kolkata", "Asia/Kathmandu", "Europe/Berlin", "America/New_York")
RANGES = ((0, DAYS - 1), (2, 2), (1, 3), (-3, 1), (DAYS, DAYS + 9))
INVARIANTS = ("hourly_sums_true", "sold_sums_true")


class History:
    """Payments of two merchants of a platform, made and changed at random."""

    def __init__(self, cast: Cast, seed: int) -> None:
        self.random = Random(seed)
        self.platform = cast.strangers.store
        self.stores = [cast.bakery.store, cast.strangers.store]
        self.payments: list[Payment] = []

    def moment(self) -> datetime:
        edges = (0, 3_600, 5_400, 86_399.999999, 84_600, 86_400)
        seconds = self.random.choice([*edges, self.random.random() * 86_400])
        return FIRST + timedelta(days=self.random.randrange(DAYS), seconds=seconds)

    def make(self) -> None:
        at = self.moment()
        payment = Payment.objects.create(
            store=self.random.choice(self.stores),
            mode=self.random.choice(["live", "live", "test"]),
            platform=self.random.choice([self.platform, self.platform, None]),
            created_at=at,
            updated_at=at,
            expires_at=at,
            reference=uuid.uuid4().hex[:16],
            settlement_amount_cents=self.random.randrange(1, 10_000),
            settlement_currency=self.random.choice(["EUR", "JPY", "USD"]),
            customer_pays_fee=False,
            fee_fraction=0,
        )
        self.payments.append(payment)

    def change(self) -> None:
        """On its way to an end, or long after it: refunded, taken back, valued, valued anew."""
        payment = self.random.choice(self.payments)
        payment.status = self.random.choice(["processing", "completed", "expired", "refunded"])
        if payment.status == "completed" and payment.completed_at is None:
            payment.completed_at = self.moment()
        is_valued = payment.completed_at is not None and self.random.random() < 0.7
        payment.reconciliation_due = payment.completed_at is not None and not is_valued
        payment.save()
        if is_valued:
            PaymentNet.objects.update_or_create(
                payment=payment,
                defaults={
                    "store_id": payment.store_id,
                    "mode": payment.mode,
                    "created_at": payment.created_at,
                    "net_cents": self.random.randrange(payment.settlement_amount_cents),
                },
            )

    def remove(self) -> None:
        payment = self.payments.pop(self.random.randrange(len(self.payments)))
        PaymentNet.objects.filter(payment=payment).delete()
        Payment.objects.filter(pk=payment.pk).delete()

    def step(self) -> None:
        chance = self.random.random()
        if chance < 0.4 or not self.payments:
            self.make()
        elif chance < 0.97:
            self.change()
        else:
            self.remove()


def book_rates() -> None:
    """Of days within and before the range, so that no two currencies are worth the same long."""
    for number in (-2, 1, 3):
        for currency, rate in (("EUR", 2_900), ("JPY", 470_000), ("USD", 3_100)):
            at = FIRST + timedelta(days=number)
            DailyRate.objects.create(
                asset_id="ETH",
                currency=currency,
                day=at.date(),
                rate=Decimal(rate * (7 + number)) / 9,
                source="fixed",
                as_of=at,
            )


def ranges(random: Random) -> list[Days]:
    every = [
        Days(
            (FIRST + timedelta(days=first)).date(),
            (FIRST + timedelta(days=last)).date(),
            ZoneInfo(zone),
        )
        for zone in ZONES
        for first, last in RANGES
    ]
    return [every[0], *random.sample(every, usually(short=2, whole=7))]


def summary_by_rows(access: Access, days: Days) -> Any:
    """From the payments themselves, one by one."""
    begins = Value(days.begins, output_field=ArrayField(DateTimeField()))
    number = Func(F("created_at"), begins, function="width_bucket", output_field=IntegerField())
    is_done = Q(completed_at__isnull=False)
    rows = (
        Payment.objects.visible_to(access)
        .filter(created_at__gte=days.begin, created_at__lte=days.end)
        .annotate(number=number)
        .values_list("number", "settlement_currency", "status")
        .annotate(
            orders=Count("id"),
            done=Count("id", filter=is_done),
            cents=Sum("settlement_amount_cents", filter=is_done, default=0),
        )
    )
    groups = [summary._Group(*row) for row in rows]
    return summary._document(groups, days, is_live=access.mode == "live")


def sold_by_rows(access: Access, days: Days) -> tuple[Any, Any]:
    """A platform's volumes, and its merchants by worth, from the payments one by one."""
    paid = Payment.objects.filter(
        platform=access.store,
        mode=access.mode,
        completed_at__gte=days.begin,
        completed_at__lte=days.end,
    )
    volumes = paid.values_list("settlement_currency").annotate(
        Sum("settlement_amount_cents"), Count("id")
    )
    by_currency = sorted((code, int(cents), number) for code, cents, number in volumes)
    rates = ranking.Rates(access.store.settlement_currency, {code for code, _, _ in by_currency})
    worth: dict[Any, Fraction] = defaultdict(Fraction)
    days_of_stores = paid.annotate(day=TruncDate("completed_at", tzinfo=UTC)).values_list(
        "store_id", "settlement_currency", "day"
    )
    for store_id, code, day, cents in days_of_stores.annotate(Sum("settlement_amount_cents")):
        worth[store_id] += rates.converted(int(cents), code, day)
    best = sorted(worth.items(), key=lambda pair: (-pair[1], str(pair[0])))[: ranking.TOP_MAX]
    return by_currency, [(str(pk), round(cents)) for pk, cents in best]


def check(history: History) -> None:
    for days in ranges(history.random):
        for mode in ("live", "test"):
            for store in history.stores:
                access = Access.for_public(store, mode)
                earlier = Days(
                    days.first - timedelta(days=3), days.first - timedelta(days=1), days.zone
                )
                kept = net.kept_net_cents(access, "EUR", days, earlier)
                assert kept == net.net_cents(access, "EUR", days, earlier)
                assert summary.summary_of(access, days) == summary_by_rows(access, days)
            access = Access.for_public(history.platform, mode)
            told = overview.overview(access, days)
            by_currency, best = sold_by_rows(access, days)
            assert told.completed_payments == sum(number for _, _, number in by_currency)
            assert [(line.currency, line.amount_cents) for line in told.volume_by_currency] == [
                (code, cents) for code, cents, _ in by_currency
            ]
            assert [(top.account_id, top.amount_cents) for top in told.top_sub_merchants] == best
    assert broken() == set()


def broken() -> set[str]:
    return {finding.invariant for finding in found_of(*INVARIANTS)}


@pytest.mark.parametrize("seed", range(usually(short=1, whole=3)))
def test_figures_are_those_of_the_payments_at_every_moment(cast: Cast, seed: int) -> None:
    book_rates()
    history = History(cast, seed)
    for steps, at_once in ((25, 7), (15, 10_000), (20, 3)):
        for _ in range(steps):
            history.step()
            if history.random.random() < 0.2:
                hourly_sums._sum(at_once)
        check(history)
        changes = PaymentChange.objects.count()
        assert hourly_sums.sum_hours(at_once) == changes
        assert not PaymentChange.objects.exists()
        check(history)
    assert HourlySum.objects.exists() and SoldSum.objects.exists()


@pytest.fixture
def committed(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    """A cast whose rows other connections see."""
    with django_db_blocker.unblock(), committed_cast() as cast:
        yield cast


def test_a_payment_that_commits_later_is_counted_later(committed: Cast) -> None:
    """Its change has a lower number than those that are summed meanwhile."""
    history = History(committed, 7)
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            sell(history.stores[0], history.platform, 5, cursor)
            history.make()
            hourly_sums.sum_hours()
            assert broken() == set()
            cursor.execute("COMMIT")
    finally:
        other.close()
    assert PaymentChange.objects.count() == 5 and broken() == set()
    hourly_sums.sum_hours()
    assert not PaymentChange.objects.exists() and broken() == set()


def test_a_sum_that_nothing_is_left_of_goes(cast: Cast) -> None:
    history = History(cast, 4)
    for _ in range(30):
        history.step()
    hourly_sums.sum_hours()
    while history.payments:
        history.remove()
    hourly_sums.sum_hours()
    assert not HourlySum.objects.exists() and not SoldSum.objects.exists()


def test_what_is_not_counted_writes_no_change(cast: Cast) -> None:
    history = History(cast, 5)
    history.make()
    hourly_sums.sum_hours()
    history.payments[0].title = "Bread"
    history.payments[0].reconciliation_due = True
    history.payments[0].save()
    assert not PaymentChange.objects.exists()


def test_a_month_is_read_from_its_sums(cast: Cast) -> None:
    """Eight times the payments of the same hours: no more is read, by a store or its platform."""
    stores = [cast.bakery.store, cast.strangers.store]
    last = (FIRST + timedelta(days=29)).date()
    read: list[list[int]] = []
    for store, platform, payments in ((*stores, 1_440), (*reversed(stores), 11_520)):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            sell(store, platform, payments, cursor)
            cursor.execute("SET LOCAL session_replication_role = origin")
        fill(store)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE payments_payment, payments_hourlysum, payments_soldsum")
        access = Access.for_public(store, "live")
        month = [Days(FIRST.date(), last, ZoneInfo(zone)) for zone in ("UTC", "America/New_York")]
        sold = ranking.extent_of(
            Access.for_public(platform, "live"), Span.of(month[0].begin, month[0].end)
        )
        read.append(
            [
                buffers(summary.summary_of, access, month[0]),
                buffers(summary.summary_of, access, month[1]),
                buffers(overview._SOLD.rows, **sold),
            ]
        )
        assert summary.summary_of(access, month[0]).totals.order_count == payments
    few, many = read

    assert all(large <= 1.3 * small for small, large in zip(few, many, strict=True)), read


def buffers(ask: Callable[..., Any], *arguments: Any, **named: Any) -> int:
    with reading() as read:
        ask(*arguments, **named)
    return sum(read.buffers.values())


def test_what_there_was_before_the_sums_is_added_up_once(cast: Cast) -> None:
    """By the migration, whatever has changed since its triggers were made."""
    history = History(cast, 6)
    for _ in range(20):
        history.step()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM payments_paymentchange")
    for _ in range(10):
        history.step()
    for store in history.stores:
        fill(store)
    assert HourlySum.objects.exists() and SoldSum.objects.exists() and broken() == set()
    history.step()
    hourly_sums.sum_hours()
    assert broken() == set()


def fill(store: Any) -> None:
    migration = import_module("apps.payments.migrations.0004_sums_by_hour_so_far")
    with connection.cursor() as cursor:
        cursor.execute(migration.FILL, {"store": store.pk})


def sell(store: Any, platform: Any, payments: int, cursor: Any) -> None:
    """One each hour of a month, and again."""
    cursor.execute(
        """
        INSERT INTO payments_payment (id, store_id, mode, platform_id, created_at, updated_at,
            expires_at, completed_at, reference, status, settlement_amount_cents,
            settlement_currency, customer_pays_fee, fee_fraction, refund_state, metadata,
            line_items, idempotency_caller, reconciliation_due, is_card_funded,
            card_shortfall_bps, needs_attention)
        SELECT gen_random_uuid(), %(store)s, 'live', %(platform)s, at, at, at, at,
            left(md5(%(payments)s::text || n), 16), 'completed', 100, 'EUR', false, 0, 'none',
            '{}', '[]', '', false, false, 0, ''
        FROM generate_series(1, %(payments)s) n CROSS JOIN LATERAL
            (SELECT %(first)s + mod(n, 30 * 24) * interval '1 hour' AS at) t
        """,
        {"store": store.pk, "platform": platform.pk, "payments": payments, "first": FIRST},
    )
