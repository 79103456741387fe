"""Reads of billing. A view begins with `visible_to`; a list loads what its documents show in a few
queries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import (
    Count,
    Exists,
    F,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Sum,
    UUIDField,
    Value,
    prefetch_related_objects,
)
from django.db.models.functions import Lower

from apps.billing.models import (
    Customer,
    Invoice,
    InvoicePayment,
    Price,
    Product,
    Subscription,
    SubscriptionItem,
    TaxRate,
    VatCheck,
)
from apps.billing.numbers import series_of
from apps.core import searching
from apps.core.clock import iso
from apps.core.db import tenancy
from apps.core.db.prepared_reads import Columns, Query, any_viewer
from apps.core.db.sql import BlankParameter, Statement, array
from apps.core.messages.fields import is_uuid
from apps.core.models import Viewer
from apps.core.searching import SearchTerm, found_by_any
from apps.payments.models import Payment
from apps.payments.states import PENDING_CONFIRMATIONS, PROCESSING

_NEWEST = ("-created_at", "-id")
# Payments of open invoices that are enough and wait for their confirmations.
CONFIRMING = Q(
    counted_at=None,
    invoice__status=Invoice.Status.OPEN,
    payment__status=PROCESSING,
    payment__state_reason=PENDING_CONFIRMATIONS,
    payment__settlement_amount_cents__gte=F("invoice__total_cents")
    - F("invoice__amount_paid_cents"),
)
FOUND_MAX = 1_000  # customers whose invoices are looked for


def products_visible_to(viewer: Viewer) -> "QuerySet[Product]":
    """Newest first."""
    return Product.objects.visible_to(viewer).order_by(*_NEWEST)


def prices_of(product: Product) -> "QuerySet[Price]":
    """Newest first, archived ones too."""
    return Price.objects.filter(product=product).order_by(*_NEWEST)


def newest_prices(products: Iterable[Product]) -> dict[Any, Price]:
    """Of each of these products the newest price on offer."""
    rows = Price.objects.filter(product__in=products, active=True)
    return {
        price.product_id: price
        for price in rows.order_by("product_id", *_NEWEST).distinct("product_id")
    }


def price_counts(products: Iterable[Product]) -> dict[Any, int]:
    """Number of offered prices of each product."""
    rows = Price.objects.filter(product__in=products, active=True)
    return dict(rows.order_by().values_list("product_id").annotate(Count("id")))


def running_of_products(viewer: Viewer, products: Iterable[Product]) -> dict[Any, int]:
    """Number of subscriptions that aren't canceled with a price of each product as their anchor."""
    rows = (
        Subscription.objects.visible_to(viewer)
        .filter(price__product__in=products)
        .exclude(status=Subscription.Status.CANCELED)
    )
    return dict(rows.order_by().values_list("price__product_id").annotate(Count("id")))


def customers_visible_to(viewer: Viewer) -> "QuerySet[Customer]":
    """Newest first, deleted ones too."""
    return Customer.objects.visible_to(viewer).order_by(*_NEWEST)


def active_customers(viewer: Viewer, text: str = "") -> "QuerySet[Customer]":
    """Those that weren't deleted; `text` is a part of the email address or the name, in any
    case."""
    rows = customers_visible_to(viewer).filter(deleted_at=None)
    if not text:
        return rows
    return (
        rows.filter(Q(email__icontains=text) | Q(name__icontains=text))
        if "\x00" not in text
        else rows.none()
    )


def search_customers(viewer: Viewer, text: str) -> "QuerySet[Customer]":
    """Those that weren't deleted and whose email address or name begins with `text`; of the newest,
    those that hold it anywhere as well."""
    rows = customers_visible_to(viewer).filter(deleted_at=None)
    if not text or "\x00" in text:
        return rows if not text else rows.none()
    parts = Q(email__icontains=text) | Q(name__icontains=text)
    return found_by_any(
        rows,
        begins=(SearchTerm.of(text), ("email", "name")),
        in_newest=parts,
        most=searching.LOOKED_THROUGH_MAX,
    )


def tax_rates_visible_to(viewer: Viewer) -> "QuerySet[TaxRate]":
    """Newest first, inactive ones too."""
    return TaxRate.objects.visible_to(viewer).order_by(*_NEWEST)


