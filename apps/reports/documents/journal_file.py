"""A report as a journal of plain text accounting: Beancount, hledger or Ledger.

Amounts are coins, with all their decimals; what they were worth is beside them. It begins with
the opening balances, and ends with the closing ones, which the program itself checks.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from apps.assets.models import DailyRate
from apps.core import money
from apps.reports.documents.csv_file import counted
from apps.reports.labels import kind_label
from apps.reports.models import Report
from apps.reports.postings import DEPOSITS, FEES, NETWORK_FEES, PLATFORM_FEES, BookSide, postings_of
from apps.reports.selectors import AccountAmounts, AssetSums, Extent, asset_sums, lines

_DAY = timedelta(days=1)
_AGAINST = {
    DEPOSITS: "Liabilities:{root}:Deposits",
    "payments": "Income:{root}:Payments",
    "refunds": "Income:{root}:Refunds",
    FEES: "Expenses:{root}:Fees",
    PLATFORM_FEES: "Expenses:{root}:Platform-Fees",
    NETWORK_FEES: "Expenses:{root}:Network-Fees",
    "agents": "Expenses:{root}:Agents",
    "payouts": "Equity:{root}:Payouts",
    "swaps": "Equity:{root}:Swaps",
    "other": "Equity:{root}:Other",
}
# In a comment programs read tags, dates and calculations; what a store wrote is none of them.
_UNREAD = str.maketrans("[]:,", "()..")
OPENING = "Equity:{root}:Opening-Balances"


@dataclass(frozen=True)
class JournalPosting:
    """An account and coins, and what they were worth where that is known."""

    account: str
    amount: str
    asset_id: str
    worth: str = ""


@dataclass(frozen=True)
class Transaction:
    day: date
    description: str
    postings: list[JournalPosting]
    id: str = ""
    details: tuple[tuple[str, str], ...] = ()


class Beancount:
    """Assertions have no tolerance, so that a unit too many is found."""

    def head(self, title: str, currency: str, assets: Iterable[str]) -> str:
        return (
            f"option {_quoted('title')} {_quoted(title)}\n"
            f"option {_quoted('operating_currency')} {_quoted(currency)}\n"
        )

    def opened(self, accounts: Iterable[str], day: date) -> str:
        return "".join(f"{day} open {account}\n" for account in accounts)

    def price(self, day: date, asset_id: str, rate: str, currency: str) -> str:
        return f"{day} price {asset_id} {rate} {currency}\n"

    def transaction(self, one: Transaction) -> str:
        told = [f"\n{one.day} * {_quoted(one.description)}\n"]
        if one.id:
            told.append(f"  movement: {_quoted(one.id)}\n")
        told += [f"  {name}: {_quoted(text)}\n" for name, text in one.details]
        for posting in one.postings:
            told.append(f"  {posting.account}  {posting.amount} {posting.asset_id}\n")
            if posting.worth:
                told.append(f"    book_value: {posting.worth}\n")
        return "".join(told)

    def closing(self, day: date, balances: list[JournalPosting]) -> str:
        """As balance directives, which hold at the beginning of the next day."""
        return "\n" + "".join(
            f"{day + _DAY} balance {one.account} {one.amount} ~ 0 {one.asset_id}\n"
            for one in balances
        )


class Hledger:
    def head(self, title: str, currency: str, assets: Iterable[str]) -> str:
        return f"; {title}\ndecimal-mark .\n"

    def opened(self, accounts: Iterable[str], day: date) -> str:
        return "".join(f"account {account}\n" for account in accounts)

    def price(self, day: date, asset_id: str, rate: str, currency: str) -> str:
        return f'P {day} "{asset_id}" {rate} {currency}\n'

    def transaction(self, one: Transaction) -> str:
        code = f"({one.id}) " if one.id else ""
        told = [f"\n{one.day} * {code}{_plain(one.description)}\n"]
        told += [f"    ; {name}: {_plain(text)}\n" for name, text in one.details]
        for posting in one.postings:
            worth = f"  ; book_value: {posting.worth}" if posting.worth else ""
            told.append(f'    {posting.account}  {posting.amount} "{posting.asset_id}"{worth}\n')
        return "".join(told)

    def closing(self, day: date, balances: list[JournalPosting]) -> str:
        """As postings of nothing, each with the balance that there must be."""
        if not balances:
            return ""
        return f"\n{day} * Closing balances\n" + "".join(
            f'    {one.account}  0 "{one.asset_id}" = {one.amount} "{one.asset_id}"\n'
            for one in balances
        )


class Ledger(Hledger):
    """Its own program takes fewer directives."""

    def head(self, title: str, currency: str, assets: Iterable[str]) -> str:
        named = "".join(f'commodity "{asset_id}"\n' for asset_id in assets)
        return f"; {title}\n{named}"


Journal = Beancount | Hledger
JOURNALS: dict[str, Callable[[], Journal]] = {
    Report.Format.BEANCOUNT: Beancount,
    Report.Format.HLEDGER: Hledger,
    Report.Format.LEDGER: Ledger,
}


def write(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file. `progress` hears now and then how many entries are done."""
    extent = Extent.of(report)
    sums = asset_sums(extent)
    report.lines_total = sum(total.entries for asset in sums for total in asset.sums)
    journal = JOURNALS[report.format]()
    root = "Tillgate" if report.is_live else "Tillgate-Test"
    last = extent.day(extent.ends_at - timedelta(microseconds=1))
    title = f"{report.store.name}, {report.period_from} to {report.period_to}"
    before = report.period_from - _DAY

    def out(text: str) -> None:
        file.write(text.encode())

    out(journal.head(_plain(title), extent.store_currency, [one.asset_id for one in sums]))
    has_own = any(_has_own_wallet(asset) for asset in sums)
    own = {
        account_name(kind, root): kind
        for kind in AccountAmounts._fields
        if has_own or not kind.startswith("own_")
    }
    against = [name.format(root=root) for name in _AGAINST.values()]
    out(journal.opened([*own, *against, OPENING.format(root=root)], before))
    for text in _prices(journal, extent, sums):
        out(text)
    opening = [posting for asset in sums for posting in _balances(asset, asset.opening, own, root)]
    if opening:
        out(journal.transaction(Transaction(before, "Opening balances", opening)))
    for postings in postings_of(counted(lines(extent, sums), progress)):
        out(journal.transaction(_transaction(postings, extent, root)))
    closing = [
        JournalPosting(name, _coins(getattr(asset.closing, kind), asset), asset.asset_id)
        for asset in sums
        for name, kind in own.items()
    ]
    out(journal.closing(last, closing))


