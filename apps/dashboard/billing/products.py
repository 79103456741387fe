"""Products and their prices: the list, one product, its form, and a price, which is made, archived and activated but never changed."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import FileResponse, HttpResponse

from apps.billing import selectors
from apps.billing.models import Interval, Price, Product
from apps.billing.services import catalog
from apps.core import clock, money
from apps.dashboard import form_keys
from apps.dashboard.billing.forms import cents, kept, texts, told, whole
from apps.dashboard.exports import csv_file
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, show, status_of
from apps.stores.models import Currency

_TABS = {"": "All", "active": "Active", "inactive": "Inactive"}
_COLUMNS = ("product", "product_active", "unit_amount", "currency", "interval", "interval_count", "active", "created_at", "mode", "id")


def index(request: PageRequest) -> HttpResponse:
    status = request.GET.get("status", "")
    status = status if status in _TABS else ""
    rows = _products(request)
    if status:
        rows = rows.filter(active=status == "active")
    of = Price.objects.seen_by(request.access)
    page = window(rows, request.GET, {"status": status})
    counts = dict(of.filter(product__in=page.rows, active=True).order_by().values_list("product_id").annotate(Count("id")))
    context = {
        "rows": [{"product": one, "prices": counts.get(one.pk, 0)} for one in page.rows],
        "window": page,
        "tabs": [{"name": name, "status": one, "is_current": one == status} for one, name in _TABS.items()],
        "is_empty": not page.rows and not status and "page" not in request.GET,
    }
    return show(request, "dashboard/products/list.html", context)


def export(request: PageRequest) -> FileResponse:
    """A line for each price."""
    rows = Price.objects.seen_by(request.access).select_related("product").order_by("product__name", "product_id", "-created_at", "-id")
    return csv_file(request, "prices", _COLUMNS, rows, _cells)


def _cells(one: Price) -> list[object]:
    what = [one.product.name, one.product.active, money.text_from_cents(one.unit_amount_cents), one.currency]
    return [*what, one.interval, one.interval_count, one.active, clock.iso(one.created_at), one.mode, one.pk]


def _products(request: PageRequest) -> "QuerySet[Product]":
    return selectors.products_seen_by(request.access)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    """The product; a POST turns it on or off."""
    product: Product = find(_products(request), id)
    if request.method == "POST":
        is_on = request.POST.get("to") == "active"
        catalog.update_product(request.access, product, {"product": {"active": is_on}})
        messages.success(request, "It is on offer again." if is_on else "It is no longer on offer. Subscriptions to it go on.")
        return go("product", product.pk)
    prices = list(selectors.prices_of(product))
    running = selectors.subscriptions_to(request.access, prices)
    context = {"product": product, "prices": [{"price": one, "running": running.get(one.pk, 0)} for one in prices]}
    return show(request, "dashboard/products/detail.html", context)


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, {"name": "", "description": "", **form_keys.new()}, [])
    given = texts(request.POST, "name", "description", form_keys.NAME)
    try:
        made = catalog.create_product(request.access, {"product": kept(given, "name", "description")}, form_keys.of(given))
    except Refusals as refusal:
        return _form(request, given, told(refusal), status_of(refusal))
    messages.success(request, "The product is made. Give it a price.")
    return go("price_create", made.pk)


def edit(request: PageRequest, id: str) -> HttpResponse:
    product: Product = find(_products(request), id)
    if request.method == "GET":
        return _form(request, {"name": product.name, "description": product.description or ""}, [], product=product)
    given = texts(request.POST, "name", "description")
    try:
        catalog.update_product(request.access, product, {"product": kept(given, "name", "description")})
    except Refusals as refusal:
        return _form(request, given, told(refusal), status_of(refusal), product=product)
    messages.success(request, "Saved. Invoices made from now on say it so.")
    return go("product", product.pk)


def _form(request: PageRequest, given: dict[str, str], errors: list[str], status: int = 200, *, product: Any = None) -> HttpResponse:
    return show(request, "dashboard/products/form.html", {"given": given, "errors": errors, "product": product}, status=status)


def create_price(request: PageRequest, id: str) -> HttpResponse:
    product: Product = find(_products(request), id)
    if request.method == "GET":
        given = {"currency": request.access.store.settlement_currency, "interval": Interval.MONTHLY.value, "interval_count": "1"}
        return _price_form(request, product, given | form_keys.new(), [])
    given = texts(request.POST, "unit_amount", "currency", "interval", "interval_count", form_keys.NAME)
    try:
        body = {
            "unit_amount_cents": cents(given["unit_amount"], "amount"),
            "interval_count": whole(given["interval_count"] or "1", "interval_count"),
            **kept(given, "currency", "interval"),
        }
        catalog.create_price(request.access, product, {"price": body}, form_keys.of(given))
    except Refusals as refusal:
        return _price_form(request, product, given, told(refusal), status_of(refusal))
    messages.success(request, "The price is made.")
    return go("product", product.pk)


def _price_form(request: PageRequest, product: Product, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    context = {"product": product, "given": given, "errors": errors, "currencies": Currency.choices, "intervals": _INTERVALS}
    return show(request, "dashboard/products/price.html", context, status=status)


_INTERVALS = (("daily", "days"), ("weekly", "weeks"), ("monthly", "months"), ("yearly", "years"))


def switch_price(request: PageRequest, id: str, price_id: str) -> HttpResponse:
    """Archive it, or take new subscriptions to it again."""
    product: Product = find(_products(request), id)
    price: Price = find(selectors.prices_of(product).select_related("product"), price_id)
    is_on = request.POST.get("to") == "active"
    catalog.set_price_active(request.access, price, is_on)
    messages.success(request, "The price takes subscriptions again." if is_on else "The price is archived. Subscriptions to it go on.")
    return go("product", product.pk)
