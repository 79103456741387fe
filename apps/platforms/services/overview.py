"""The figures of a platform: its merchants as they are now; payments, volume and fees of a range of
days (both inclusive; the API's are UTC, those of a page its reader's).

Volumes stay in their currencies.
"""

from datetime import UTC, date, timedelta, tzinfo

from django.db import connection
from django.db.models import Sum

from apps.access.access import Access
from apps.core.db.replica import reads_may_lag
from apps.core.db.sql import Statement
from apps.core.messages.fields import parse_date
from apps.core.text.days import Days
from apps.payments import daily_sums
from apps.payments.daily_sums import AFTER_PLACE, PLACE
from apps.payments.sold_sums import SOLD_IN_ALL
from apps.platforms.documents import (
    FeeEarned,
    PlatformOverviewDocument,
    VolumeInCurrency,
)
from apps.platforms.services.ranking import extent_of, top
from apps.stores.models import MerchantCount

DAYS_DEFAULT = 30
DAYS_MAX = 365
FIRST_DAY = date(1970, 1, 1)

_SOLD = Statement(f"""
WITH {SOLD_IN_ALL}
SELECT currency, sum(cents)::bigint, sum(payments)::bigint
FROM sold GROUP BY currency HAVING sum(payments) <> 0
""")  # noqa: S608  # our own text


def days_of(first: str | None, last: str | None, today: date, zone: tzinfo = UTC) -> Days:
    """Unreadable days are the defaults; a longer range begins later, one that is turned around is
    its last day."""
    until = max(parse_date(last) or today, FIRST_DAY + timedelta(days=DAYS_MAX))
    since = parse_date(first) or until - timedelta(days=DAYS_DEFAULT - 1)
    return Days(min(max(since, until - timedelta(days=DAYS_MAX - 1)), until), until, zone)


@reads_may_lag("figures of a platform's days")
def overview(access: Access, days: Days) -> PlatformOverviewDocument:
    """Answer of GET /platform/overview."""
    span = daily_sums.Span.of(days.begin, days.end)
    by_currency = sorted(_SOLD.rows(**extent_of(access, span)))
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
        top_sub_merchants=top(access, span, {currency for currency, _, _ in by_currency}),
    )


def _counts(access: Access) -> dict[str, int]:
    """Of active accounts; a platform may have thousands, which are counted where they change."""
    rows = MerchantCount.objects.filter(store_id=access.store_id)
    return rows.aggregate(
        sub_merchant_count=Sum("accounts", default=0),
        activated_count=Sum("activated", default=0),
        verified_count=Sum("verified", default=0),
        pending_count=Sum("pending", default=0),
    )


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
