"""Subscriptions: the list, one with its cycles and what comes next, the form, and what can be done to it, each on a page of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpResponse

from apps.access.access import Access
from apps.billing import selectors
from apps.billing.models import Price, Subscription
from apps.billing.services import subscription as services
from apps.billing.services.outlook import cycle_cents, outlook
from apps.billing.states import ACTIVE, CANCELED, PAUSED, TRIALING
from apps.core import clock, money
from apps.core.web import status_of
from apps.dashboard import form_keys
from apps.dashboard.billing.forms import customer_named, email_of, may_add, texts, told, whole
from apps.dashboard.exports import csv_file
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, show

SHOWN, PRICES_MAX, ROWS, ROWS_MAX = 12, 500, 3, 21
_TABS = {
    "": "All",
    "active": "Active",
    "trialing": "On trial",
    "past_due": "Past due",
    "paused": "Paused",
    "canceled": "Canceled",
}
_COLUMNS = (
    "created_at", "customer_email", "customer_name", "products", "amount", "currency", "interval", "interval_count", "status",
    "current_period_start", "current_period_end", "next_billing_at", "trial_end", "cancel_at", "canceled_at", "failed_cycle_count", "mode",
    "id",
)  # fmt: skip


def _rows(request: PageRequest) -> "tuple[QuerySet[Subscription], dict[str, str]]":
    """What the address asks for, and the filters that its neighbours keep."""
    asked = {"status": request.GET.get("status", ""), "customer": request.GET.get("customer", "")[:100]}
    asked["status"] = asked["status"] if asked["status"] in _TABS else ""
    every = selectors.subscriptions_seen_by(request.access)
    return selectors.filtered_subscriptions(every, status=asked["status"], customer_id=asked["customer"]), asked


def index(request: PageRequest) -> HttpResponse:
    rows, asked = _rows(request)
    page = window(rows, request.GET, asked)
    context = {
        "subscriptions": [{"row": one, "cents": cycle_cents(one)} for one in page.rows],
        "window": page,
        "asked": asked,
        "of": email_of(request.access, asked["customer"]) if asked["customer"] else "",
        "tabs": [{"name": name, "status": status, "is_current": status == asked["status"]} for status, name in _TABS.items()],
        "is_empty": not page.rows and not any(asked.values()) and "page" not in request.GET,
    }
    return show(request, "dashboard/subscriptions/list.html", context)


def export(request: PageRequest) -> FileResponse:
    return csv_file(request, "subscriptions", _COLUMNS, _rows(request)[0], _cells)


def _cells(one: Subscription) -> list[object]:
    products = [one.price.product.name, *(item.price.product.name for item in one.add_ons.all())]
    moments = (one.current_period_start, one.current_period_end, one.next_billing_at, one.trial_end, one.cancel_at, one.canceled_at)
    return [
        clock.iso(one.created_at), one.customer.email, one.customer.name, ", ".join(products), money.text_from_cents(cycle_cents(one)),
        one.price.currency, one.price.interval, one.price.interval_count, one.status, *map(clock.iso, moments), one.failed_cycle_count,
        one.mode, one.pk,
    ]  # fmt: skip


def _find(request: PageRequest, id: str) -> Subscription:
    found: Subscription = find(selectors.subscriptions_seen_by(request.access), id)
    return found


def show_one(request: PageRequest, id: str) -> HttpResponse:
    row = _find(request, id)
    invoices = list(selectors.filtered_invoices(selectors.invoices_seen_by(request.access), subscription_id=str(row.pk))[: SHOWN + 1])
    context = {
        "subscription": row,
        "cents": cycle_cents(row),
        "coming": outlook(row),
        "invoices": invoices[:SHOWN],
        "has_more": len(invoices) > SHOWN,
        "changes": list(row.changes.order_by("-id")[:100]),
        "acts": [name for name, act in ACTS.items() if act.is_offered(row)] if row.status != CANCELED else [],
        "now": request.access.now(),
    }
    return show(request, "dashboard/subscriptions/detail.html", context)


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        email = email_of(request.access, request.GET.get("customer", ""))
        given = {"email": email, "trial_days": "0", "grace_cycles": "1", **form_keys.new()}
        return _form(request, given, _blank([{"price": request.GET.get("price", "")[:100], "quantity": "1"}]), [])
    given, items = texts(request.POST, "email", "trial_days", "grace_cycles", form_keys.NAME), _typed(request)
    if "more" in request.POST:
        return _form(request, given, _blank(items, ROWS), [])
    try:
        body = {
            "customer_id": str(customer_named(request.access, request.POST).pk),
            "items": _items(items),
            "trial_period_days": whole(given["trial_days"] or "0", "trial_period_days"),
            "grace_cycles": whole(given["grace_cycles"] or "1", "grace_cycles"),
        }
        made = services.create_subscription(request.access, {"subscription": body}, form_keys.of(given))
    except Refusals as refusal:
        is_new = may_add(request.access, given["email"], refusal)
        return _form(request, given, _blank(items), told(refusal), status_of(refusal), is_new=is_new)
    messages.success(request, "The subscription has begun." if made.status == ACTIVE else "The subscription has begun with its trial.")
    return go("subscription", made.pk)


def change(request: PageRequest, id: str) -> HttpResponse:
    """Other prices and quantities, from the next cycle on."""
    row = _find(request, id)
    if request.method == "GET":
        return _form(request, {"grace_cycles": str(row.grace_cycles)}, _blank(_shown(row), 1), [], subscription=row)
    given, items = texts(request.POST, "grace_cycles"), _typed(request)
    if "more" in request.POST:
        return _form(request, given, _blank(items, ROWS), [], subscription=row)
    try:
        body = {"items": _items(items), "grace_cycles": whole(given["grace_cycles"] or "1", "grace_cycles")}
        services.update_subscription(request.access, row, {"subscription": body})
    except Refusals as refusal:
        return _form(request, given, _blank(items), told(refusal), status_of(refusal), subscription=row)
    messages.success(request, "Saved. It counts from the next cycle on.")
    return go("subscription", row.pk)


def _typed(request: PageRequest) -> list[dict[str, str]]:
    """The rows of the form in which a price was chosen."""
    pairs = zip(request.POST.getlist("price"), request.POST.getlist("quantity"), strict=False)
    return [{"price": price[:100], "quantity": quantity.strip()[:20]} for price, quantity in list(pairs)[:ROWS_MAX] if price]


def _items(rows: list[dict[str, str]]) -> list[dict[str, Any]]:
    return [{"price_id": one["price"], "quantity": whole(one["quantity"] or "1", "quantity")} for one in rows]


def _shown(row: Subscription) -> list[dict[str, str]]:
    add_ons = [{"price": str(one.price_id), "quantity": str(one.quantity)} for one in row.add_ons.all()]
    return [{"price": str(row.price_id), "quantity": str(row.quantity)}, *add_ons]


def _blank(rows: list[dict[str, str]], more: int = 0) -> list[dict[str, str]]:
    """At least so many rows; the new ones are empty."""
    wanted = max(len(rows) + more, 1)
    return [*rows, *({"price": "", "quantity": "1"} for _ in range(wanted - len(rows)))]


def _form(
    request: PageRequest,
    given: dict[str, str],
    items: list[dict[str, str]],
    errors: list[str],
    status: int = 200,
    *,
    subscription: Subscription | None = None,
    is_new: bool = False,
) -> HttpResponse:
    prices = selectors.prices_on_offer(request.access, PRICES_MAX)
    prices += _archived(subscription, {one.pk for one in prices})
    context = {
        "given": given,
        "items": items,
        "errors": errors,
        "is_new": is_new,
        "subscription": subscription,
        "prices": [(str(one.pk), one) for one in prices],
        "emails": [] if subscription else list(selectors.active_customers(request.access).values_list("email", flat=True)[:PRICES_MAX]),
        "no_prices": not prices,
        "has_products": bool(prices) or selectors.products_seen_by(request.access).exists(),
    }
    return show(request, "dashboard/subscriptions/form.html", context, status=status)


def _archived(subscription: Subscription | None, known: set[Any]) -> list[Price]:
    """Prices that a subscription is on and nobody else can get."""
    if subscription is None:
        return []
    return [one for one in (subscription.price, *(item.price for item in subscription.add_ons.all())) if one.pk not in known]


@dataclass(frozen=True)
class Act:
    """What a button on a subscription's page leads to: whether it is offered, what is done, and what is said then."""

    is_offered: Callable[[Subscription], bool]
    do: Callable[[Access, Subscription, bool], object]
    done: str


