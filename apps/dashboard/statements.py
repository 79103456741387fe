"""The statement of one account: every entry with its fee, its worth when it was booked and the balance it left, with sums; and its CSV.

Codes of the store's own bookkeeping are named on a page of the settings, and stand in the CSV.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from django.http import FileResponse, Http404, HttpResponse, QueryDict

from apps.assets.selectors import with_chains
from apps.core.literal import parse_date
from apps.dashboard.exports import csv_answer
from apps.dashboard.plumbing import PageRequest, is_htmx, show
from apps.dashboard.statement_lines import CSV_COLUMNS, cells, shown
from apps.ledger import statements
from apps.ledger.selectors import StoreAccount, store_accounts
from apps.reports.account_codes import codes_of
from apps.reports.bookings import SUMMED_MAX, Sums, sums_of
from apps.reports.labels import ACCOUNTS, KINDS, OF_STORES
from apps.reports.selectors import midnight

PER_PAGE, EXPORT_MAX = 25, 50_000


@dataclass(frozen=True)
class Filters:
    """What the address asks for. Unknown accounts and kinds and unreadable dates are left out."""

    asset_id: str = ""
    account: str = ""
    kind: str = ""
    first_day: str = ""
    last_day: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> "Filters":
        account, kind = query.get("account", ""), query.get("kind", "")
        days = [day if parse_date(day) is not None else "" for day in (query.get("from", ""), query.get("to", ""))]
        return cls(query.get("asset", "")[:20], account if account in ACCOUNTS else "", kind if kind in KINDS else "", *days)

    def query(self, **changes: str) -> str:
        asked = {"asset": self.asset_id, "account": self.account, "kind": self.kind, "from": self.first_day, "to": self.last_day, **changes}
        return urlencode({name: value for name, value in asked.items() if value})

    def wanted(self) -> statements.Wanted:
        first, last = parse_date(self.first_day), parse_date(self.last_day)
        until = midnight(last) + timedelta(days=1) if last is not None and last < date.max else None
        return statements.Wanted(self.kind, None if first is None else midnight(first), until)

    @property
    def is_narrowed(self) -> bool:
        return bool(self.kind or self.first_day or self.last_day)


def index(request: PageRequest) -> HttpResponse:
    filters = Filters.of(request.GET)
    access = request.access
    accounts = store_accounts(access.store_id, access.mode)
    chosen = _chosen(accounts, filters)
    page = _page(chosen, filters, request.GET.get("before")) if chosen else statements.Page([], None)
    assets = with_chains({one.asset_id for one in accounts})
    sums = _sums(request, chosen, filters)
    context = {
        "filters": filters,
        "accounts": accounts,
        "assets": [assets[asset_id] for asset_id in dict.fromkeys(one.asset_id for one in accounts)],
        "account_labels": ACCOUNTS,
        "kinds": {kind: KINDS[kind] for kind in KINDS if kind in OF_STORES},
        "chosen": chosen,
        "asset": assets[chosen.asset_id] if chosen else None,
        "lines": shown(request, page.lines),
        "sums": next((one for one in sums if chosen and one.asset_id == chosen.asset_id), None),
        "others": [(one, assets[one.asset_id]) for one in sums if chosen and one.asset_id != chosen.asset_id and one.entries],
        "presets": _presets(filters, access.now().date()),
        "is_first": "before" not in request.GET,
        "newest_query": filters.query(),
        "older_query": filters.query(before=page.older) if page.older else None,
        "summed_max": SUMMED_MAX,
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(request, "dashboard/statements/_rows.html" if part else "dashboard/statements/list.html", context)


def _sums(request: PageRequest, chosen: StoreAccount | None, filters: Filters) -> list[Sums]:
    access = request.access
    if chosen is None:
        return []
    return sums_of(access.store_id, access.mode, access.store.settlement_currency, chosen.kind, filters.wanted())


@dataclass(frozen=True)
class Preset:
    """A range of days, by name."""

    name: str
    query: str
    is_current: bool


def _presets(filters: Filters, today: date) -> list[Preset]:
    this_month = today.replace(day=1)
    quarter = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
    last_month = this_month - timedelta(days=1)
    last_quarter = quarter - timedelta(days=1)
    ranges = {
        "All time": ("", ""),
        "This month": (this_month, today),
        "Last month": (last_month.replace(day=1), last_month),
        "This quarter": (quarter, today),
        "Last quarter": (last_quarter.replace(month=last_quarter.month - 2, day=1), last_quarter),
        "This year": (today.replace(month=1, day=1), today),
        "Last year": (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
    }
    now = (filters.first_day, filters.last_day)
    days = {name: (str(first), str(last)) for name, (first, last) in ranges.items()}
    return [Preset(name, filters.query(**{"from": one[0], "to": one[1]}), one == now) for name, one in days.items()]


def _chosen(accounts: list[StoreAccount], filters: Filters) -> StoreAccount | None:
    """The account asked for, else the first of that asset, else the first of all."""
    of_asset = [one for one in accounts if one.asset_id == filters.asset_id] or ([] if filters.asset_id else accounts)
    return next((one for one in of_asset if one.kind == filters.account), next(iter(of_asset), None))


def _page(chosen: StoreAccount, filters: Filters, before: str | None, limit: int = PER_PAGE) -> statements.Page:
    try:
        return statements.page(chosen.account_id, before=before, wanted=filters.wanted(), limit=limit)
    except ValueError:
        raise Http404 from None


def export(request: PageRequest) -> FileResponse:
    """The filtered statement as CSV, newest first."""
    filters = Filters.of(request.GET)
    chosen = _chosen(store_accounts(request.access.store_id, request.access.mode), filters)
    return csv_answer(request, "statement", CSV_COLUMNS, _rows(request, chosen, filters) if chosen else ())


def _rows(request: PageRequest, chosen: StoreAccount, filters: Filters) -> Iterator[list[object]]:
    before, told, codes = None, 0, codes_of(request.access.store_id)
    while told < EXPORT_MAX:
        page = _page(chosen, filters, before, statements.PAGE_MAX)
        for one in shown(request, page.lines):
            yield cells(one, chosen, codes)
        told += len(page.lines)
        before = page.older
        if before is None:
            return
