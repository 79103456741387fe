"""Reads of billing. A door begins with `seen_by`; a list loads what its documents show in a few queries."""

from django.db.models import Prefetch, Q, QuerySet

from apps.billing.models import Customer, Invoice, InvoicePayment, Price, Product, Subscription, SubscriptionItem
from apps.core.literal import is_uuid
from apps.core.models import Viewer

_NEWEST = ("-created_at", "-id")


def products_seen_by(viewer: Viewer) -> "QuerySet[Product]":
    """Newest first."""
    return Product.objects.seen_by(viewer).order_by(*_NEWEST)


def prices_of(product: Product) -> "QuerySet[Price]":
    """Newest first, archived ones too."""
    return Price.objects.filter(product=product).order_by(*_NEWEST)


def customers_seen_by(viewer: Viewer) -> "QuerySet[Customer]":
    """Newest first, deleted ones too."""
    return Customer.objects.seen_by(viewer).order_by(*_NEWEST)


def active_customers(viewer: Viewer, text: str = "") -> "QuerySet[Customer]":
    """Those that weren't deleted; `text` is a part of the e-mail address or the name, in any case."""
    rows = customers_seen_by(viewer).filter(deleted_at=None)
    if not text:
        return rows
    return rows.filter(Q(email__icontains=text) | Q(name__icontains=text)) if "\x00" not in text else rows.none()


def subscriptions_seen_by(viewer: Viewer) -> "QuerySet[Subscription]":
    """Newest first, each with what its document shows."""
    return with_parts(Subscription.objects.seen_by(viewer).order_by(*_NEWEST))


def with_parts(rows: "QuerySet[Subscription]") -> "QuerySet[Subscription]":
    add_ons = SubscriptionItem.objects.select_related("price__product")
    return rows.select_related("store", "customer", "price__product").prefetch_related(Prefetch("add_ons", add_ons))


def filtered_subscriptions(
    rows: "QuerySet[Subscription]", *, status: str | None = None, customer_id: str | None = None
) -> "QuerySet[Subscription]":
    """An unknown status is ignored, as everywhere."""
    if status in Subscription.Status.values:
        rows = rows.filter(status=status)
    if customer_id:
        rows = rows.filter(customer_id=customer_id) if is_uuid(customer_id) else rows.none()
    return rows


def invoices_seen_by(viewer: Viewer) -> "QuerySet[Invoice]":
    """Newest first, each with what its document shows."""
    rows: QuerySet[Invoice] = Invoice.objects.seen_by(viewer).order_by(*_NEWEST)
    return rows.select_related("store", "customer").prefetch_related("lines")


def filtered_invoices(
    rows: "QuerySet[Invoice]", *, status: str | None = None, customer_id: str | None = None, subscription_id: str | None = None
) -> "QuerySet[Invoice]":
    """An unknown status is ignored; an id that is none finds nothing."""
    if status in Invoice.Status.values:
        rows = rows.filter(status=status)
    for column, id in (("customer_id", customer_id), ("subscription_id", subscription_id)):
        if id:
            rows = rows.filter(**{column: id}) if is_uuid(id) else rows.none()
    return rows


def by_token(token: str) -> Invoice | None:
    """The invoice behind a public link; a draft has none."""
    if not token.isascii() or not token.isprintable():
        return None
    return Invoice.objects.filter(public_token=token).select_related("store", "customer").prefetch_related("lines").first()


def last_payment(invoice: Invoice) -> InvoicePayment | None:
    """The invoice's latest payment intent."""
    return InvoicePayment.objects.filter(invoice=invoice).select_related("payment__store").order_by("-id").first()
