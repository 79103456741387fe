"""A movement as a store's own bookkeeper enters it: its entries, and beside them where the coins
came from or went to, so that each coin sums to zero in units and in the books' currency.

What arrives isn't earned before its payment is settled: what is held is booked against `deposits`,
and a settlement moves it from there to `payments`. What is left of a movement is booked against the
line of its kind.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from apps.core import money
from apps.ledger import chart
from apps.reports.account_codes import line_of
from apps.reports.selectors import ReportLine

DEPOSITS = "deposits"
PLATFORM_FEES = "platform_fees"
# What a posting against these is called; the others have the names of lines.
FEES = "fees"
NETWORK_FEES = "network_fees"
COSTS = {FEES: "service_fee", PLATFORM_FEES: "platform_fee", NETWORK_FEES: "network_fee"}
NOT_EARNED = frozenset({chart.HELD, chart.OWN_PENDING})


class BookSide(NamedTuple):
    """A side of a movement: an entry of the ledger, or the counterpart of the entries. Positive is
    what a bookkeeper of the store debits. `line` is the movement that it belongs to, of its coin;
    worths are None where no rate is known."""

    line: ReportLine
    account: str
    role: str
    amount_atomic: int
    value_cents: int | None
    book_value_cents: int | None
    is_entry: bool

    @property
    def code_line(self) -> str:
        """The kind of line that its account's code is named for."""
        return FEES if self.account == PLATFORM_FEES else self.account


def postings_of(lines: Iterable[ReportLine]) -> Iterator[list[BookSide]]:
    """Movement by movement; lines of one movement are together."""
    for _, group in groupby(lines, key=lambda line: line.movement_id):
        entries = list(group)
        postings = [_entry(line) for line in entries]
        for asset_id in dict.fromkeys(line.asset_id for line in entries):
            postings += _against([line for line in entries if line.asset_id == asset_id])
        yield postings


def _entry(line: ReportLine) -> BookSide:
    worth = (line.value_cents, line.book_value_cents)
    return BookSide(line, line.account, line.role, line.amount_atomic, *worth, is_entry=True)


def _against(lines: list[ReportLine]) -> Iterator[BookSide]:
    """Other side of the entries of one coin."""
    left = [_entry(line) for line in lines]
    held = [posting for posting in left if posting.account in NOT_EARNED]
    if held:
        left.append(_opposite(DEPOSITS, held))
    bearing = next((line for line in lines if _costs(line).keys()), lines[0])
    for account, atomic in _costs(bearing).items():
        left.append(_cost(bearing, account, atomic))
    rest = _opposite(line_of(lines[0].kind), left)
    if rest.amount_atomic or rest.value_cents or rest.book_value_cents:
        left.append(rest)
    yield from left[len(lines) :]


def _costs(line: ReportLine) -> dict[str, int]:
    costs = {
        FEES: line.service_fee_atomic,
        PLATFORM_FEES: line.platform_fee_atomic,
        NETWORK_FEES: line.network_fee_atomic,
    }
    return {account: atomic for account, atomic in costs.items() if atomic}


def _cost(line: ReportLine, account: str, atomic: int) -> BookSide:
    def worth(rate: Decimal | None) -> int | None:
        if rate is None:
            return None
        return money.cents_for_atomic(atomic, rate, line.atomic_decimals)

    worths = (worth(line.rate), worth(line.book_rate))
    return BookSide(line, account, COSTS[account], atomic, *worths, is_entry=False)


def _opposite(account: str, postings: list[BookSide]) -> BookSide:
    values = _total([posting.value_cents for posting in postings])
    books = _total([posting.book_value_cents for posting in postings])
    return BookSide(
        postings[0].line,
        account,
        "principal",
        -sum(posting.amount_atomic for posting in postings),
        None if values is None else -values,
        None if books is None else -books,
        is_entry=False,
    )


def _total(cents: list[int | None]) -> int | None:
    known = [part for part in cents if part is not None]
    return sum(known) if len(known) == len(cents) else None
