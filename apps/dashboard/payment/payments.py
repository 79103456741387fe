"""Payments: the list with its filters, and the same list as CSV."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext, gettext_noop

from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.billing.selectors import payments_of, payments_of_customer
from apps.core import money, searching
from apps.core.messages.fields import Invalid, is_uuid
from apps.core.typed_amounts import cents_typed
from apps.dashboard.billing.forms import email_of
from apps.dashboard.payment.columns import PAYMENTS
from apps.dashboard.site.views import Answer, PageRequest, is_htmx, show
from apps.dashboard.tables import days
from apps.dashboard.tables.filters import Filters, days_of, searched
from apps.dashboard.tables.lists import Tab
from apps.dashboard.tables.paging import counted_page, of_one_store
from apps.links.selectors import payments_by_email
from apps.payments import selectors
from apps.payments.models import Payment

PEOPLE_MAX = 10_000  # payments of one customer, of each kind
_TABS = {
    "": gettext_noop("All"),
    "pending": gettext_noop("Awaiting payment"),
    "processing": gettext_noop("Processing"),
    "completed": gettext_noop("Completed"),
    "expired": gettext_noop("Expired"),
    "failed": gettext_noop("Failed"),
    "refunded": gettext_noop("Refunded"),
}
_EMAIL = re.compile(r"[^\s@\x00]+@[^\s@\x00]+")


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
        def told(name: str, is_meant: frozenset[str]) -> str:
            text = query.get(name, "").strip()
            return text if text in is_meant else ""

        first, last = days_of(query)
        customer = query.get("customer", "")
        return cls(
            status=told("status", frozenset(Payment.Status.values)),
            q=searched(query),
            coin=told("coin", frozenset(asset.coin_symbol for asset in assets)),
            network=told("network", frozenset(asset.chain_id for asset in assets)),
            first_day=first,
            last_day=last,
            least=_sum(query.get("min", "")),
            most=_sum(query.get("max", "")),
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
        """True if a coin or network was looked for in some of the payments alone."""
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
    """Payments of a known customer, by their present address."""
    email = email_of(request.access, customer_id)
    return _paid_by(request, email) if email else payments_of_customer(request.access, customer_id)


def _sum(typed: str) -> str:
    """An amount as it was typed, in digits with a point; empty for what is none."""
    try:
        return money.text_from_cents(cents_typed(typed, "amount")).removesuffix(".00")
    except Invalid:
        return ""


def _cents(amount: str) -> int | None:
    return money.cents_from_text(amount) if amount else None


def index(request: PageRequest) -> HttpResponse:
    assets = active_assets(request.access.mode)
    filters = PaymentListFilters.of_assets(request.GET, assets)
    rows = filters.rows(request, assets)
    page = counted_page(
        rows, request.GET, filters.query, lambda part: of_one_store(part, request.access.store)
    )
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
        Tab(gettext(name), filters.query(status=status), status == filters.status)
        for status, name in _TABS.items()
    ]


def _presets(filters: PaymentListFilters, today: date) -> list[Tab]:
    """Ranges of days that end today, and the month before."""
    month = today.replace(day=1)
    before = month - timedelta(days=1)
    ranges = {
        gettext("Today"): (today, today),
        gettext("Last 7 days"): (today - timedelta(days=6), today),
        gettext("Last 30 days"): (today - timedelta(days=29), today),
        gettext("This month"): (month, today),
        gettext("Last month"): (before.replace(day=1), before),
    }
    chosen = (filters.first_day, filters.last_day)
    dates = {name: (first.isoformat(), last.isoformat()) for name, (first, last) in ranges.items()}
    return [
        Tab(name, filters.query(**{"from": span[0], "to": span[1]}), span == chosen)
        for name, span in dates.items()
    ]


def _chips(request: PageRequest, filters: PaymentListFilters, assets: Sequence[Asset]) -> list[Tab]:
    """Filters beside the tab and the search, each with the address without it."""
    words = {
        "coin": gettext("Coin: {coin}").format(coin=filters.coin),
        "network": gettext("Network: {network}").format(
            network=next(
                (coin.chain.name for coin in assets if coin.chain_id == filters.network), ""
            )
        ),
        "first_day": gettext("From {day}").format(day=filters.first_day),
        "last_day": gettext("To {day}").format(day=filters.last_day),
        "least": gettext("At least {amount}").format(amount=filters.least),
        "most": gettext("At most {amount}").format(amount=filters.most),
    }
    if filters.customer:
        words["customer"] = gettext("Customer: {name}").format(
            name=email_of(request.access, filters.customer) or filters.customer
        )
    without = {name: replace(filters, **{name: ""}) for name in words}
    return [
        Tab(text, without[name].query(), True)
        for name, text in words.items()
        if getattr(filters, name)
    ]
