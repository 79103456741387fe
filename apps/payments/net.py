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


def _cents(column: str) -> str:
    """Half-even, which PostgreSQL's own rounding isn't."""
    exact = f"s.{column} * k.exchange_rate * power(10::numeric, 2 - c.atomic_decimals)"
    return f"CASE WHEN mod({exact}, 1) = 0.5 THEN 2 * round({exact} / 2) ELSE round({exact}) END"


_NET = Statement(f"""
WITH done AS MATERIALIZED (
    SELECT id, created_at >= %(begin)s AS is_now FROM payments_payment
    WHERE store_id = %(store_id)s AND mode = %(mode)s AND settlement_currency = %(currency)s AND completed_at IS NOT NULL
    AND (created_at BETWEEN %(begin)s AND %(end)s OR created_at BETWEEN %(begin_before)s AND %(end_before)s)
)
SELECT d.is_now, sum({_cents("gross_atomic")} - {_cents("service_fee_atomic")}
    - {_cents("platform_fee_atomic")} - {_cents("refunded_atomic")})
FROM done d CROSS JOIN LATERAL ({SPLITS} WHERE m.reference = d.id GROUP BY m.reference, e.asset_id) s
JOIN payments_paymentaddress k ON k.payment_id = s.reference AND k.asset_id = s.asset_id
JOIN assets_asset c ON c.id = s.asset_id
GROUP BY d.is_now
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
