"""Reads of people and programs: every page, list, search and file of the dashboard, the API, the
staff site and customers' pages, each as something to ask. A new one is in the table of its
interface, and so is here. Forms aren't, and a platform's own paths, which a platform may ask."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.contrib import admin
from django.db.models import Model, QuerySet

from apps.access.models import RequestEntry
from apps.agents.models import Mandate
from apps.api.plumbing.routes import Route
from apps.api.urls import ROUTES
from apps.billing.models import Customer, Invoice, Price, Product, Subscription
from apps.billing.services.portal import portal_url
from apps.chain.models import UnmatchedTransfer
from apps.core.redis import buckets
from apps.dashboard.site.views import EVERYBODY, Page
from apps.dashboard.urls import PAGES
from apps.links.models import PaymentLink
from apps.payments.models import Payment
from apps.payouts.models import Payout, PayoutApproval, PayoutBatch, Schedule
from apps.reports.models import Report
from apps.swaps.models import Swap
from apps.webhooks.models import Delivery, Endpoint, Event
from tests.cast import Api
from tests.growth.world import World

# Records that nobody has made, and what another credential or more of the query is needed for.
ANSWERS = (200, 302, 303, 401, 404, 422)
PER_PAGE = 5  # of lists of the API, so few that two sizes have more
UNKNOWN = "00000000-0000-4000-8000-000000000000"
# What stands for the record in a path, by how the path begins.
RECORDS: dict[str, type[Model]] = {
    "payments": Payment,
    "payment_intents": Payment,
    "payment-links": PaymentLink,
    "point-of-sale": Payment,
    "invoices": Invoice,
    "billing/invoices": Invoice,
    "subscriptions": Subscription,
    "billing/subscriptions": Subscription,
    "customers": Customer,
    "billing/customers": Customer,
    "products": Product,
    "billing/products": Product,
    "payouts": Payout,
    "swaps": Swap,
    "balance_swaps": Swap,
    "requests": RequestEntry,
    "webhooks": Endpoint,
    "webhook_endpoints": Endpoint,
    "events": Event,
}
# Those of which there are as many as people make by hand: none in a town, where an unknown one is
# asked for.
BY_HAND: dict[str, type[Model]] = {
    "agents/mandates": Mandate,
    "approvals": PayoutApproval,
    "payouts/batches": PayoutBatch,
    "payouts/schedules": Schedule,
    "reports": Report,
    "transfers": UnmatchedTransfer,
}
_PARAMETER = re.compile(r"<str:(\w+)>")


@dataclass(frozen=True)
class Ask:
    """A GET of somebody, by its name."""

    name: str
    get: Callable[[], Any]


# Lists as people narrow them, beside as they open: of so many days that a small town has a page.
DASHBOARD_QUERIES = {
    "payments": (
        "status=completed",
        "status=processing",
        "status=failed",
        "page=3",
        "q=ZZQQ",
        "q=Bread",
        "q=zz-nothing",
        "q=20.00",
        "q=nobody@example.com",
        "coin=SETH",
        "min=20&max=20",
        *("from=2026-05-20&to=2026-06-20", f"q=0x{'0' * 64}", f"q=0x{'0' * 40}"),
    ),
    "refunds": ("status=confirmed", "status=failed", "q=zz-nothing"),
    "payouts": ("status=confirmed", "status=failed", "q=zz-nothing"),
    "swaps": ("status=completed", "q=zz-nothing"),
    "invoices": ("status=open", "status=paid", "status=overdue", "q=zz-nothing", "q=INV-0001"),
    "subscriptions": ("status=active", "status=past_due", "q=zz-nothing"),
    "customers": ("q=zz-nothing", "q=ann"),
    "products": ("q=zz-nothing",),
    "payment-links": ("status=active", "q=zz-nothing"),
    "requests": ("q=zz-nothing", "status=4", "status=5", "method=POST"),
    "events": ("type=payment_intent.completed", "q=zz-nothing"),
    "statement": ("kind=payment_settled", "to=2026-06-01"),
    "search": ("q=zz-nothing", "q=Bread", "q=20.00", "q=ann"),
    "platform/payments": ("page=2",),
}
API_QUERIES = {
    "payments": (
        "status=completed",
        "status=processing",
        "status=failed",
        "page=3",
        "order_id=A-1001",
        "order_id=nothing",
        "reference=ZZZZZZZZZZZZZZZZ",
        "reference=ZZQQ",
        "created_at_gte=2026-05-20&created_at_lte=2026-06-20",
    ),
    "payouts": ("status=confirmed", "page=2"),
    "balance_swaps": ("status=completed",),
    "billing/invoices": ("status=open", "status=paid"),
    "billing/subscriptions": ("status=active",),
}


def dashboard(world: World, browser: Any) -> Iterator[Ask]:
    for page in PAGES:
        if page.methods == ("GET",) and page.permission != EVERYBODY:
            path = _filled(page.path, world)
            for query in ("", *DASHBOARD_QUERIES.get(page.path, ())):
                address = f"/dashboard/{path}" + (f"?{query}" if query else "")
                yield Ask(_name("dashboard", page, query), getter(browser.client, address))


def api(world: World) -> Iterator[Ask]:
    for route in ROUTES:
        if "GET" not in route.scopes or route.path.startswith(("oauth/", "platform/")):
            continue
        caller = world.shop.test
        if route.path.startswith("agentic/"):
            caller = Api(world.shop.secrets["test_agent"])
        path = _filled(route.path, world)
        for query in ("", *API_QUERIES.get(route.path, ())):
            address = f"/api/v2/{path}?per_page={PER_PAGE}&{query}"
            yield Ask(
                _name("api", route, query), getter(caller.client, address, headers=caller.headers)
            )


def platform(world: World) -> Iterator[Ask]:
    """Of the platform, whose merchants all stores are."""
    caller = world.cast.strangers.with_scopes("accounts:read")
    for path in (
        "overview",
        "overview?from=2026-03-01&to=2026-03-31",
        "payments",
        "payments?page=3",
        "payments?status=completed",
        "payments?status=failed",
    ):
        address = f"/api/v2/platform/{path}{'&' if '?' in path else '?'}per_page={PER_PAGE}"
        yield Ask(f"platform {path}", getter(caller.client, address, headers=caller.headers))


def staff(browser: Any) -> Iterator[Ask]:
    for model, page in admin.site._registry.items():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        searches = ("?q=zz-nothing", f"?q={UNKNOWN}") if page.search_fields else ()
        for query in ("", *searches):
            yield Ask(f"staff {path}{query}", getter(browser.client, path + query))
        row = model._default_manager.order_by("-pk").first()
        if row is not None:
            yield Ask(f"staff {path}<id>", getter(browser.client, f"{path}{row.pk}/change/"))
    for path in ("/admin/", "/admin/coins/", "/admin/sending/", "/admin/search/?q=Bread"):
        yield Ask(f"staff {path}", getter(browser.client, path))


def hosted(world: World, client: Any) -> Iterator[Ask]:
    payment = newest(Payment, world)
    invoice = newest(Invoice, world)
    link = newest(PaymentLink, world)
    addresses = {
        "checkout": f"/pay/{payment.reference}",
        "checkout brand": f"/pay/{payment.reference}/brand.css",
        "link": f"/pay/{link.token}",
        "invoice": f"/invoice/{invoice.public_token}",
        "portal": urlsplit(portal_url(invoice.customer)).path,
        "status": "/status",
    }
    for name, address in addresses.items():
        yield Ask(f"hosted {name}", getter(client, address))


def getter(client: Any, address: str, **options: Any) -> Callable[[], Any]:
    def get() -> Any:
        answer = client.get(address, **options)
        if answer.streaming:
            for _ in answer.streaming_content:
                pass
        return answer

    return get


def forget_calls() -> None:
    """As if nobody had called. The number beside Home is kept, as for a minute: Home itself counts
    anew whatever is kept."""
    redis = buckets.client()
    keys = [key for key in redis.scan_iter(count=1000) if b":inbox:" not in key]
    if keys:
        redis.delete(*keys)


def _name(interface: str, line: "Page | Route", query: str) -> str:
    return f"{interface} {line.path}" + (f"?{query}" if query else "")


def _filled(path: str, world: World) -> str:
    """The path with a record of the first store."""
    if "<" not in path:
        return path
    row: Any = None
    for start, model in (RECORDS | BY_HAND).items():
        if path.startswith(f"{start}/<"):
            row = newest(model, world, is_expected=start in RECORDS)

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name == "act":
            return "void" if path.startswith("invoices") else "cancel"
        if name == "delivery_id":
            return str(newest(Delivery, world).pk)
        if name == "price_id" or (name == "id" and "prices/<" in path):
            return str(Price.objects.filter(product=row).values_list("pk", flat=True)[0])
        return str(row.pk) if row is not None and name in ("id", "product_id") else UNKNOWN

    return _PARAMETER.sub(value, path)


def newest(model: type[Model], world: World, *, is_expected: bool = True) -> Any:
    rows: QuerySet[Any] = model._default_manager.all()
    names = {field.name for field in model._meta.fields}
    if model is Delivery:
        rows = rows.filter(endpoint__store=world.shop.store, endpoint__mode="test")
    elif "store" in names:
        rows = rows.filter(store=world.shop.store)
        rows = rows.filter(mode="test") if "mode" in names else rows
    found = rows.order_by("-created_at" if "created_at" in names else "-pk").first()
    assert found is not None or not is_expected, f"the town has no {model.__name__}"
    return found
