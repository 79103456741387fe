"""The ledger for other people's programs: every movement with all its entries, as Beancount's plain
text or as CSV.

Accountants count debits as positive and credits as negative: in Beancount every amount has the
opposite sign of the ledger's.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import IO, NamedTuple

from django.db import connection

from apps.core import money
from apps.core.clock import iso
from apps.core.db.sql import Arguments
from apps.core.db.streams import rows_of
from apps.core.documents import spreadsheet
from apps.ledger import chart
from apps.reports.labels import kind_label
from apps.reports.selectors import midnight

FETCH = 2_000
_PARENTS = {
    chart.CUSTODY_DEPOSITS: "Assets",
    chart.CUSTODY_SIMULATED: "Assets",
    chart.CUSTODY_HOT: "Assets",
    chart.CUSTODY_COLD: "Assets",
    chart.OFFRAMP_CLEARING: "Assets",
    chart.SWAP_CLEARING: "Assets",
    chart.WITHDRAWAL_CLEARING: "Liabilities",
    chart.X402_CLEARING: "Liabilities",
    chart.SERVICE_FEES: "Income",
    chart.NETWORK_FEES: "Expenses",
    chart.TREASURY: "Equity",
}
CSV_COLUMNS = (
    "at",
    "mode",
    "movement_id",
    "key",
    "kind",
    "description",
    "reference",
    "reason",
    "entry_id",
    "store",
    "account",
    "role",
    "asset",
    "amount_atomic",
    "amount",
)


@dataclass(frozen=True)
class ExportScope:
    """Scope of an export: one store or all, one mode or both, from the first to the last day, both
    included."""

    store_id: uuid.UUID | None = None
    mode: str = ""
    first: date | None = None
    last: date | None = None

    def arguments(self) -> Arguments:
        starts = None if self.first is None else midnight(self.first)
        return {"store": self.store_id, "mode": self.mode, "starts": starts, "ends": self.ends}

    @property
    def ends(self) -> datetime | None:
        return None if self.last is None else midnight(self.last + timedelta(days=1))


class BookRow(NamedTuple):
    """An entry with its movement."""

    at: datetime
    mode: str
    movement_id: int
    key: str
    kind: str
    reference: uuid.UUID | None
    reason: str
    entry_id: int
    store_id: uuid.UUID | None
    account: str
    role: str
    asset_id: str
    atomic_decimals: int
    amount_atomic: int

    @property
    def amount(self) -> str:
        return money.decimal_from_atomic(self.amount_atomic, self.atomic_decimals)


@dataclass
class ExportTally:
    """Totals of an export: counts, and the sum per account."""

    movements: int = 0
    entries: int = 0
    balances: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    decimals: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, asset_id: str, decimals: int, amount: int) -> None:
        self.balances[name, asset_id] += amount
        self.decimals[asset_id] = decimals

    def sums_atomic(self) -> dict[str, str]:
        """By asset: each is 0 when the books balance."""
        assets: dict[str, int] = defaultdict(int)
        for (_, asset_id), amount in self.balances.items():
            assets[asset_id] += amount
        return {asset_id: str(amount) for asset_id, amount in sorted(assets.items())}

    def balances_atomic(self) -> dict[str, str]:
        """By account and asset."""
        return {
            f"{name} {asset_id}": str(amount)
            for (name, asset_id), amount in sorted(self.balances.items())
        }


_SCOPE = """
(%(mode)s = '' OR m.mode = %(mode)s) AND (%(store)s::uuid IS NULL OR EXISTS (
    SELECT 1 FROM ledger_entry x JOIN ledger_account y ON y.id = x.account_id
        WHERE x.movement_id = m.id AND y.store_id = %(store)s))
"""
_ROWS = f"""
SELECT m.at, m.mode, m.id, m.key, m.kind, m.reference, m.reason, e.id, a.store_id, a.kind, e.role,
    e.asset_id, s.atomic_decimals,
       e.amount_atomic
FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id
JOIN assets_asset s ON s.id = e.asset_id
WHERE {_SCOPE} AND (%(starts)s::timestamptz IS NULL OR m.at >= %(starts)s)
    AND (%(ends)s::timestamptz IS NULL OR m.at < %(ends)s)
ORDER BY m.at, m.id, e.id
"""  # noqa: S608  # put together of our own text
_OPENING = f"""
SELECT a.mode, a.store_id, a.kind, a.asset_id, s.atomic_decimals, sum(e.amount_atomic)
FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id
JOIN assets_asset s ON s.id = e.asset_id
WHERE {_SCOPE} AND m.at < %(starts)s GROUP BY 1, 2, 3, 4, 5 HAVING sum(e.amount_atomic) <> 0
    ORDER BY 1, 2, 3, 4
