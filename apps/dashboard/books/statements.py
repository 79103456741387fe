"""The statement, of every coin or one: each entry with its fee, its worth when it was booked and
the balance it left; sums, and CSV.

Codes of the store's own bookkeeping are named on a page of the settings, and are in the CSV.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from apps.assets.selectors import with_chains
from apps.billing.tax_report import RateSum, TaxExtent, rate_sums
from apps.billing.taxes.choosing import seller_country
from apps.core.db.replica import reads_may_lag
from apps.core.messages.fields import parse_date
from apps.dashboard.books.statement_lines import CSV_COLUMNS, cells, shown
from apps.dashboard.site.views import Answer, PageRequest, is_htmx, show
from apps.dashboard.tables import days
from apps.dashboard.tables.exports import csv_answer
from apps.ledger import statements
from apps.ledger.selectors import StoreAccount, store_accounts
from apps.payments.selectors import payments_visible_to
from apps.reports.account_codes import codes_of
from apps.reports.bookings import SUMMED_MAX, BookingSums, sums_of
from apps.reports.labels import ACCOUNTS, KINDS, OF_STORES

PER_PAGE = 25
TAXES_DAYS_MAX = timedelta(days=366)


@dataclass(frozen=True)
class StatementFilters:
    """Filters in the address; days are those of `zone`, inclusive. Unknown accounts and kinds and
    unreadable dates are left out."""

    zone: tzinfo

    asset_id: str = ""
    account: str = ""
    kind: str = ""
    first_day: str = ""
    last_day: str = ""

    @classmethod
    def of(cls, query: QueryDict, zone: tzinfo) -> "StatementFilters":
        account = query.get("account", "")
        kind = query.get("kind", "")
        values = [
            day if parse_date(day) is not None else ""
            for day in (query.get("from", ""), query.get("to", ""))
        ]
        return cls(
            zone,
            query.get("asset", "")[:20],
            account if account in ACCOUNTS else "",
            kind if kind in KINDS else "",
            *values,
        )

    def query(self, **changes: str) -> str:
        values = {
            "asset": self.asset_id,
            "account": self.account,
            "kind": self.kind,
            "from": self.first_day,
            "to": self.last_day,
            **changes,
        }
        return urlencode({name: value for name, value in values.items() if value})

    def wanted(self) -> statements.LineFilter:
        first = parse_date(self.first_day)
        last = parse_date(self.last_day)
        since = None if first is None else days.begin(first, self.zone)
        until = None if last is None else days.end(last, self.zone)
        return statements.LineFilter(self.kind, since, until)

    @property
    def is_narrowed(self) -> bool:
        return bool(self.kind or self.first_day or self.last_day)


@dataclass(frozen=True)
class Chosen:
    """The accounts of one kind that are reported together: of every coin, or of the one that is
    asked for."""

    kind: str
    accounts: list[StoreAccount]

    @property
    def asset_id(self) -> str:
        return self.accounts[0].asset_id

    @property
    def is_one(self) -> bool:
        return len(self.accounts) == 1


@dataclass(frozen=True)
class StatementTotal:
    """Worth of several coins together, in the books' currency."""

    entries: int
    cents: int
    fee_cents: int
    unvalued: int
    is_whole: bool


def index(request: PageRequest) -> HttpResponse:
    """Days and times are those of the store, for anyone who reads it."""
    zone = days.zone_of_books(request.access)
    with timezone.override(zone):
        return _index(request, StatementFilters.of(request.GET, zone))


def _index(request: PageRequest, filters: StatementFilters) -> HttpResponse:
    access = request.access
    accounts = store_accounts(access.store_id, access.mode)
    chosen = _chosen(accounts, filters)
    page = (
        _page(chosen, filters, request.GET.get("before"))
        if chosen
        else statements.StatementPage([], None)
    )
    assets = with_chains({item.asset_id for item in accounts})
    sums = _sums(request, chosen, filters)
    shown_assets = {item.asset_id for item in chosen.accounts} if chosen else set()
    by_coin = [
        (item, assets[item.asset_id])
        for item in sums
        if item.asset_id in shown_assets and (item.entries or item.closing_atomic)
    ]
    is_one = chosen is not None and chosen.is_one
    context = {
        "filters": filters,
        "accounts": accounts,
        "has_payments": bool(accounts) or payments_visible_to(access).exists(),
        "assets": [
            assets[asset_id] for asset_id in dict.fromkeys(item.asset_id for item in accounts)
        ],
        "account_labels": {kind: gettext(label) for kind, label in ACCOUNTS.items()},
        "kinds": {kind: gettext(KINDS[kind]) for kind in KINDS if kind in OF_STORES},
        "chosen": chosen,
        "is_one": is_one,
        "asset": assets[chosen.asset_id] if chosen and is_one else None,
        "lines": shown(request, page.lines, chosen.accounts, assets) if chosen else [],
        "sums": next(
            (item for item in sums if chosen and is_one and item.asset_id == chosen.asset_id), None
        ),
        "by_coin": [] if is_one else by_coin,
        "is_totaled": "before" not in request.GET and not page.older and bool(by_coin),
        "total": _total([item for item, _ in by_coin]),
        "book_currency": access.store.settlement_currency,
        "other_coins": [
            (item, assets[item.asset_id])
            for item in sums
            if item.asset_id not in shown_assets and item.entries
        ],
        "taxes": _taxes(request, filters),
        "presets": _presets(filters, days.today(access)),
        "is_first": "before" not in request.GET,
        "newest_query": filters.query(),
        "older_query": filters.query(before=page.older) if page.older else None,
        "summed_max": SUMMED_MAX,
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request,
        "dashboard/statements/_rows.html" if part else "dashboard/statements/list.html",
        context,
    )


