"""Available funds as lines of a bank's statement in money: each entry by its worth when it was
booked, with the fees of a payment as lines of their own.

A file is in the currency that the report was narrowed to, else in the books'.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from django.utils.translation import gettext_noop

from apps.core import money
from apps.ledger import chart
from apps.ledger.statements import LineFilter
from apps.reports.account_codes import Codes, line_of
from apps.reports.bookings import sums_of
from apps.reports.documents.csv_file import counted
from apps.reports.labels import kind_label
from apps.reports.models import Report
from apps.reports.postings import FEES
from apps.reports.selectors import AssetSums, Extent, ReportLine, asset_sums, lines

EVERY_ENTRY = 2**31


class RateMissing(Exception):
    """Entries whose worth nobody knows can't be written in money. The sentence is the store's."""

    message = gettext_noop(
        "A coin has no known rate in this currency in these days. Choose a format in coins: CSV,"
        " Beancount, hledger or Ledger."
    )

    def __init__(self, asset_id: str, currency: str) -> None:
        super().__init__(self.message)
        self.asset_id, self.currency = asset_id, currency


class BankLine(NamedTuple):
    """`id` stays the same in every file. Amounts are signed: what comes in is positive."""

    id: str
    day: date
    kind: str
    description: str
    cents: int
    coins: str
    asset_id: str
    reference: str
    order_id: str
    code_line: str

    @property
    def details(self) -> str:
        """With the coins, to the last unit."""
        return f"{self.description}: {self.coins} {self.asset_id}"


@dataclass(frozen=True)
class CoinStatement:
    """The account of one coin from its opening to its closing balance."""

    asset_id: str
    atomic_decimals: int
    opening_atomic: int
    closing_atomic: int
    opening_cents: int


@dataclass(frozen=True)
class BankStatement:
    """A report as its bank's statement: the coins, and the lines of them all, oldest first."""

    extent: Extent
    currency: str
    coins: list[CoinStatement]
    sums: list[AssetSums]
    progress: Callable[[int], None]

    @classmethod
    def of(cls, report: Report, progress: Callable[[int], None]) -> "BankStatement":
        extent = Extent.of(report)
        sums = asset_sums(extent)
        report.lines_total = sum(total.entries for asset in sums for total in asset.sums)
        currency = report.currency or report.store.settlement_currency
        before = LineFilter(until=extent.starts_at)
        worth = {
            one.asset_id: one.worth.get(currency, 0) if report.currency else one.book_cents
            for one in sums_of(
                report.store_id,
                report.mode,
                report.store.settlement_currency,
                chart.AVAILABLE,
                before,
                scan=EVERY_ENTRY,
            )
        }
        coins = [
            CoinStatement(
                asset.asset_id,
                asset.atomic_decimals,
                asset.opening.available,
                asset.closing.available,
                worth.get(asset.asset_id, 0),
            )
            for asset in sums
        ]
        return cls(extent, currency, coins, sums, progress)

    def lines(self) -> Iterator[BankLine]:
        """Raises RateMissing."""
        for line in counted(lines(self.extent, self.sums), self.progress):
            if line.account == chart.AVAILABLE:
                yield from self._lines(line)

    def _lines(self, line: ReportLine) -> Iterator[BankLine]:
        """An entry, or a payment and the fees that were taken from it."""
        value, rate = (
            (line.value_cents, line.rate)
            if self.extent.currency
            else (line.book_value_cents, line.book_rate)
        )
        if value is None or rate is None:
            raise RateMissing(line.asset_id, self.currency)
        costs = {
            gettext_noop("Service fee"): ("service", line.service_fee_atomic),
            gettext_noop("Platform fee"): ("platform", line.platform_fee_atomic),
        }
        taken = [
            (label, name, atomic, money.cents_for_atomic(atomic, rate, line.atomic_decimals))
            for label, (name, atomic) in costs.items()
            if atomic and line.role == "net"
        ]
        gross = line.amount_atomic + sum(atomic for _, _, atomic, _ in taken)
        gross_cents = value + sum(cents for _, _, _, cents in taken)
        line_name = line_of(line.kind)
        if gross or gross_cents:
            yield self._line(line, "", kind_label(line.kind), gross, gross_cents, line_name)
        for label, name, atomic, cents in taken:
            yield self._line(line, f"-{name}", label, -atomic, -cents, FEES)

    def _line(
        self, line: ReportLine, part: str, label: str, atomic: int, cents: int, code_line: str
    ) -> BankLine:
        return BankLine(
            f"{line.entry_id}{part}",
            self.extent.day(line.at),
            line.kind,
            label,
            cents,
            money.decimal_from_atomic(atomic, line.atomic_decimals),
            line.asset_id,
            line.payment_reference or str(line.reference or line.movement_id),
            line.order_id,
            code_line,
        )


def code_of(codes: Codes, line: BankLine) -> str:
    return str(getattr(codes, line.code_line))