def vat_checks_of(viewer: Viewer, customer: Customer, limit: int = 100) -> "list[VatCheck]":
    """Answers of registries about a customer's number, newest first."""
    rows = VatCheck.objects.visible_to(viewer).filter(customer=customer)
    return list(rows.order_by(*_NEWEST)[:limit])


def customer_with_email(viewer: Viewer, email: str) -> Customer | None:
    """The one with this address, whatever its case; deleted ones are found too."""
    if "\x00" in email:
        return None
    customer: Customer | None = _named(viewer, email).first()
    return customer


def prices_on_offer(viewer: Viewer, limit: int) -> "list[Price]":
    """The active prices of active products, by product."""
    rows = (
        Price.objects.visible_to(viewer)
        .filter(active=True, product__active=True)
        .select_related("product")
    )
    return list(rows.order_by("product__name", "product_id", *_NEWEST)[:limit])


def subscriptions_visible_to(viewer: Viewer) -> "QuerySet[Subscription]":
    """Newest first, each with what its document shows."""
    return with_parts(Subscription.objects.visible_to(viewer).order_by(*_NEWEST))


def with_parts(rows: "QuerySet[Subscription]") -> "QuerySet[Subscription]":
    add_ons = SubscriptionItem.objects.select_related("price__tax_rate", "price__product__tax_rate")
    return rows.select_related(
        "store",
        "customer__tax_rate",
        "tax_rate",
        "price__tax_rate",
        "price__product__tax_rate",
    ).prefetch_related(Prefetch("add_ons", add_ons))


def parts_of_many(rows: "QuerySet[Subscription]") -> list[Subscription]:
    """Rows as of `with_parts`, whose stores, prices and rates are read once: those of one store
    share them."""
    add_ons = SubscriptionItem.objects.prefetch_related(
        "price__tax_rate", "price__product__tax_rate"
    )
    subscriptions = list(
        rows.select_related("customer").prefetch_related(
            "store__platform",
            "tax_rate",
            "customer__tax_rate",
            "price__tax_rate",
            "price__product__tax_rate",
            Prefetch("add_ons", add_ons),
        )
    )
    for row in subscriptions:
        row.customer.store = row.store
    return subscriptions


def filtered_subscriptions(
    rows: "QuerySet[Subscription]", *, status: str | None = None, customer_id: str | None = None
) -> "QuerySet[Subscription]":
    """An unknown status is ignored, as everywhere."""
    if status in Subscription.Status.values:
        rows = rows.filter(status=status)
    if customer_id:
        rows = rows.filter(customer_id=customer_id) if is_uuid(customer_id) else rows.none()
    return rows


def invoices_visible_to(viewer: Viewer) -> "QuerySet[Invoice]":
    """Newest first, each with what its document shows."""
    rows: QuerySet[Invoice] = Invoice.objects.visible_to(viewer).order_by(*_NEWEST)
    return rows.select_related("store", "customer").prefetch_related("lines", "taxes")


def filtered_invoices(
    rows: "QuerySet[Invoice]",
    *,
    status: str | None = None,
    customer_id: str | None = None,
    subscription_id: str | None = None,
) -> "QuerySet[Invoice]":
    """An unknown status is ignored; an id that is none finds nothing."""
    if status in Invoice.Status.values:
        rows = rows.filter(status=status)
    for column, id in (("customer_id", customer_id), ("subscription_id", subscription_id)):
        if id:
            rows = rows.filter(**{column: id}) if is_uuid(id) else rows.none()
    return rows


def search_invoices(viewer: Viewer, rows: "QuerySet[Invoice]", text: str) -> "QuerySet[Invoice]":
    """Those whose number it is, or whose own number or customer begins with `text`; of the newest,
    those that hold it there or in their order number as well."""
    if not text or "\x00" in text:
        return rows if not text else rows.none()
    term = SearchTerm.of(text)
    customers = Customer.objects.visible_to(viewer).filter(term.begins("email", "name"))
    lookups = [Q(customer__in=customers.values("pk")[:FOUND_MAX])]
    digits = text.upper().removeprefix("INV-")
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        lookups.append(Q(number=int(digits), custom_number=None))
    if parsed := series_of(text):
        lookups.append(Q(series=parsed[0], series_number=parsed[1]))
    parts = Q(custom_number__icontains=text) | Q(po_number__icontains=text)
    parts |= Q(customer__email__icontains=text) | Q(customer__name__icontains=text)
    return found_by_any(
        rows,
        *lookups,
        begins=(term, ("custom_number",)),
        in_newest=parts,
        most=searching.LOOKED_THROUGH_MAX,
    )