"""  # noqa: S608  # put together of our own text


def rows(query: ExportScope) -> Iterator[BookRow]:
    """Every entry of the movements asked for, whole movements together; of one store's movements
    the service's side too."""
    for row in rows_of(_ROWS, query.arguments(), query.ends):
        yield BookRow._make([*row[:-1], int(row[-1])])


def write_csv(query: ExportScope, file: IO[str]) -> ExportTally:
    tally = ExportTally()
    file.writelines(spreadsheet.lines(CSV_COLUMNS, _cells(query, tally)))
    return tally


def _cells(query: ExportScope, tally: ExportTally) -> Iterator[list[object]]:
    last = None
    for row in rows(query):
        tally.movements += row.movement_id != last
        tally.entries += 1
        last = row.movement_id
        tally.add(
            _account(row.mode, row.store_id, row.account),
            row.asset_id,
            row.atomic_decimals,
            row.amount_atomic,
        )
        of_movement = [
            iso(row.at),
            row.mode,
            row.movement_id,
            row.key,
            row.kind,
            kind_label(row.kind),
            row.reference,
            row.reason,
        ]
        of_entry = [
            row.entry_id,
            row.store_id,
            row.account,
            row.role,
            row.asset_id,
            row.amount_atomic,
            row.amount,
        ]
        yield [*of_movement, *of_entry]


def write_beancount(query: ExportScope, file: IO[str]) -> ExportTally:
    """Opening balances, every movement, and an assertion per account that bean-check verifies
    without a tolerance."""
    tally = ExportTally()
    opened = set[str]()
    file.write('option "title" "Tillgate"\n')
    last = query.last
    if query.first is not None:
        _write_opening(query, file, tally, opened)
    for _, legs in groupby(rows(query), key=lambda row: row.movement_id):
        entries = list(legs)
        last = max(last or entries[0].at.date(), entries[0].at.date())
        _write_movement(entries, file, tally, opened)
    if last is not None:
        file.write("\n")
        for (name, asset_id), amount in sorted(tally.balances.items()):
            balance = _coins(-amount, tally.decimals[asset_id])
            file.write(f"{last + timedelta(days=1)} balance {name} {balance} ~ 0 {asset_id}\n")
    return tally


def _write_opening(query: ExportScope, file: IO[str], tally: ExportTally, opened: set[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_OPENING, query.arguments())
        balances = cursor.fetchall()
    if not balances:
        return
    day = str((query.first or date.max) - timedelta(days=1))
    postings = []
    for mode, store_id, kind, asset_id, decimals, amount in balances:
        name = _account(mode, store_id, kind)
        _open(name, day, file, opened)
        tally.add(name, asset_id, decimals, int(amount))
        postings.append(f"  {name}  {_coins(-int(amount), decimals)} {asset_id}\n")
    file.write(f'\n{day} * "Opening balances"\n' + "".join(postings))


def _write_movement(
    entries: list[BookRow], file: IO[str], tally: ExportTally, opened: set[str]
) -> None:
    first = entries[0]
    day = str(first.at.date())
    names = [_account(row.mode, row.store_id, row.account) for row in entries]
    for name in names:
        _open(name, day, file, opened)
    file.write(f"\n{day} * {_text(kind_label(first.kind))}\n")
    metadata = {
        "key": first.key,
        "kind": first.kind,
        "at": iso(first.at),
        "reference": first.reference or "",
        "reason": first.reason,
    }
    file.writelines(f"  {key}: {_text(str(value))}\n" for key, value in metadata.items() if value)
    tally.movements += 1
    for name, row in zip(names, entries, strict=True):
        tally.entries += 1
        tally.add(name, row.asset_id, row.atomic_decimals, row.amount_atomic)
        told_amount = _coins(-row.amount_atomic, row.atomic_decimals)
        file.write(f'  {name}  {told_amount} {row.asset_id}\n    role: "{row.role}"\n')


def _coins(amount_atomic: int, decimals: int) -> str:
    """With all decimals: Beancount tolerates half of the last digit that is written."""
    return money.decimal_from_atomic(amount_atomic, decimals, strip=False)


def _open(name: str, day: str, file: IO[str], opened: set[str]) -> None:
    if name not in opened:
        opened.add(name)
        file.write(f"{day} open {name}\n")


def _account(mode: str, store_id: uuid.UUID | None, kind: str) -> str:
    """`Liabilities:Live:Store-<id>:Available`: what a store holds is owed to it."""
    label = "-".join(word.capitalize() for word in kind.split("_"))
    if store_id is not None:
        return f"Liabilities:{mode.capitalize()}:Store-{store_id}:{label}"
    return f"{_PARENTS[kind]}:{mode.capitalize()}:{label}"


def _text(value: str) -> str:
    """A string of Beancount's: in quotes, on one line."""
    flat = " ".join(value.split())
    return '"' + flat.replace("\\", "\\\\").replace('"', '\\"') + '"'
