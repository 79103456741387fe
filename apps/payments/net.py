"""What completed payments brought after fees and refunds, over two ranges that are compared: one statement for both.

Each share is valued as a payment's own page does, at the rate that its address locked, half-even to the cent.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from apps.core.models import Viewer
from apps.core.sql import Statement
from apps.ledger.selectors import SPLITS


@dataclass(frozen=True)
class Days:
    """Days of UTC, both inclusive."""

    first: date
    last: date

    @property
    def begin(self) -> datetime:
        return datetime.combine(self.first, time(), UTC)

    @property
    def end(self) -> datetime:
        return datetime.combine(self.last, time.max, UTC)


def _rounded(column: str) -> str:
    """Half-even, which PostgreSQL's own rounding isn't."""
    return f"CASE WHEN mod(x.{column}, 1) = 0.5 THEN 2 * round(x.{column} / 2) ELSE round(x.{column}) END"


# What a unit is worth is worked out once for each coin, and each share once: arithmetic is most of what this costs.
_NET = Statement(f"""
WITH done AS MATERIALIZED (
    SELECT id, created_at >= %(begin)s AS is_now FROM payments_payment
    WHERE store_id = %(store_id)s AND mode = %(mode)s AND settlement_currency = %(currency)s AND completed_at IS NOT NULL
    AND (created_at BETWEEN %(begin)s AND %(end)s OR created_at BETWEEN %(begin_before)s AND %(end_before)s)
), unit AS MATERIALIZED (
    SELECT id, power(10::numeric, 2 - atomic_decimals) AS cents FROM assets_asset
)
SELECT x.is_now, sum({_rounded("gross")} - {_rounded("service_fee")} - {_rounded("platform_fee")} - {_rounded("refunded")})
FROM (
    SELECT d.is_now, s.gross_atomic * r.rate AS gross, s.service_fee_atomic * r.rate AS service_fee,
           s.platform_fee_atomic * r.rate AS platform_fee, s.refunded_atomic * r.rate AS refunded
    FROM done d CROSS JOIN LATERAL ({SPLITS} WHERE m.reference = d.id GROUP BY m.reference, e.asset_id) s
    JOIN payments_paymentaddress k ON k.payment_id = s.reference AND k.asset_id = s.asset_id
    JOIN unit u ON u.id = s.asset_id
    CROSS JOIN LATERAL (SELECT k.exchange_rate * u.cents AS rate OFFSET 0) r
    OFFSET 0
) x
GROUP BY x.is_now
""")  # noqa: S608  # only names of columns are put in


def net_cents(viewer: Viewer, currency: str, now: Days, before: Days) -> tuple[int, int]:
    """Of the payments created in a range, and in the one before; in cents of the currency."""
    rows = _NET.rows(
        store_id=viewer.store_id,
        mode=viewer.mode,
        currency=currency,
        begin=now.begin,
        end=now.end,
        begin_before=before.begin,
        end_before=before.end,
    )
    found = {bool(is_now): int(cents) for is_now, cents in rows}
    return found.get(True, 0), found.get(False, 0)