def account_name(kind: str, root: str) -> str:
    """`Assets:Tillgate:Available`: what a store has here is its asset."""
    return f"Assets:{root}:" + "-".join(word.capitalize() for word in kind.split("_"))


def _has_own_wallet(asset: AssetSums) -> bool:
    return any(asset.opening.own) or any(total.own_movements for total in asset.sums)


def _balances(
    asset: AssetSums, amounts: AccountAmounts, own: dict[str, str], root: str
) -> Iterator[JournalPosting]:
    """Opening balances, against what isn't earned yet and the opening account."""
    total = 0
    for name, kind in own.items():
        if atomic := getattr(amounts, kind):
            total += atomic
            yield JournalPosting(name, _coins(atomic, asset), asset.asset_id)
    deposits = amounts.held + amounts.own_pending
    for name, atomic in ((_AGAINST[DEPOSITS], deposits), (OPENING, total - deposits)):
        if atomic:
            yield JournalPosting(name.format(root=root), _coins(-atomic, asset), asset.asset_id)


def _coins(atomic: int, asset: AssetSums) -> str:
    return money.decimal_from_atomic(atomic, asset.atomic_decimals, strip=False)


def _transaction(postings: list[BookSide], extent: Extent, root: str) -> Transaction:
    line = postings[0].line
    details = {
        "kind": line.kind,
        "at": line.at.isoformat(),
        "reference": str(line.reference or ""),
        "payment": line.payment_reference,
        "order": line.order_id.translate(_UNREAD),
        "invoice": line.invoice.translate(_UNREAD),
        "tax": line.invoice_tax.translate(_UNREAD),
    }
    return Transaction(
        extent.day(line.at),
        kind_label(line.kind),
        [_posting(one, extent, root) for one in postings if one.amount_atomic],
        str(line.movement_id),
        tuple((name, text) for name, text in details.items() if text),
    )


def _posting(one: BookSide, extent: Extent, root: str) -> JournalPosting:
    line = one.line
    name = (
        account_name(one.account, root) if one.is_entry else _AGAINST[one.account].format(root=root)
    )
    worth = one.book_value_cents
    return JournalPosting(
        name,
        money.decimal_from_atomic(one.amount_atomic, line.atomic_decimals, strip=False),
        line.asset_id,
        "" if worth is None else f"{money.text_from_cents(worth)} {extent.store_currency}",
    )


def _prices(journal: Journal, extent: Extent, sums: list[AssetSums]) -> Iterator[str]:
    """The first rate of each day, in the books' currency."""
    rates = DailyRate.objects.filter(
        asset_id__in=[asset.asset_id for asset in sums],
        currency=extent.store_currency,
        day__gte=extent.first_day,
        day__lte=extent.day(extent.ends_at - timedelta(microseconds=1)),
    ).order_by("day", "asset_id")
    for day, asset_id, rate in rates.values_list("day", "asset_id", "rate"):
        yield journal.price(day, asset_id, money.fraction_text(rate), extent.store_currency)


def _plain(text: str) -> str:
    """On one line, without what begins a comment."""
    return " ".join(text.replace(";", ",").split())


def _quoted(text: str) -> str:
    """A string of Beancount's: in quotes, on one line."""
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'
