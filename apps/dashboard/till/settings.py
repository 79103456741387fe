"""Settings of the point of sale: its currency, tips, VAT rates, the names of its devices, and the
items that it sells."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext, gettext_noop

from apps.billing.models import Product
from apps.billing.selectors import newest_prices, products_visible_to
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.money import decimal_from_atomic, text_from_cents
from apps.core.typed_amounts import cents_typed, listed, percent_typed
from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, Refusals, find, go, show
from apps.links.models import Till, TillItem
from apps.links.services.till import add_item, change_item, change_till, remove_item
from apps.links.till_requests import (
    ITEM_NAME_MAX,
    NAMES_MAX,
    RATES_MAX,
    TIPS_MAX,
    ItemRequest,
    TillRequest,
)
from apps.links.till_selectors import items_of, till_of
from apps.stores.models import Currency

# Products that an item can be made of, the newest.
PRODUCTS_MAX = 50


def _shares(text: str, name: str, most: int) -> list[int]:
    """`19, 7.5` or `19; 7,5 %` as basis points, in their order. Raises Invalid."""
    shares = listed(text, name)
    if len(shares) > most:
        raise Invalid(name, "too_many_items", maximum=most)
    return [percent_typed(share, name) for share in shares]


def _text(shares: list[int]) -> str:
    return ", ".join(decimal_from_atomic(bps, 2) for bps in shares)


class TillForm(Form):
    names = ("currency", "tips", "vat", "names")
    labels = {
        "tips": gettext_noop("Each tip"),
        "vat": gettext_noop("Each VAT rate"),
        "names": gettext_noop("Each name"),
    }

    def request(self) -> TillRequest:
        """Raises Invalid."""
        return TillRequest(
            currency=self.values["currency"],
            tip_bps=_shares(self.values["tips"], "tips", TIPS_MAX),
            vat_bps=_shares(self.values["vat"], "vat", RATES_MAX),
            names=[name.strip() for name in self.values["names"].split("\n") if name.strip()],
        )


def edit(request: PageRequest) -> HttpResponse:
    till = till_of(request.access.store)
    if request.method == "GET":
        values = {
            "currency": till.currency,
            "tips": _text(till.tip_bps),
            "vat": _text(till.vat_bps),
            "names": "\n".join(till.names),
        }
        return _settings(request, TillForm(values))
    form = TillForm.from_post(request.POST)
    try:
        change_till(request.access, form.request())
    except Refusals as refusal:
        return _settings(request, form.refuse(refusal))
    messages.success(request, gettext("Changes saved."))
    return go("till")


def _settings(request: PageRequest, form: TillForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "currencies": Currency.choices,
        "tips_max": TIPS_MAX,
        "rates_max": RATES_MAX,
        "names_max": NAMES_MAX,
    }
    return show(request, "dashboard/till/settings.html", context, status=form.status)


class ItemForm(Form):
    names = ("name", "price", "vat", "currency")
    labels = {
        "name": gettext_noop("The name"),
        "price": gettext_noop("The price"),
        "vat": gettext_noop("The VAT rate"),
    }

    def request(self, currency: str) -> ItemRequest:
        """Raises Invalid, or Failure for a price of a page that showed another currency."""
        values = self.values
        if not values["price"]:
            raise Invalid("price", "required")
        if values["currency"] not in ("", currency):
            raise Failure(gettext_noop("The currency has changed. Check the price"), field="price")
        return ItemRequest(
            name=values["name"],
            price_cents=cents_typed(values["price"], "price", currency),
            currency=currency,
            vat_bps=percent_typed(values["vat"], "vat") if values["vat"] else None,
        )


def items(request: PageRequest) -> HttpResponse:
    """Items of the point of sale, and the form of one more, which may be one of the store's
    products."""
    till = till_of(request.access.store)
    if request.method == "GET":
        return _items(request, till, ItemForm(_of_product(request, till)))
    form = ItemForm.from_post(request.POST)
    try:
        add_item(request.access, form.request(till.currency))
    except Refusals as refusal:
        return _items(request, till, form.refuse(refusal))
    messages.success(request, gettext("Item added."))
    return go("till_items")


def _of_product(request: PageRequest, till: Till) -> dict[str, str]:
    """The first values of the form: a product's name and its newest price, if that is in the
    till's currency."""
    values = {"name": "", "price": "", "vat": _text(till.vat_bps[:1])}
    id = request.GET.get("product", "")
    if not id:
        return values
    product: Product = find(_products(request), id)
    price = newest_prices([product]).get(product.pk)
    values["name"] = product.name[:ITEM_NAME_MAX]
    if price is not None and price.currency == till.currency and price.unit_amount_cents:
        values["price"] = text_from_cents(price.unit_amount_cents)
    return values


def _products(request: PageRequest) -> "QuerySet[Product]":
    return products_visible_to(request.access).filter(active=True)


def _items(request: PageRequest, till: Till, form: ItemForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "till": till,
        "items": list(items_of(request.access.store)),
        "products": list(_products(request)[:PRODUCTS_MAX]),
        "name_max": ITEM_NAME_MAX,
    }
    return show(request, "dashboard/till/items.html", context, status=form.status)


def _item(request: PageRequest, id: str) -> TillItem:
    row: TillItem = find(items_of(request.access.store), id)
    return row


def item(request: PageRequest, id: str) -> HttpResponse:
    """One item, to be changed for the sales that come."""
    row = _item(request, id)
    if request.method == "GET":
        values = {
            "name": row.name,
            "price": text_from_cents(row.price_cents),
            "vat": "" if row.vat_bps is None else decimal_from_atomic(row.vat_bps, 2),
        }
        return _one(request, row, ItemForm(values))
    form = ItemForm.from_post(request.POST)
    try:
        change_item(request.access, row, form.request(row.currency))
    except Refusals as refusal:
        return _one(request, row, form.refuse(refusal))
    messages.success(request, gettext("Changes saved."))
    return go("till_items")


def _one(request: PageRequest, row: TillItem, form: ItemForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "item": row,
        "name_max": ITEM_NAME_MAX,
    }
    return show(request, "dashboard/till/item.html", context, status=form.status)


def remove(request: PageRequest, id: str) -> HttpResponse:
    remove_item(request.access, _item(request, id))
    messages.success(request, gettext("Item removed."))
    return go("till_items")