def being_paid(invoices: Iterable[Invoice]) -> set[Any]:
    """The IDs of those of them that a confirming payment covers."""
    open_ids = [invoice.pk for invoice in invoices if invoice.status == Invoice.Status.OPEN]
    if not open_ids:
        return set()
    links = InvoicePayment.objects.filter(CONFIRMING, invoice__in=open_ids)
    return set(links.values_list("invoice_id", flat=True))


def past_due_invoices(rows: "QuerySet[Invoice]", now: datetime) -> "QuerySet[Invoice]":
    """Those that weren't paid in time and aren't being paid."""
    links = InvoicePayment.objects.filter(CONFIRMING, invoice=OuterRef("pk"))
    return rows.filter(~Exists(links), status=Invoice.Status.OPEN, due_at__lt=now)


@dataclass(frozen=True)
class OpenInvoiceSum:
    """The rest of the open invoices of one currency, and the part of it that is past due and isn't
    being paid."""

    currency: str
    count: int
    left_cents: int
    late_count: int
    late_cents: int


def owed(viewer: Viewer, now: datetime, customer: Customer | None = None) -> list[OpenInvoiceSum]:
    """By currency, the largest first."""
    rows = Invoice.objects.visible_to(viewer).filter(status=Invoice.Status.OPEN)
    if customer is not None:
        rows = rows.filter(customer=customer)
    remaining = Sum(F("total_cents") - F("amount_paid_cents"))
    late = Q(due_at__lt=now)
    # No column but those of the index that adds them up alone.
    sums = rows.values("currency").annotate(
        count=Count("*"),
        left_cents=remaining,
        late_count=Count("due_at", filter=late),
        late_cents=Sum(F("total_cents") - F("amount_paid_cents"), filter=late),
    )
    paying = _late_and_paid(viewer, now, customer) if any(row["late_count"] for row in sums) else {}
    totals = [
        _less(OpenInvoiceSum(**{**row, "late_cents": row["late_cents"] or 0}), paying)
        for row in sums
    ]
    return sorted(totals, key=lambda total: (-total.left_cents, total.currency))


def _late_and_paid(
    viewer: Viewer, now: datetime, customer: Customer | None
) -> dict[str, tuple[int, int]]:
    """By currency, how many invoices that are past due are being paid, and what they leave."""
    links = InvoicePayment.objects.filter(
        CONFIRMING,
        payment__in=Payment.objects.visible_to(viewer).filter(status=PROCESSING).values("pk"),
        invoice__due_at__lt=now,
        **({} if customer is None else {"invoice__customer": customer}),
    )
    remaining = Sum(F("invoice__total_cents") - F("invoice__amount_paid_cents"))
    sums = links.values_list("invoice__currency").annotate(count=Count("*"), cents=remaining)
    return {currency: (count, cents) for currency, count, cents in sums}


def _less(total: OpenInvoiceSum, paying: Mapping[str, tuple[int, int]]) -> OpenInvoiceSum:
    count, cents = paying.get(total.currency, (0, 0))
    return replace(total, late_count=total.late_count - count, late_cents=total.late_cents - cents)


def paid_ahead_until(subscription: Subscription, now: datetime) -> datetime | None:
    """End of the period that the customer has paid for, None when none is running."""
    if subscription.current_period_end <= now:
        return None
    paid = Invoice.objects.filter(
        period_key=period_key(subscription), status=Invoice.Status.PAID, total_cents__gt=0
    )
    return subscription.current_period_end if paid.exists() else None


def period_key(subscription: Subscription) -> str:
    """The unique key of the invoice of its current period."""
    return f"{subscription.pk}:{iso(subscription.current_period_start)}"


def running_counts(viewer: Viewer, customers: Iterable[Customer]) -> dict[Any, int]:
    """Number of subscriptions that aren't canceled of each customer."""
    rows = (
        Subscription.objects.visible_to(viewer)
        .filter(customer__in=customers)
        .exclude(status=Subscription.Status.CANCELED)
    )
    return dict(rows.values_list("customer_id").annotate(Count("id")))


