"""The figures of a platform: its merchants as they are now; payments, volume and fees of a range of
days (both inclusive; the API's are UTC, those of a page its reader's).

Volumes stay in their currencies. Only the ranking needs one: a day's volume counts at that day's
booked rates.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, timedelta, tzinfo
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from django.db import connection

from apps.access.access import Access
from apps.assets.models import DailyRate
from apps.core.days import Days
from apps.core.db import tenancy
from apps.core.db.replica import reads_may_lag
from apps.core.db.sql import Statement
from apps.core.messages.fields import parse_date
from apps.payments import daily_sums
from apps.payments.daily_sums import AFTER_PLACE, PLACE
from apps.payments.hourly_sums import SOLD
from apps.platforms.documents import (
    FeeEarned,
    PlatformOverviewDocument,
    TopAccount,
    VolumeInCurrency,
)
from apps.platforms.selectors import accounts_of
from apps.stores.models import Store, Verification

DAYS_DEFAULT = 30
DAYS_MAX = 365
TOP_MAX = 5
FIRST_DAY = date(1970, 1, 1)
EXACT = Context(prec=60)

_SOLD = Statement(f"""
WITH {SOLD}
SELECT currency, sum(cents)::bigint, sum(payments)::bigint
FROM sold GROUP BY currency HAVING sum(payments) <> 0
""")  # noqa: S608  # our own text
# The days of the merchants with the most.
_BEST = Statement(f"""
WITH {SOLD}, best AS (
    SELECT s.store_id, sum(s.cents * CASE s.currency WHEN %(target)s::text THEN 1
        ELSE coalesce(w.factor, 0) END) AS worth
    FROM sold s
    LEFT JOIN unnest(%(currencies)s::text[], %(days)s::date[], %(factors)s::numeric[])
        w(currency, day, factor) ON w.currency = s.currency AND w.day = s.day
    GROUP BY s.store_id HAVING sum(s.payments) <> 0
    ORDER BY 2 DESC, 1 LIMIT (SELECT %(limit)s::int)
)
SELECT s.store_id, s.currency, s.day, sum(s.cents)::bigint
FROM best JOIN sold s ON s.store_id = best.store_id GROUP BY 1, 2, 3
""")  # noqa: S608  # our own text


def days_of(first: str | None, last: str | None, today: date, zone: tzinfo = UTC) -> Days:
    """Unreadable days are the defaults; a longer range begins later, one that is turned around is
    its last day."""
    until = max(parse_date(last) or today, FIRST_DAY + timedelta(days=DAYS_MAX))
    since = parse_date(first) or until - timedelta(days=DAYS_DEFAULT - 1)
    return Days(min(max(since, until - timedelta(days=DAYS_MAX - 1)), until), until, zone)


@reads_may_lag("figures of a platform's days")
def overview(access: Access, days: Days) -> PlatformOverviewDocument:
    """What GET /platform/overview answers."""
    span = daily_sums.Span.of(days.begin, days.end)
    by_currency = sorted(_SOLD.rows(**_extent(access, span)))
    return PlatformOverviewDocument(
        first=days.first.isoformat(),
        last=days.last.isoformat(),
        livemode=access.is_live,
        **_counts(access),
        completed_payments=sum(number for _, _, number in by_currency),
        volume_by_currency=[
            VolumeInCurrency(currency=currency, amount_cents=cents)
            for currency, cents, _ in by_currency
        ],
        platform_fee_earned=fees_earned(access, days),
        top_sub_merchants=_top(access, span, {currency for currency, _, _ in by_currency}),
    )


def _counts(access: Access) -> dict[str, int]:
    accounts = accounts_of(access).order_by()
    pending = Verification.objects.filter(status=Verification.Status.PENDING).values("store_id")
    approved = Verification.objects.filter(status=Verification.Status.APPROVED).values("store_id")
    with tenancy.everyone("a platform may have thousands of accounts"):
        return {
            "sub_merchant_count": accounts.count(),
            "activated_count": accounts.exclude(kyc_confirmed_at=None).count(),
            "verified_count": accounts.filter(pk__in=approved).count(),
            "pending_count": accounts.filter(kyc_confirmed_at=None, pk__in=pending).count(),
        }


# Whole days are read from their sums; of the days that the range begins and ends within, and of
# what is in no sum yet, the entries.
_EARNED = f"""
SELECT a.asset_id, s.atomic_decimals, sum(part.amount)
FROM ledger_account a {PLACE}
JOIN assets_asset s ON s.id = a.asset_id
CROSS JOIN LATERAL (
    SELECT t.platform_fee_atomic AS amount FROM payments_dailysum t
    WHERE t.account_id = a.id AND place.id IS NOT NULL AND t.platform_fees > 0
        AND t.day >= %(first_whole)s AND t.day <= %(last_whole)s
    UNION ALL
    SELECT e.amount_atomic FROM (
        SELECT t.day, min(t.first_id) AS first, max(t.last_id) AS last
        FROM payments_dailysum t WHERE t.account_id = a.id AND t.day = ANY (%(edges)s::date[])
        GROUP BY t.day
    ) span
    JOIN ledger_entry e ON e.account_id = a.id AND e.id >= span.first
        AND e.id <= span.last AND e.id <= place.id AND e.role = 'platform_fee'
    JOIN ledger_movement m ON m.id = e.movement_id AND m.at >= %(begin)s AND m.at <= %(end)s
        AND (m.at AT TIME ZONE 'UTC')::date = span.day
    UNION ALL
    SELECT e.amount_atomic FROM ledger_entry e
    JOIN ledger_movement m ON m.id = e.movement_id AND m.at >= %(begin)s AND m.at <= %(end)s
    WHERE {AFTER_PLACE} AND e.role = 'platform_fee'
) part
WHERE a.store_id = %(store)s AND a.mode = %(mode)s AND a.kind = 'available'
GROUP BY a.asset_id, s.atomic_decimals, s.position ORDER BY s.position, a.asset_id
"""  # noqa: S608  # only fragments of ours are put in


def fees_earned(access: Access, days: Days) -> list[FeeEarned]:
    """Per asset, what the fees brought less what refunds gave back, as the platform's own entries
    say."""
    span = daily_sums.Span.of(days.begin, days.end)
    arguments = {"store": access.store_id, "mode": access.mode, **span.arguments()}
    with connection.cursor() as cursor:
        cursor.execute(_EARNED, arguments)
        rows = cursor.fetchall()
    return [
        FeeEarned(asset_id=asset_id, amount_atomic=str(int(amount)), atomic_decimals=places)
        for asset_id, places, amount in rows
    ]


def _extent(access: Access, span: daily_sums.Span) -> Mapping[str, Any]:
    return {"platform_id": access.store_id, "mode": access.mode, **span.arguments()}


def _top(access: Access, span: daily_sums.Span, currencies: Iterable[str]) -> list[TopAccount]:
    """The merchants with the most volume, told and ranked in the platform's settlement currency:
    ranked where the sums are, by rates that are exact to more places than any two differ in."""
    rates = _Rates(access.store.settlement_currency, currencies)
    weights = list(rates.weights(span))
    rows = _BEST.rows(
        **_extent(access, span),
        target=rates.target,
        currencies=[currency for currency, _, _ in weights],
        days=[day for _, day, _ in weights],
        factors=[factor for _, _, factor in weights],
        limit=TOP_MAX,
    )
    sums: dict[Any, Fraction] = defaultdict(Fraction)
    for store_id, currency, day, cents in rows:
        sums[store_id] += rates.converted(cents, currency, day)
    best = sorted(sums.items(), key=lambda pair: (-pair[1], str(pair[0])))
    names = dict(Store.objects.filter(pk__in=list(sums)).values_list("pk", "name"))
    return [
        TopAccount(account_id=str(pk), name=names[pk], amount_cents=round(cents))
        for pk, cents in best
    ]


class _Rates:
    """What cents of a currency are worth in another on a day, through the booked rates of one
    coin."""

    def __init__(self, target: str, currencies: Iterable[str]) -> None:
        self.target = target
        foreign = set(currencies) - {target}
        self.days: dict[str, list[date]] = defaultdict(list)
        self.rates: dict[str, list[Decimal]] = defaultdict(list)
        if not foreign:
            return
        booked = DailyRate.objects.filter(currency__in=[target, *foreign])
        coin = (
            booked.filter(currency=target)
            .order_by("asset_id")
            .values_list("asset_id", flat=True)
            .first()
        )
        for currency, day, rate in (
            booked.filter(asset_id=coin).order_by("day").values_list("currency", "day", "rate")
        ):
            self.days[currency].append(day)
            self.rates[currency].append(rate)

    def weights(self, span: daily_sums.Span) -> Iterator[tuple[str, date, Decimal]]:
        """What a cent of each other currency is worth, by the days of a range."""
        first = min([span.first_whole, *span.edges])
        last = max([span.last_whole, *span.edges])
        for currency in self.days:
            for number in range((last - first).days + 1):
                day = first + timedelta(days=number)
                worth = self.converted(1, currency, day)
                if currency != self.target:
                    factor = EXACT.divide(Decimal(worth.numerator), Decimal(worth.denominator))
                    yield currency, day, factor

    def converted(self, cents: int, currency: str, day: date) -> Fraction:
        """Without any rate of a currency its volume doesn't count."""
        if currency == self.target:
            return Fraction(cents)
        own = self._on(currency, day)
        other = self._on(self.target, day)
        return Fraction(cents) * Fraction(other) / Fraction(own) if own and other else Fraction(0)

    def _on(self, currency: str, day: date) -> Decimal | None:
        """The last rate that the day knew, else the first there ever was."""
        days = self.days[currency]
        return self.rates[currency][max(0, bisect_right(days, day) - 1)] if days else None
