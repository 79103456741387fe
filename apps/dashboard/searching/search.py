"""Search over everything of a store in the chosen mode. The apps find, this page groups; what a
role may not see isn't asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.access.access import Access
from apps.access.search import find_agents, find_keys, find_requests
from apps.agents.search import find_mandates
from apps.billing import search as billing
from apps.core.db import tenancy
from apps.core.models import Mode
from apps.core.searching import LENGTH_MAX, SearchTerm
from apps.dashboard.searching import records as search_records
from apps.dashboard.searching import results as search_results
from apps.dashboard.searching.results import SearchHit
from apps.dashboard.site.navigation import pages_of
from apps.dashboard.site.views import PageRequest, is_htmx, show
from apps.links import search as links
from apps.payments.models import Payment
from apps.payments.search import find_payments, find_refunds, find_transfers
from apps.payouts.search import find_batches, find_destinations, find_payouts, find_schedules
from apps.platforms.search import find_accounts
from apps.reports.search import find_reports
from apps.stores import roles
from apps.stores.search import find_members
from apps.swaps.search import find_swaps
from apps.webhooks.search import find_deliveries, find_endpoints, find_events

PER_GROUP = 5


def _payments(viewer: Access, term: SearchTerm, limit: int) -> list[Payment]:
    candidates = [
        ids
        for ids in (billing.payments_of_email(viewer, term), links.payments_of_email(viewer, term))
        if ids is not None
    ]
    return find_payments(viewer, term, limit, of=candidates)


@dataclass(frozen=True)
class SearchGroup:
    """`permission` is that of the pages it leads to; `all_in` the list that takes the same text as
    its filter."""

    title: str
    icon: str
    find: Callable[[Access, SearchTerm, int], Sequence[Any]]
    hit_of: Callable[[Any, SearchTerm], SearchHit]
    permission: str = roles.VIEW
    all_in: str = ""


GROUPS = (
    SearchGroup(
        gettext_noop("Payments"),
        "banknotes",
        _payments,
        search_results.of_payment,
        all_in="payments",
    ),
    SearchGroup(gettext_noop("Payment links"), "link", links.find_links, search_results.of_link),
    SearchGroup(
        gettext_noop("Refunds"), "arrow-uturn-left", find_refunds, search_results.of_refund
    ),
    SearchGroup(
        gettext_noop("Unmatched transfers"),
        "question-mark-circle",
        find_transfers,
        search_records.of_transfer,
    ),
    SearchGroup(gettext_noop("Payouts"), "arrow-up-right", find_payouts, search_results.of_payout),
    SearchGroup(
        gettext_noop("Payout destinations"),
        "wallet",
        find_destinations,
        search_records.of_destination,
    ),
    SearchGroup(
        gettext_noop("Payout schedules"),
        "calendar-days",
        find_schedules,
        search_records.of_schedule,
    ),
    SearchGroup(
        gettext_noop("Mass payouts"), "arrow-up-tray", find_batches, search_records.of_batch
    ),
    SearchGroup(gettext_noop("Swaps"), "arrows-right-left", find_swaps, search_results.of_swap),
    SearchGroup(
        gettext_noop("Customers"),
        "user-group",
        billing.find_customers,
        search_results.of_customer,
        all_in="customers",
    ),
    SearchGroup(
        gettext_noop("Invoices"),
        "document-text",
        billing.find_invoices,
        search_results.of_invoice,
        all_in="invoices",
    ),
    SearchGroup(
        gettext_noop("Subscriptions"),
        "arrow-path",
        billing.find_subscriptions,
        search_results.of_subscription,
    ),
    SearchGroup(gettext_noop("Products"), "cube", billing.find_products, search_results.of_product),
    SearchGroup(gettext_noop("Prices"), "cube", billing.find_prices, search_records.of_price),
    SearchGroup(
        gettext_noop("Sub-merchants"),
        "building-storefront",
        find_accounts,
        search_records.of_account,
        all_in="platform_accounts",
    ),
    SearchGroup(
        gettext_noop("Reports"),
        "document-chart-bar",
        find_reports,
        search_records.of_report,
        roles.KEEP_BOOKS,
    ),
    SearchGroup(gettext_noop("Team"), "users", find_members, search_results.of_member),
    SearchGroup(
        gettext_noop("Webhook endpoints"),
        "bolt",
        find_endpoints,
        search_results.of_endpoint,
        roles.INSPECT,
    ),
    SearchGroup(
        gettext_noop("Webhook deliveries"),
        "paper-airplane",
        find_deliveries,
        search_results.of_delivery,
        roles.INSPECT,
    ),
    SearchGroup(
        gettext_noop("Events"), "bolt", find_events, search_records.of_event, roles.INSPECT
    ),
    SearchGroup(
        gettext_noop("API requests"),
        "queue-list",
        find_requests,
        search_records.of_request,
        roles.INSPECT,
    ),
    SearchGroup(gettext_noop("API keys"), "key", find_keys, search_results.of_key, roles.INSPECT),
    SearchGroup(
        gettext_noop("Agents"), "cpu-chip", find_agents, search_records.of_agent, roles.INSPECT
    ),
    SearchGroup(
        gettext_noop("Mandates"),
        "shield-check",
        find_mandates,
        search_records.of_mandate,
        roles.INSPECT,
    ),
)


@dataclass(frozen=True)
class SearchResults:
    """A group with what was found; `all_url` when there is more, or may be, in its list."""

    title: str
    icon: str
    hits: list[SearchHit]
    all_url: str = ""


def index(request: PageRequest) -> HttpResponse:
    """A record that is named by its id, reference or hash is opened; while somebody types, nothing
    is."""
    term = SearchTerm.of(request.GET.get("q", ""))
    is_part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    groups = _found(request.access, term)
    every = [hit for group in groups for hit in group.hits]
    exact = [hit for hit in every if hit.is_exact]
    if len(every) == len(exact) == 1 and not is_part:
        return HttpResponseRedirect(exact[0].url)
    context = {
        "term": term,
        "search_text": term.text,
        "length_max": LENGTH_MAX,
        "groups": [*_pages(request, term), *groups],
        "count": len(every),
        "other": None if exact else _in_other_mode(request.access, term),
        "other_mode": _other_mode(request.access),
    }
    return show(
        request,
        "dashboard/search/_results.html" if is_part else "dashboard/search/index.html",
        context,
    )


def _pages(request: PageRequest, term: SearchTerm) -> list[SearchResults]:
    """Pages of the navigation that the role may see."""
    pages = [page for page in pages_of(request.member.role) if term.names(page.label)]
    hits = [SearchHit(page.label, page.url, icon=page.icon) for page in pages[:PER_GROUP]]
    return [SearchResults(gettext("Pages"), "queue-list", hits)] if hits else []


def _found(access: Access, term: SearchTerm) -> list[SearchResults]:
    if not term.text:
        return []
    groups = [
        _group(access, item, term) for item in GROUPS if roles.may(access.role, item.permission)
    ]
    return [item for item in groups if item.hits]


def _group(access: Access, group: SearchGroup, term: SearchTerm) -> SearchResults:
    rows = group.find(access, term, PER_GROUP + 1)
    url = (
        f"{reverse(f'dashboard:{group.all_in}')}?{urlencode({'q': term.text})}"
        if group.all_in and len(rows) > PER_GROUP
        else ""
    )
    return SearchResults(
        gettext(group.title), group.icon, [group.hit_of(row, term) for row in rows[:PER_GROUP]], url
    )


def _other_mode(access: Access) -> Mode:
    return Mode.TEST if access.is_live else Mode.LIVE


def _in_other_mode(access: Access, term: SearchTerm) -> SearchHit | None:
    """A record that is named exactly and is of the same store in the other mode."""
    if not term.names_one:
        return None
    mode = _other_mode(access)
    with tenancy.also([access.store], [mode]):
        groups = _found(replace(access, mode=mode), term)
    return next((hit for group in groups for hit in group.hits if hit.is_exact), None)
