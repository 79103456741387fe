"""Payments: the list with its filters, and the same list as CSV."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict

from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.billing.selectors import payments_of, payments_of_customer
from apps.core import money, searching
from apps.core.messages.fields import is_uuid
from apps.dashboard import days
from apps.dashboard.billing.forms import email_of
from apps.dashboard.filters import Filters, days_of, searched
from apps.dashboard.lists import Tab
from apps.dashboard.paging import counted_page
from apps.dashboard.payment_columns import PAYMENTS
from apps.dashboard.plumbing import Answer, PageRequest, is_htmx, show
from apps.links.selectors import payments_by_email
from apps.payments import selectors
from apps.payments.models import Payment

PEOPLE_MAX = 10_000  # payments of one customer, of each kind
_TABS = {
    "": "All",
    "pending": "Awaiting payment",
    "processing": "Processing",
    "completed": "Completed",
    "expired": "Expired",
    "failed": "Failed",
    "refunded": "Refunded",
}
_EMAIL = re.compile(r"[^\s@\x00]+@[^\s@\x00]+")
_SUM = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?", re.ASCII)


@dataclass(frozen=True)
class PaymentListFilters(Filters):
    """`coin` is a symbol, on whatever network."""

    network: str = ""
    least: str = ""
    most: str = ""
    customer: str = ""

    NAMES = {**Filters.NAMES, "least": "min", "most": "max"}

    @classmethod
    def of_assets(cls, query: QueryDict, assets: Sequence[Asset]) -> "PaymentListFilters":
        def told(name: str, is_meant: "re.Pattern[str] | frozenset[str]") -> str:
            text = query.get(name, "").strip()
            is_grouped = (
                text in is_meant
                if isinstance(is_meant, frozenset)
                else is_meant.fullmatch(text.replace(",", ""))
            )
            return text.replace(",", "") if is_grouped else ""

        first, last = days_of(query)
        customer = query.get("customer", "")
        return cls(
            status=told("status", frozenset(Payment.Status.values)),
            q=searched(query),
            coin=told("coin", frozenset(asset.coin_symbol for asset in assets)),
            network=told("network", frozenset(asset.chain_id for asset in assets)),
            first_day=first,
            last_day=last,
            least=told("min", _SUM),
            most=told("max", _SUM),
            customer=customer if is_uuid(customer) else "",
        )

    def rows(self, request: PageRequest, assets: Sequence[Asset]) -> "QuerySet[Payment]":
        result = self._whatever_paid(request)
        if not (self.coin or self.network):
            return result
        chosen = [
            asset.pk
            for asset in assets
            if self.coin in ("", asset.coin_symbol) and self.network in ("", asset.chain_id)
        ]
        return selectors.paid_in(result, chosen)

    def are_newest(self, request: PageRequest) -> bool:
        """Whether a coin or network was looked for in some of the payments alone."""
        if not (self.coin or self.network):
            return False
        every = self._whatever_paid(request).select_related(None).values_list("pk")
        return bool(every[searching.NEWEST_MAX : searching.NEWEST_MAX + 1])

    def _whatever_paid(self, request: PageRequest) -> "QuerySet[Payment]":
        every = selectors.payments_visible_to(request.access)
        is_email = _EMAIL.fullmatch(self.q)
        result = (
            every.filter(pk__in=_paid_by(request, self.q))
            if is_email
            else selectors.search(every, self.q)
        )
        if self.customer:
            result = result.filter(pk__in=_of_customer(request, self.customer))
        result = selectors.priced_between(result, _cents(self.least), _cents(self.most))
        return self.within(result.filter(status=self.status) if self.status else result)


def _paid_by(request: PageRequest, email: str) -> "QuerySet[Any, Any]":
    """The ids of the payments for an invoice of this customer, at a payment link, or whose metadata
    names them: each by an index."""
    by_metadata = selectors.named_email(request.access, email)[:PEOPLE_MAX]
    queries = (payments_of(request.access, email), payments_by_email(request.access, email))
    return by_metadata.union(*(query.order_by()[:PEOPLE_MAX] for query in queries))


def _of_customer(request: PageRequest, customer_id: str) -> "QuerySet[Any, Any]":
    """The same of a customer whom we know, by the address that they have."""
    email = email_of(request.access, customer_id)
    return _paid_by(request, email) if email else payments_of_customer(request.access, customer_id)


def _cents(amount: str) -> int | None:
    return money.cents_from_text(amount) if amount else None


def index(request: PageRequest) -> HttpResponse:
    assets = active_assets(request.access.mode)
    filters = PaymentListFilters.of_assets(request.GET, assets)
    rows = filters.rows(request, assets)
    page = counted_page(rows, request.GET, filters.query)
    context = {
        "payments": page.rows,
        "table": PAYMENTS.table(request, page.rows, filters.parameters),
        "filters": filters,
        "chips": _chips(request, filters, assets),
        "tabs": _tabs(filters),
        "coins": sorted({asset.coin_symbol for asset in assets}),
        "networks": sorted(
            {(asset.chain_id, asset.chain.name) for asset in assets}, key=lambda asset: asset[1]
        ),
        "presets": _presets(filters, days.today(request.access)),
        **page.context(),
        "is_empty": not page.rows and not filters.is_any and page.number == 1,
        "looked_at_max": searching.NEWEST_MAX if filters.are_newest(request) else None,
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request,
        "dashboard/payments/_rows.html" if part else "dashboard/payments/list.html",
        context,
    )


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first, every amount a plain decimal."""
    assets = active_assets(request.access.mode)
    return PAYMENTS.csv(
        request, PaymentListFilters.of_assets(request.GET, assets).rows(request, assets)
    )


def _tabs(filters: PaymentListFilters) -> list[Tab]:
    return [
        Tab(name, filters.query(status=status), status == filters.status)
        for status, name in _TABS.items()
    ]


def _presets(filters: PaymentListFilters, today: date) -> list[Tab]:
    """Ranges of days that end today, and the month before."""
    month = today.replace(day=1)
    before = month - timedelta(days=1)
    ranges = {
        "Today": (today, today),
        "Last 7 days": (today - timedelta(days=6), today),
        "Last 30 days": (today - timedelta(days=29), today),
        "This month": (month, today),
        "Last month": (before.replace(day=1), before),
    }
    chosen = (filters.first_day, filters.last_day)
    dates = {name: (first.isoformat(), last.isoformat()) for name, (first, last) in ranges.items()}
    return [
        Tab(name, filters.query(**{"from": span[0], "to": span[1]}), span == chosen)
        for name, span in dates.items()
    ]


def _chips(request: PageRequest, filters: PaymentListFilters, assets: Sequence[Asset]) -> list[Tab]:
    """What narrows the list beside its tab and its search, each with the address without it."""
    words = {
        "coin": f"Coin: {filters.coin}",
        "network": (
            "Network:"
            f" {next((coin.chain.name for coin in assets if coin.chain_id == filters.network), '')}"
        ),
        "first_day": f"From {filters.first_day}",
        "last_day": f"To {filters.last_day}",
        "least": f"At least {filters.least}",
        "most": f"At most {filters.most}",
    }
    if filters.customer:
        words["customer"] = (
            f"Customer: {email_of(request.access, filters.customer) or filters.customer}"
        )
    without = {name: replace(filters, **{name: ""}) for name in words}
    return [
        Tab(text, without[name].query(), True)
        for name, text in words.items()
        if getattr(filters, name)
    ]
