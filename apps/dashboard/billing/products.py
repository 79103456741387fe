"""Products and their prices: the list, one product, its form, and a price, which is made, archived
and activated but never changed."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.billing import selectors
from apps.billing.models import Interval, Price, Product
from apps.billing.requests import PriceRequest, ProductChanges, ProductRequest
from apps.billing.search import products_beginning
from apps.billing.services import catalog
from apps.core import clock, money
from apps.core.searching import LENGTH_MAX
from apps.core.typed_amounts import cents_typed, whole_typed
from apps.dashboard.billing.columns import PRODUCTS
from apps.dashboard.billing.forms import BillingForm, rates_to_choose
from apps.dashboard.billing.tax_words import SUPPLIES
from apps.dashboard.site import form_keys
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, is_htmx, show
from apps.dashboard.tables.exports import csv_file
from apps.dashboard.tables.paging import window
from apps.stores.models import Currency

_TABS = {
    "": gettext_noop("All"),
    "active": gettext_noop("Active"),
    "inactive": gettext_noop("Inactive"),
}
_COLUMNS = (
    "product",
    "product_active",
    "unit_amount",
    "currency",
    "interval",
    "interval_count",
    "active",
    "created_at",
    "mode",
    "id",
)


@dataclass(frozen=True)
class ProductListFilters:
    """Filters in the list's address. What it can't mean is left out."""

    status: str
    q: str

    @classmethod
    def of(cls, request: PageRequest) -> "ProductListFilters":
        status = request.GET.get("status", "")
        text = request.GET.get("q", "").strip()[:LENGTH_MAX]
        return cls(status if status in _TABS else "", text)

    @property
    def parameters(self) -> dict[str, str]:
        return self.with_status(self.status)

    def with_status(self, status: str) -> dict[str, str]:
        values = {"status": status, "q": self.q}
        return {name: value for name, value in values.items() if value}


def index(request: PageRequest) -> HttpResponse:
    filters = ProductListFilters.of(request)
    page = window(_rows(request, filters), request.GET, filters.parameters)
    context = {
        "table": PRODUCTS.table(request, page.rows, filters.parameters),
        "window": page,
        "filters": filters,
        "length_max": LENGTH_MAX,
        "tabs": [
            {
                "name": gettext(name),
                "query": urlencode(filters.with_status(status)),
                "is_current": status == filters.status,
            }
            for status, name in _TABS.items()
        ],
        "is_empty": not page.rows and not filters.parameters and "page" not in request.GET,
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request,
        "dashboard/products/_rows.html" if part else "dashboard/products/list.html",
        context,
    )


def _rows(request: PageRequest, filters: ProductListFilters) -> "QuerySet[Product]":
    """Products that match the filters."""
    rows = products_beginning(_products(request), filters.q)
    return rows.filter(active=filters.status == "active") if filters.status else rows


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    return PRODUCTS.csv(request, _rows(request, ProductListFilters.of(request)))


def export_prices(request: PageRequest) -> Answer:
    """A line for each price of any product."""
    rows = (
        Price.objects.visible_to(request.access)
        .select_related("product")
        .order_by("product__name", "product_id", "-created_at", "-id")
    )
    return csv_file(request, "prices", _COLUMNS, rows, _cells, back=reverse("dashboard:products"))


def _cells(price: Price) -> list[object]:
    values = [
        price.product.name,
        price.product.active,
        money.text_from_cents(price.unit_amount_cents),
        price.currency,
    ]
    return [
        *values,
        price.interval,
        price.interval_count,
        price.active,
        clock.iso(price.created_at),
        price.mode,
        price.pk,
    ]


def _products(request: PageRequest) -> "QuerySet[Product]":
    return selectors.products_visible_to(request.access)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    """The product; a POST turns it on or off."""
    product: Product = find(_products(request), id)
    if request.method == "POST":
        is_on = request.POST.get("to") == "active"
        catalog.update_product(request.access, product, ProductChanges(active=is_on))
        messages.success(
            request,
            gettext("Product activated.")
            if is_on
            else gettext("Product deactivated. Existing subscriptions continue."),
        )
        return go("product", product.pk)
    prices = list(selectors.prices_of(product))
    running = selectors.subscriptions_to(request.access, prices)
    context = {
        "product": product,
        "prices": [{"price": price, "running": running.get(price.pk, 0)} for price in prices],
    }
    return show(request, "dashboard/products/detail.html", context)


class ProductForm(BillingForm):
    names = ("name", "description", "tax_rate_id", "supply_type")
    hidden = (form_keys.NAME,)

    def request(self) -> ProductRequest:
        """Raises Invalid."""
        return ProductRequest.read(self.filled(*self.names))

    def changes(self) -> ProductChanges:
        """Raises Invalid."""
        return ProductChanges.read(self.filled(*self.names))


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, ProductForm(form_keys.new()))
    form = ProductForm(request.POST.dict())
    try:
        key = form_keys.of(form.values)
        product = catalog.create_product(request.access, form.request(), form_key=key)
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    messages.success(request, gettext("Product created. Add a price next."))
    return go("price_create", product.pk)


def edit(request: PageRequest, id: str) -> HttpResponse:
    product: Product = find(_products(request), id)
    if request.method == "GET":
        shown = {name: str(getattr(product, name) or "") for name in ProductForm.names}
        return _form(request, ProductForm(shown), product)
    form = ProductForm(request.POST.dict())
    try:
        catalog.update_product(request.access, product, form.changes())
    except Refusals as refusal:
        return _form(request, form.refuse(refusal), product)
    messages.success(request, gettext("Saved. New invoices will show this."))
    return go("product", product.pk)


def _form(request: PageRequest, form: ProductForm, product: Product | None = None) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "product": product,
        "rates": rates_to_choose(request.access, form.values["tax_rate_id"]),
        "supplies": [(value, gettext(label)) for value, label in SUPPLIES.items()],
    }
    return show(request, "dashboard/products/form.html", context, status=form.status)


class PriceForm(BillingForm):
    names = ("unit_amount", "currency", "interval_count", "interval", "tax_rate_id")
    hidden = (form_keys.NAME,)
    inputs = {"amount": "unit_amount", "unit_amount_cents": "unit_amount"}

    def request(self) -> PriceRequest:
        """Raises Invalid."""
        chosen = self.values["currency"]
        currency = chosen if chosen in Currency.values else ""
        return PriceRequest.read(
            {
                "unit_amount_cents": cents_typed(self.values["unit_amount"], "amount", currency),
                "interval_count": whole_typed(
                    self.values["interval_count"] or "1", "interval_count"
                ),
                **self.filled("currency", "interval", "tax_rate_id"),
            }
        )


def create_price(request: PageRequest, id: str) -> HttpResponse:
    product: Product = find(_products(request), id)
    if request.method == "GET":
        usual = {
            "currency": request.access.store.settlement_currency,
            "interval": Interval.MONTHLY.value,
            "interval_count": "1",
        }
        return _price_form(request, product, PriceForm(usual | form_keys.new()))
    form = PriceForm(request.POST.dict())
    try:
        key = form_keys.of(form.values)
        catalog.create_price(request.access, product, form.request(), form_key=key)
    except Refusals as refusal:
        return _price_form(request, product, form.refuse(refusal))
    messages.success(request, gettext("Price created."))
    return go("product", product.pk)


def _price_form(request: PageRequest, product: Product, form: PriceForm) -> HttpResponse:
    context = {
        "product": product,
        "form": form,
        "errors": form.common_errors,
        "currencies": Currency.choices,
        "rates": rates_to_choose(request.access, form.values["tax_rate_id"]),
        "intervals": [(value, gettext(one), gettext(many)) for value, one, many in _INTERVALS],
    }
    return show(request, "dashboard/products/price.html", context, status=form.status)


# value -> what one of them is called, and several
_INTERVALS = (
    ("daily", gettext_noop("day"), gettext_noop("days")),
    ("weekly", gettext_noop("week"), gettext_noop("weeks")),
    ("monthly", gettext_noop("month"), gettext_noop("months")),
    ("yearly", gettext_noop("year"), gettext_noop("years")),
)


def switch_price(request: PageRequest, id: str, price_id: str) -> HttpResponse:
    """Archive it, or take new subscriptions to it again."""
    product: Product = find(_products(request), id)
    price: Price = find(selectors.prices_of(product).select_related("product"), price_id)
    is_on = request.POST.get("to") == "active"
    catalog.set_price_active(request.access, price, is_on)
    messages.success(
        request,
        gettext("Price activated.")
        if is_on
        else gettext("Price archived. Existing subscriptions continue."),
    )
    return go("product", product.pk)
