"""Customers, invoices, subscriptions, products and prices by what people have of them; indexes
alone are asked."""

from typing import Any

from django.db.models import Q, QuerySet

from apps.billing.models import Customer, Invoice, InvoicePayment, Price, Product, Subscription
from apps.billing.numbers import series_of
from apps.billing.selectors import payments_of
from apps.core.models import Viewer
from apps.core.searching import SearchTerm, beginning, found_by_any

_NEWEST = ("-created_at", "-id")
_NAMES = ("email", "name")
_NUMBER_MAX = 2**31 - 1


def find_customers(viewer: Viewer, term: SearchTerm, limit: int) -> list[Customer]:
    """By id, or how the email address or the name begins, newest first; deleted ones are not
    found."""
    rows = Customer.objects.visible_to(viewer).filter(deleted_at=None)
    matches = (
        rows.filter(pk=term.id)
        if term.id is not None
        else found_by_any(rows, begins=(term, _NAMES))
    )
    return list(matches.order_by(*_NEWEST)[:limit])


def find_invoices(viewer: Viewer, term: SearchTerm, limit: int) -> list[Invoice]:
    """By id, number or customer, newest first."""
    condition = (
        Q(pk=term.id)
        if term.id is not None
        else term.begins("custom_number") | Q(customer__in=_customers(viewer, term, limit))
    )
    digits = term.text.upper().removeprefix("INV-")
    if digits.isascii() and digits.isdigit() and len(digits) <= 10 and int(digits) <= _NUMBER_MAX:
        condition |= Q(number=int(digits))
    if parsed := series_of(term.text):
        condition |= Q(series=parsed[0], series_number=parsed[1])
    return list(
        Invoice.objects.visible_to(viewer)
        .filter(condition)
        .select_related("customer")
        .order_by(*_NEWEST)[:limit]
    )


def find_subscriptions(viewer: Viewer, term: SearchTerm, limit: int) -> list[Subscription]:
    """By id or customer, newest first."""
    condition = (
        Q(pk=term.id) if term.id is not None else Q(customer__in=_customers(viewer, term, limit))
    )
    rows = (
        Subscription.objects.visible_to(viewer)
        .filter(condition)
        .select_related("customer", "price__product")
    )
    return list(rows.order_by(*_NEWEST)[:limit])


def find_products(viewer: Viewer, term: SearchTerm, limit: int) -> list[Product]:
    """By id, or how the name begins, newest first."""
    condition = Q(pk=term.id) if term.id is not None else term.begins("name")
    return list(Product.objects.visible_to(viewer).filter(condition).order_by(*_NEWEST)[:limit])


def find_prices(viewer: Viewer, term: SearchTerm, limit: int) -> list[Price]:
    """By id, each with its product."""
    if term.id is None:
        return []
    rows = Price.objects.visible_to(viewer).filter(pk=term.id)
    return list(rows.select_related("product")[:limit])


def products_beginning(rows: "QuerySet[Product]", text: str) -> "QuerySet[Product]":
    """Those with this id, or whose name begins with it; all of them without a text."""
    if not text:
        return rows
    term = SearchTerm.of(text)
    return rows.filter(pk=term.id) if term.id is not None else rows.filter(term.begins("name"))


def payments_of_email(viewer: Viewer, term: SearchTerm) -> "QuerySet[InvoicePayment, Any] | None":
    """The ids of the payments made for invoices of the customer with this address, whatever its
    case."""
    if not term.email:
        return None
    return payments_of(viewer, term.email)


def _customers(viewer: Viewer, term: SearchTerm, limit: int) -> list[Any]:
    """Ids."""
    queries = beginning(Customer.objects.visible_to(viewer), term, _NAMES)
    if not queries:
        return []
    first, *rest = (query.values_list("pk", "created_at") for query in queries)
    return [pk for pk, _ in first.union(*rest).order_by("-created_at", "-pk")[:limit]]