ACTS: dict[str, Act] = {
    "pause": Act(
        lambda row: row.status == ACTIVE,
        lambda access, row, _: services.pause_subscription(access, row),
        "The subscription is paused. Nothing is billed until you resume it.",
    ),
    "resume": Act(
        lambda row: row.status == PAUSED,
        lambda access, row, _: services.resume_subscription(access, row),
        "The subscription goes on, and its new period has been billed.",
    ),
    "uncancel": Act(
        lambda row: row.cancel_at_period_end,
        lambda access, row, _: services.uncancel_subscription(access, row),
        "The subscription goes on after this period.",
    ),
    "cancel": Act(
        lambda row: True,
        lambda access, row, at_end: services.cancel_subscription(access, row, at_period_end=at_end),
        "The cancellation is noted.",
    ),
}


def act(request: PageRequest, id: str, act: str) -> HttpResponse:
    """A page that says what will happen, then the act."""
    row, chosen = _find(request, id), ACTS.get(act)
    if chosen is None:
        raise Http404
    errors: list[str] = []
    status = 200
    if request.method == "POST":
        try:
            chosen.do(request.access, row, request.POST.get("when") == "period_end")
        except Refusals as refusal:
            errors, status = told(refusal), status_of(refusal)
        else:
            messages.success(request, chosen.done)
            return go("subscription", row.pk)
    context = {
        "subscription": row,
        "cents": cycle_cents(row),
        "act": act,
        "errors": errors,
        "may_end_later": row.status in (TRIALING, ACTIVE) and not row.cancel_at_period_end,
    }
    return show(request, "dashboard/subscriptions/act.html", context, status=status)