def _sums(
    request: PageRequest, chosen: Chosen | None, filters: StatementFilters
) -> list[BookingSums]:
    access = request.access
    if chosen is None:
        return []
    return sums_of(
        access.store_id,
        access.mode,
        access.store.settlement_currency,
        chosen.kind,
        filters.wanted(),
    )


def _taxes(request: PageRequest, filters: StatementFilters) -> list[RateSum]:
    """Taxes of the invoices of the days, above the newest lines of a period of a year at most:
    they belong to no coin and no type of entry."""
    first, last = parse_date(filters.first_day), parse_date(filters.last_day)
    if first is None or last is None or not timedelta() <= last - first < TAXES_DAYS_MAX:
        return []
    if filters.asset_id or filters.kind or "before" in request.GET:
        return []
    access = request.access
    now = access.now()
    ends_at = min(days.end(last, filters.zone) or now, now)
    extent = TaxExtent(access.store_id, access.mode, first, last, ends_at)
    return rate_sums(extent, seller_country(access.store))


def _total(sums: Sequence[BookingSums]) -> StatementTotal:
    return StatementTotal(
        sum(coin.entries for coin in sums),
        sum(coin.book_cents for coin in sums),
        sum(coin.book_fee_cents for coin in sums),
        sum(coin.book_unvalued for coin in sums),
        all(coin.is_whole for coin in sums),
    )


@dataclass(frozen=True)
class StatementPreset:
    """A range of days, by name."""

    name: str
    query: str
    is_current: bool


def _presets(filters: StatementFilters, today: date) -> list[StatementPreset]:
    this_month = today.replace(day=1)
    quarter = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
    last_month = this_month - timedelta(days=1)
    last_quarter = quarter - timedelta(days=1)
    ranges = {
        gettext("All time"): ("", ""),
        gettext("This month"): (this_month, today),
        gettext("Last month"): (last_month.replace(day=1), last_month),
        gettext("This quarter"): (quarter, today),
        gettext("Last quarter"): (
            last_quarter.replace(month=last_quarter.month - 2, day=1),
            last_quarter,
        ),
        gettext("This year"): (today.replace(month=1, day=1), today),
        gettext("Last year"): (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
    }
    now = (filters.first_day, filters.last_day)
    dates = {name: (str(first), str(last)) for name, (first, last) in ranges.items()}
    return [
        StatementPreset(name, filters.query(**{"from": span[0], "to": span[1]}), span == now)
        for name, span in dates.items()
    ]


def _chosen(accounts: list[StoreAccount], filters: StatementFilters) -> Chosen | None:
    """Those of the kind asked for, else of the first kind that there is; of every coin unless one
    is asked for."""
    of_asset = [account for account in accounts if filters.asset_id in ("", account.asset_id)]
    if not of_asset:
        return None
    kind = next(
        (account.kind for account in of_asset if account.kind == filters.account), of_asset[0].kind
    )
    return Chosen(kind, [account for account in of_asset if account.kind == kind])


def _page(
    chosen: Chosen, filters: StatementFilters, before: str | None, limit: int = PER_PAGE
) -> statements.StatementPage:
    try:
        return statements.merged(
            [account.account_id for account in chosen.accounts],
            before=before,
            filters=filters.wanted(),
            limit=limit,
        )
    except ValueError:
        raise Http404 from None


@reads_may_lag("a file for later")
def export(request: PageRequest) -> Answer:
    """The filtered statement as CSV, newest first."""
    filters = StatementFilters.of(request.GET, days.zone_of_books(request.access))
    chosen = _chosen(store_accounts(request.access.store_id, request.access.mode), filters)
    rows = _rows(request, chosen, filters) if chosen else ()
    back = reverse("dashboard:statement")
    return csv_answer(request, "statement", CSV_COLUMNS, rows, back=back)


def _rows(
    request: PageRequest, chosen: Chosen, filters: StatementFilters
) -> Iterator[list[object]]:
    before = None
    codes = codes_of(request.access.store_id)
    assets = with_chains({item.asset_id for item in chosen.accounts})
    while True:
        page = _page(chosen, filters, before, statements.PAGE_MAX)
        for line in shown(request, page.lines, chosen.accounts, assets):
            yield cells(line, codes, filters.zone)
        before = page.older
        if before is None:
            return
