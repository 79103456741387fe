"""Mean rates of the National Bank of Poland (table A), set on each working day: Polish VAT in
another currency is stated in złoty at the last one before the day of the tax."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from apps.core.errors import ErrorCode, ProviderError
from apps.core.outbound.net import get_json

_TIMEOUT_SECONDS = 6.0  # a merchant waits for it
# More than any row of holidays.
_DAYS = 10


class Nbp:
    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")

    def before(self, currency: str, day: date) -> Decimal:
        first, last = day - timedelta(days=_DAYS), day - timedelta(days=1)
        answer = get_json(
            f"{self.base_url}/exchangerates/rates/a/{currency.lower()}/{first}/{last}/",
            {"format": "json"},
            timeout=_TIMEOUT_SECONDS,
        )
        rows = answer.get("rates") if isinstance(answer, dict) else None
        rates = [rate for row in rows or () if (rate := _rate_of(row, first, last)) is not None]
        if not rates:
            raise ProviderError(ErrorCode.MALFORMED, "The National Bank of Poland gave no rate")
        return max(rates)[1]


def _rate_of(row: Any, first: date, last: date) -> tuple[date, Decimal] | None:
    """A day and its rate, None for a row that isn't one."""
    try:
        day, rate = date.fromisoformat(row["effectiveDate"]), Decimal(str(row["mid"]))
    except (ArithmeticError, KeyError, TypeError, ValueError):
        return None
    return (day, rate) if first <= day <= last and rate.is_finite() and rate > 0 else None
