"""Merchants of a platform by what they sold in a range of days, in the platform's settlement
currency: a day's volume counts at that day's booked rates.

Those who lead the lists of the range's months and days are compared, and are the best when nobody
who leads none of them can have sold as much; else all merchants are.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from apps.access.access import Access
from apps.assets.models import DailyRate
from apps.core.db.sql import Statement
from apps.payments import sold_sums
from apps.payments.daily_sums import Span
from apps.payments.sold_sums import SOLD, SOLD_BY_LEADERS
from apps.platforms.documents import TopAccount
from apps.stores.models import Store

TOP_MAX = 5
# Of each list, first and then; of many lists fewer, so that not too many are compared.
DEPTHS = (12, 120)
LEADERS_MAX = 2_000
EXACT = Context(prec=60)

# Of those who sold, the ones with the most, by their days.
_BEST = """
best AS (
    SELECT s.store_id, sum(s.cents * CASE s.currency WHEN %(target)s::text THEN 1
        ELSE coalesce(w.factor, 0) END) AS worth
    FROM sold s
    LEFT JOIN unnest(%(currencies)s::text[], %(days)s::date[], %(factors)s::numeric[])
        w(currency, day, factor) ON w.currency = s.currency AND w.day = s.day
    GROUP BY s.store_id HAVING sum(s.payments) <> 0
    ORDER BY 2 DESC, 1 LIMIT (SELECT %(limit)s::int)
)
SELECT s.store_id, s.currency, s.day, sum(s.cents)::bigint"""
_FROM_BEST = "FROM best JOIN sold s ON s.store_id = best.store_id GROUP BY 1, 2, 3"
_BEST_OF_ALL = Statement(f"WITH {SOLD}, {_BEST} {_FROM_BEST}")
# With what anybody else sold at most, and how many lists have more.
_BEST_OF_LEADERS = Statement(f"""
WITH {SOLD_BY_LEADERS}, {_BEST}, (SELECT worth FROM others), (SELECT lists FROM others)
{_FROM_BEST}
""")  # noqa: S608  # our own text

_Sums = dict[Any, Fraction]


def extent_of(access: Access, span: Span) -> Mapping[str, Any]:
    return {"platform_id": access.store_id, "mode": access.mode, **span.arguments()}


def top(access: Access, span: Span, currencies: Iterable[str]) -> list[TopAccount]:
    """The merchants with the most volume, shown and ranked in the platform's settlement currency:
    ranked where the sums are, by rates that are exact to more places than any two differ in.
    `currencies` are all in which something was sold."""
    ranking = _Ranking(access, span, sorted(currencies))
    sums = ranking.of_leaders()
    if sums is None:
        sums = ranking.of_all()
    best = sorted(sums.items(), key=lambda pair: (-pair[1], str(pair[0])))
    names = dict(Store.objects.filter(pk__in=list(sums)).values_list("pk", "name"))
    return [
        TopAccount(account_id=str(pk), name=names[pk], amount_cents=round(cents))
        for pk, cents in best
    ]


class _Ranking:
    def __init__(self, access: Access, span: Span, currencies: list[str]) -> None:
        self.currencies = currencies
        self.first = min([span.first_whole, *span.edges])
        self.last = max([span.last_whole, *span.edges])
        self.is_of_whole_days = not span.edges
        self.rates = Rates(access.store.settlement_currency, currencies)
        self.factors = {
            (currency, day): factor
            for currency, day, factor in self.rates.weights(self.first, self.last)
        }
        self.question = {
            **extent_of(access, span),
            "target": self.rates.target,
            "currencies": [currency for currency, _ in self.factors],
            "days": [day for _, day in self.factors],
            "factors": list(self.factors.values()),
            "limit": TOP_MAX,
        }

    def of_all(self) -> _Sums:
        return self._sums(_BEST_OF_ALL.rows(**self.question))

    def of_leaders(self) -> _Sums | None:
        """None when somebody who leads no list may be among the best."""
        newest = sold_sums.newest_day()
        lists = [
            (entry, currency)
            for entry in sold_sums.lists_of(self.first, self.last, newest)
            for currency in self.currencies
        ]
        question = {
            **self.question,
            "first": self.first,
            "last": self.last,
            "spans": [entry.span for entry, _ in lists],
            "span_days": [entry.day for entry, _ in lists],
            "span_currencies": [currency for _, currency in lists],
            "span_weights": [self._weight(entry, currency) for entry, currency in lists],
        }
        is_order = len(lists) == 1 and self.is_of_whole_days and self._is_exact(lists[0][0])
        for depth in DEPTHS:
            if depth * len(lists) > LEADERS_MAX:
                break
            rows = _BEST_OF_LEADERS.rows(**question, depth=depth)
            sums = self._sums([row[:4] for row in rows])
            # The newest days may have moved on before the lists were read.
            if rows and sold_sums.newest_day() == newest:
                worth, longer = Fraction(rows[0][4]), rows[0][5]
                least = min(sums.values()) if len(sums) == TOP_MAX else Fraction(-1)
                if not longer or least > worth or (is_order and least == worth):
                    return sums
        return None

    def _weight(self, entry: sold_sums.SoldList, currency: str) -> Decimal:
        """The most that a cent was worth on a day of the list."""
        if currency == self.rates.target:
            return Decimal(1)
        return max(self.factors.get((currency, day), Decimal(0)) for day in entry.days)

    def _is_exact(self, entry: sold_sums.SoldList) -> bool:
        """True if what the list has is what the range has, so that its order is the ranking's."""
        days = entry.days
        if entry.span is None:
            return True
        if entry.span == sold_sums.RECENT:
            return len(days) == sold_sums.RECENT_DAYS
        return days[0].day == 1 and (days[-1] + timedelta(days=1)).day == 1

    def _sums(self, rows: Iterable[tuple[Any, ...]]) -> _Sums:
        sums: _Sums = defaultdict(Fraction)
        for store_id, currency, day, cents in rows:
            sums[store_id] += self.rates.converted(cents, currency, day)
        return sums


class Rates:
    """Rates between currencies on a day, through the booked rates of one coin."""

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

    def weights(self, first: date, last: date) -> Iterator[tuple[str, date, Decimal]]:
        """Value of a cent of each other currency, by the days between."""
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
