"""The columns of the lists of customers, products, invoices and subscriptions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.billing import selectors
from apps.billing.models import Customer, Invoice, Price, Product, Subscription
from apps.billing.numbers import formatted_number
from apps.billing.states import CANCELED, PAUSED
from apps.billing.subscriptions.upcoming import cycle_cents
from apps.core import clock, money
from apps.core.templatetags.tillgate import (
    badge,
    cycle_words,
    document_day,
    email_text,
    fiat,
    labeled_period,
)
from apps.dashboard.site.views import PageRequest
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.columns import (
    cents_column,
    day_column,
    id_column,
    number_column,
    text_column,
    time_column,
)
from apps.dashboard.tables.lists import Column, Listing, listing

# What of a free-form address forms and files know.
ADDRESS = {
    "line1": _("Street and number"),
    "line2": _("Address line 2"),
    "postal_code": _("Postal code"),
    "city": _("City"),
    "state": _("State or region"),
    "country": _("Country"),
}


@dataclass(frozen=True)
class CustomerLine:
    customer: Customer
    running: int
    open: int


def _customers(
    request: PageRequest, rows: Sequence[Customer], columns: frozenset[str]
) -> list[CustomerLine]:
    running = selectors.running_counts(request.access, rows) if "subscriptions" in columns else {}
    waiting = selectors.open_counts(request.access, rows) if "open" in columns else {}
    return [
        CustomerLine(customer, running.get(customer.pk, 0), waiting.get(customer.pk, 0))
        for customer in rows
    ]


def _customer_name(line: CustomerLine) -> SafeString:
    customer = line.customer
    return list_cells.name(
        "customer",
        customer.pk,
        customer.name or customer.email,
        email_text(customer.email) if customer.name else "",
    )


def _part_of_address(name: str, label: str) -> Column:
    return text_column(
        name,
        label,
        lambda line: str((line.customer.address or {}).get(name) or ""),
        is_default=False,
    )


CUSTOMERS = listing(
    Listing(
        "customers",
        (
            Column(
                "customer",
                _("Customer"),
                _customer_name,
                {
                    "email": lambda line: line.customer.email,
                    "name": lambda line: line.customer.name,
                },
            ),
            number_column("open", _("Open invoices"), lambda line: line.open),
            number_column("subscriptions", _("Subscriptions"), lambda line: line.running),
            text_column("phone", _("Phone"), lambda line: line.customer.phone, is_default=False),
            *(_part_of_address(name, label) for name, label in ADDRESS.items()),
            Column(
                "added",
                _("Added"),
                lambda line: list_cells.named_on_phone(
                    gettext("Added"), list_cells.day(line.customer.created_at)
                ),
                {"created_at": lambda line: clock.iso(line.customer.created_at)},
                on_phone=True,
            ),
            id_column(lambda line: line.customer),
        ),
        _customers,
    )
)


@dataclass(frozen=True)
class ProductLine:
    """A product with its newest price on offer, how many of those it has, and how many
    subscriptions go to any of its prices."""

    product: Product
    price: Price | None
    prices: int
    running: int


def _products(
    request: PageRequest, rows: Sequence[Product], columns: frozenset[str]
) -> list[ProductLine]:
    newest = selectors.newest_prices(rows) if "pricing" in columns else {}
    counts = selectors.price_counts(rows) if columns & {"pricing", "prices"} else {}
    running = (
        selectors.running_of_products(request.access, rows) if "subscriptions" in columns else {}
    )
    return [
        ProductLine(
            product, newest.get(product.pk), counts.get(product.pk, 0), running.get(product.pk, 0)
        )
        for product in rows
    ]


def _product_name(line: ProductLine) -> SafeString:
    return list_cells.name(
        "product",
        line.product.pk,
        line.product.name,
        list_cells.shortened(line.product.description or ""),
    )


def _pricing(line: ProductLine) -> SafeString:
    price = line.price
    if price is None:
        return list_cells.NONE
    every = cycle_words(price.interval, price.interval_count)
    more = (
        format_html(
            '<br><span class="small muted">{}</span>',
            gettext("+{number} more").format(number=line.prices - 1),
        )
        if line.prices > 1
        else ""
    )
    return format_html(
        '<span class="nowrap">{}<br class="phone-only"> <span class="muted">{}</span></span>{}',
        fiat(price.unit_amount_cents, price.currency),
        every,
        more,
    )


PRODUCTS = listing(
    Listing(
        "products",
        (
            Column(
                "product",
                _("Product"),
                _product_name,
                {
                    "name": lambda line: line.product.name,
                    "description": lambda line: line.product.description or "",
                },
            ),
            Column(
                "pricing",
                _("Pricing"),
                _pricing,
                {
                    "newest_price": lambda line: (
                        ""
                        if line.price is None
                        else money.text_from_cents(line.price.unit_amount_cents)
                    ),
                    "currency": lambda line: "" if line.price is None else line.price.currency,
                    "interval": lambda line: "" if line.price is None else line.price.interval,
                    "interval_count": lambda line: (
                        "" if line.price is None else line.price.interval_count
                    ),
                },
                on_phone=True,
            ),
            Column(
                "status",
                _("Status"),
                lambda line: badge("product", "active" if line.product.active else "inactive"),
                {"active": lambda line: "yes" if line.product.active else "no"},
                on_phone=True,
            ),
            number_column("prices", _("Active prices"), lambda line: line.prices, is_default=False),
            number_column(
                "subscriptions",
                _("Subscriptions"),
                lambda line: line.running,
                is_default=False,
            ),
            day_column(
                "added",
                _("Added"),
                lambda line: line.product.created_at,
                name="created_at",
                on_phone=True,
            ),
            id_column(lambda line: line.product),
        ),
        _products,
    )
)


@dataclass(frozen=True)
class InvoiceRow:
    invoice: Invoice
    now: datetime
    is_being_paid: bool


def _invoices(
    request: PageRequest, rows: Sequence[Invoice], columns: frozenset[str]
) -> list[InvoiceRow]:
    now = request.access.now()
    paying = selectors.being_paid(rows)
    return [InvoiceRow(invoice, now, invoice.pk in paying) for invoice in rows]


def _invoice_name(line: InvoiceRow) -> SafeString:
    invoice = line.invoice
    period = labeled_period(invoice.description or "") if invoice.period_key else ""
    who = invoice.customer.name or invoice.customer.email
    below = format_html(
        '<span class="phone-only">{}{}</span>{}',
        list_cells.words(who),
        mark_safe("<br>") if period else "",
        period,
    )
    return list_cells.name(
        "invoice", invoice.pk, formatted_number(invoice) or gettext("Draft"), below
    )


def _invoice_status(line: InvoiceRow) -> SafeString:
    invoice = line.invoice
    late = "past_due" if invoice.is_past_due(line.now) else invoice.status
    badges = [badge("invoice", "confirming" if line.is_being_paid else late)]
    if invoice.needs_attention:
        badges.append(badge("attention", "card_refund"))
    if invoice.refunded_cents:
        is_all = invoice.refunded_cents >= invoice.amount_paid_cents
        badges.append(badge("payment", "refunded" if is_all else "partially_refunded"))
    return list_cells.words_apart(badges)


def _invoice_cents(
    key: str, label: str, attribute: str, *, is_default: bool = False, on_phone: bool = False
) -> Column:
    return cents_column(
        key,
        label,
        lambda line: getattr(line.invoice, attribute),
        lambda line: line.invoice.currency,
        is_default=is_default,
        on_phone=on_phone,
    )


def _due(line: InvoiceRow) -> SafeString:
    """The day that the invoice itself names."""
    invoice = line.invoice
    if invoice.due_at is None:
        return list_cells.NONE
    return list_cells.named_on_phone(gettext("Due"), document_day(invoice.due_at, invoice.zone))


def _subscription_of(line: InvoiceRow) -> SafeString:
    invoice = line.invoice
    return (
        list_cells.link("subscription", invoice.subscription_id, gettext("View"))
        if invoice.subscription_id
        else list_cells.NONE
    )


INVOICES = listing(
    Listing(
        "invoices",
        (
            Column(
                "invoice",
                _("Invoice"),
                _invoice_name,
                {
                    "number": lambda line: formatted_number(line.invoice),
                    "period": lambda line: (
                        line.invoice.description if line.invoice.period_key else None
                    ),
                },
            ),
            Column(
                "customer",
                _("Customer"),
                lambda line: list_cells.customer(line.invoice.customer),
                {
                    "customer_email": lambda line: line.invoice.customer.email,
                    "customer_name": lambda line: line.invoice.customer.name,
                },
            ),
            _invoice_cents("total", _("Total"), "total_cents", is_default=True, on_phone=True),
            text_column(
                "currency",
                _("Currency"),
                lambda line: line.invoice.currency,
                is_default=False,
            ),
            _invoice_cents("paid", _("Paid"), "amount_paid_cents", is_default=True),
            Column(
                "status",
                _("Status"),
                _invoice_status,
                {"status": lambda line: line.invoice.status},
                on_phone=True,
            ),
            Column(
                "due",
                _("Due"),
                _due,
                {"due_at": lambda line: clock.iso(line.invoice.due_at)},
                on_phone=True,
            ),
            _invoice_cents("subtotal", _("Subtotal"), "subtotal_cents"),
            _invoice_cents("discount", _("Discount"), "discount_cents"),
            _invoice_cents("tax", _("Tax"), "tax_cents"),
            _invoice_cents("refunded", _("Refunded"), "refunded_cents"),
            text_column(
                "po_number", "PO number", lambda line: line.invoice.po_number, is_default=False
            ),
            time_column(
                "created",
                _("Created"),
                lambda line: line.invoice.created_at,
                name="created_at",
            ),
            time_column(
                "finalized",
                _("Finalized"),
                lambda line: line.invoice.finalized_at,
                name="finalized_at",
            ),
            time_column("paid_at", _("Paid at"), lambda line: line.invoice.paid_at, name="paid_at"),
            time_column(
                "voided", _("Voided"), lambda line: line.invoice.voided_at, name="voided_at"
            ),
            Column(
                "subscription",
                _("Subscription"),
                _subscription_of,
                {"subscription_id": lambda line: line.invoice.subscription_id},
                is_default=False,
            ),
            id_column(lambda line: line.invoice),
        ),
        _invoices,
    )
)


def _products_of(subscription: Subscription) -> str:
    return ", ".join(
        [
            subscription.price.product.name,
            *(item.price.product.name for item in subscription.add_ons.all()),
        ]
    )


def _cycle(subscription: Subscription) -> SafeString:
    words = cycle_words(subscription.price.interval, subscription.price.interval_count)
    return format_html(
        '{}<br><span class="small muted">{}</span>',
        fiat(cycle_cents(subscription), subscription.price.currency),
        words,
    )


def _subscription_status(subscription: Subscription) -> SafeString:
    status = badge("subscription", subscription.status)
    return (
        format_html('{} <span class="badge quiet">{}</span>', status, gettext("Ends"))
        if subscription.cancel_at_period_end
        else status
    )


def _next(subscription: Subscription) -> SafeString:
    """In days as its invoices name them."""
    zone = subscription.zone
    if subscription.status == CANCELED:
        day, words = document_day(subscription.canceled_at, zone), gettext("ended {day}")
    elif subscription.cancel_at_period_end:
        day, words = document_day(subscription.cancel_at, zone), gettext("ends {day}")
    elif subscription.status != PAUSED:
        day = document_day(subscription.next_billing_at, zone)
        return list_cells.named_on_phone(gettext("Next"), day)
    else:
        return list_cells.NONE
    return format_html('<span class="muted">{}</span>', format_html(words, day=day))


def _moment_of(key: str, label: str, attribute: str) -> Column:
    return time_column(
        key, label, lambda subscription: getattr(subscription, attribute), name=attribute
    )


SUBSCRIPTIONS = listing(
    Listing(
        "subscriptions",
        (
            Column(
                "customer",
                _("Customer"),
                lambda subscription: list_cells.name(
                    "subscription",
                    subscription.pk,
                    subscription.customer.name or subscription.customer.email,
                    _products_of(subscription),
                ),
                {
                    "customer_email": lambda subscription: subscription.customer.email,
                    "customer_name": lambda subscription: subscription.customer.name,
                    "products": _products_of,
                },
            ),
            Column(
                "amount",
                _("Per cycle"),
                _cycle,
                {
                    "amount": lambda subscription: money.text_from_cents(cycle_cents(subscription)),
                    "currency": lambda subscription: subscription.price.currency,
                    "interval": lambda subscription: subscription.price.interval,
                    "interval_count": lambda subscription: subscription.price.interval_count,
                },
                is_number=True,
                on_phone=True,
            ),
            Column(
                "status",
                _("Status"),
                _subscription_status,
                {"status": lambda subscription: subscription.status},
                on_phone=True,
            ),
            Column(
                "next",
                _("Next invoice"),
                _next,
                {"next_billing_at": lambda subscription: clock.iso(subscription.next_billing_at)},
                on_phone=True,
            ),
            number_column(
                "failed",
                _("Failed in a row"),
                lambda subscription: subscription.failed_cycle_count,
                is_default=False,
            ),
            _moment_of("created", _("Created"), "created_at"),
            _moment_of("period_start", _("Period from"), "current_period_start"),
            _moment_of("period_end", _("Period to"), "current_period_end"),
            _moment_of("trial_end", _("Trial until"), "trial_end"),
            _moment_of("cancel_at", _("Ends"), "cancel_at"),
            _moment_of("canceled_at", _("Canceled"), "canceled_at"),
            id_column(lambda subscription: subscription),
        ),
    )
)
