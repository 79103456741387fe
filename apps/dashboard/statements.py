"""The statement of one account: every entry of an asset with the balance it left, filtered by kind and days; and its CSV."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from django.http import FileResponse, Http404, HttpResponse, QueryDict

from apps.assets.selectors import with_chains
from apps.core import clock, money
from apps.core.literal import parse_date
from apps.dashboard.exports import csv_answer
from apps.dashboard.plumbing import PageRequest, is_htmx, show
from apps.ledger import statements
from apps.ledger.selectors import StoreAccount, store_accounts
from apps.payments.models import Payment
from apps.reports.labels import ACCOUNTS, KINDS, OF_STORES, kind_label
from apps.reports.selectors import midnight

PER_PAGE, EXPORT_MAX = 25, 50_000
_COLUMNS = ("at", "kind", "description", "role", "amount", "balance", "asset", "account", "reference")


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
    accounts = store_accounts(request.access.store_id, request.access.mode)
    chosen = _chosen(accounts, filters)
    page = _page(chosen, filters, request.GET.get("before")) if chosen else statements.Page([], None)
    assets = with_chains({one.asset_id for one in accounts})
    context = {
        "filters": filters,
        "accounts": accounts,
        "assets": [assets[asset_id] for asset_id in dict.fromkeys(one.asset_id for one in accounts)],
        "account_labels": ACCOUNTS,
        "kinds": {kind: KINDS[kind] for kind in KINDS if kind in OF_STORES},
        "chosen": chosen,
        "asset": assets[chosen.asset_id] if chosen else None,
        "lines": _lines(request, page),
        "is_first": "before" not in request.GET,
        "newest_query": filters.query(),
        "older_query": filters.query(before=page.older) if page.older else None,
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(request, "dashboard/statements/_rows.html" if part else "dashboard/statements/list.html", context)


@dataclass(frozen=True)
class ShownLine:
    """An entry in words; `payment` is the reference of the store's own that it serves."""

    line: statements.StatementLine
    label: str
    payment: str | None


def _lines(request: PageRequest, page: statements.Page) -> list[ShownLine]:
    """Each entry in words, with the payment that it serves if that is one of the store's."""
    references = {line.reference for line in page.lines if line.reference}
    payments = dict(Payment.objects.seen_by(request.access).filter(pk__in=references).values_list("pk", "reference"))
    return [ShownLine(line, kind_label(line.kind), payments.get(line.reference)) for line in page.lines]


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
    return csv_answer(request, "statement", _COLUMNS, _cells(chosen, filters) if chosen else ())


def _cells(chosen: StoreAccount, filters: Filters) -> Iterator[list[object]]:
    before, told = None, 0
    while told < EXPORT_MAX:
        page = _page(chosen, filters, before, statements.PAGE_MAX)
        for line in page.lines:
            amounts = [money.decimal_from_atomic(one, chosen.atomic_decimals) for one in (line.amount_atomic, line.balance_atomic)]
            of = (chosen.asset_id, chosen.kind, line.reference)
            yield [clock.iso(line.at), line.kind, kind_label(line.kind), line.role, *amounts, *of]
        told += len(page.lines)
        before = page.older
        if before is None:
            return