def open_counts(viewer: Viewer, customers: Iterable[Customer]) -> dict[Any, int]:
    """Number of open invoices of each customer."""
    rows = Invoice.objects.visible_to(viewer).filter(
        customer__in=customers, status=Invoice.Status.OPEN
    )
    return dict(rows.values_list("customer_id").annotate(Count("id")))


def subscriptions_to(viewer: Viewer, prices: Iterable[Price]) -> dict[Any, int]:
    """Number of subscriptions that aren't canceled with each price as their anchor."""
    rows = (
        Subscription.objects.visible_to(viewer)
        .filter(price__in=prices)
        .exclude(status=Subscription.Status.CANCELED)
    )
    return dict(rows.values_list("price_id").annotate(Count("id")))


def by_token(token: str) -> Invoice | None:
    """The invoice behind a public link; a draft has none. Lines and taxes aren't read yet."""
    if not token.isascii() or not token.isprintable():
        return None
    rows = Invoice.objects.filter(public_token=token).select_related("store", "customer")
    return tenancy.opened("the public link of an invoice", rows.first)


def read_parts(invoice: Invoice) -> Invoice:
    """Reads lines and taxes of the row, which is returned."""
    prefetch_related_objects([invoice], "lines", "taxes")
    return invoice


def payments_of(viewer: Viewer, email: str) -> "QuerySet[InvoicePayment, Any]":
    """The ids of the payments made for invoices of the customers with this address, whatever its
    case."""
    customers = _named(viewer, email)
    return InvoicePayment.objects.filter(invoice__customer__in=customers).values("payment_id")


def _named(viewer: Viewer, email: str) -> "QuerySet[Customer]":
    return Customer.objects.visible_to(viewer).filter(email_key=Lower(Value(email)))


def payments_of_customer(viewer: Viewer, customer_id: str) -> "QuerySet[InvoicePayment, Any]":
    """The ids of the payments made for invoices of this customer; an id that is none finds
    nothing."""
    rows = Customer.objects.visible_to(viewer)
    customers = rows.filter(pk=customer_id) if is_uuid(customer_id) else rows.none()
    return InvoicePayment.objects.filter(invoice__customer__in=customers).values("payment_id")


_CUSTOMER = Columns(Customer, "c")
_CUSTOMERS = Statement(
    f"SELECT p.payment_id, {_CUSTOMER.text} FROM billing_invoicepayment p"  # noqa: S608  # only names of columns
    " JOIN billing_invoice i ON i.id = p.invoice_id JOIN billing_customer c ON c.id = i.customer_id"
    " WHERE p.payment_id = ANY (%(payments)s::uuid[])"
)


def customers_of(payments: Iterable[Payment]) -> dict[Any, Customer]:
    """Customer of each payment; payments without an invoice are left out."""
    rows = _CUSTOMERS.rows(payments=array(payment.pk for payment in payments))
    return {payment_id: _CUSTOMER.row(columns) for payment_id, *columns in rows}


def last_payment(invoice: Invoice) -> InvoicePayment | None:
    """The invoice's latest payment intent."""
    return (
        InvoicePayment.objects.filter(invoice=invoice)
        .select_related("payment__store")
        .order_by("-id")
        .first()
    )


_INVOICE_OF_PAYMENT = Query(
    lambda: (
        Invoice.objects.visible_to(any_viewer())
        .filter(payments__payment=BlankParameter("payment_id", UUIDField()))
        .order_by("id")[:1]
    ),
    "customer",
)


def invoice_of(viewer: Viewer, payment: Payment) -> Invoice | None:
    """The invoice that a payment intent was made for."""
    return _INVOICE_OF_PAYMENT.first(
        store_id=viewer.store_id, mode=viewer.mode, payment_id=payment.pk
    )


def payments_received(invoice: Invoice, limit: int = 50) -> list[InvoicePayment]:
    """The intents that brought something, oldest first."""
    rows = InvoicePayment.objects.filter(invoice=invoice).exclude(counted_cents=0, late_cents=0)
    return list(rows.select_related("payment__store").order_by("id")[:limit])
