"""Invoices for staff, with their lines, payments and history."""

import re
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest

from apps.billing.models import (
    Invoice,
    InvoiceChange,
    InvoiceLine,
    InvoicePayment,
)
from apps.billing.numbers import formatted_number, series_of
from apps.core.templatetags.tillgate import fiat, percentage
from apps.staff import lists
from apps.staff.lists import found_by
from apps.staff.pages import History, Part, ReadOnly
from apps.staff.plumbing.paging import BY_KEY

_OUR_NUMBER = re.compile(r"INV-([0-9]{1,10})", re.ASCII | re.IGNORECASE)
_ATTENTION = {
    "paid_void": "Paid after it was voided",
    "paid_uncollectible": "Paid after it was written off",
    "overpaid": "More than its total was paid",
}


def _discount(invoice: Invoice) -> str:
    """In the unit that its type says."""
    value = invoice.discount_value or 0
    if invoice.discount_type == Invoice.DiscountType.PERCENT:
        return percentage(str(value))
    return fiat(value, invoice.currency)


class Lines(Part):
    model = InvoiceLine
    fields = ["description", "quantity", "unit_amount_cents", "amount_cents"]
    list_select_related = ["invoice"]


class InvoicePaymentsInline(Part):
    model = InvoicePayment
    labels: ClassVar = {"counted_at": "Applied", "counted_cents": "Amount applied"}
    fields = ["created_at", "payment", "counted_cents", "counted_at", "refunded_cents"]
    list_select_related = ["invoice", "payment"]


class InvoiceChangesInline(History):
    model = InvoiceChange
    noun = "invoice"
    labels: ClassVar = {"created_at": "Time"}
    code_nouns: ClassVar = {"change": "invoice_change"}
    fields = ["created_at", "change", "from_status", "to_status"]


class InvoiceAdmin(ReadOnly):
    model = Invoice
    noun = "invoice"
    labels: ClassVar = {
        "discount_cents": "Discount amount",
        "due_judged_at": "Counted as overdue",
        "due_waits_until": "A payment is confirming, checked again",
        "next_letter_at": "Next reminder",
        "uncollectible_at": "Written off",
    }
    list_display = ["created", "shop", "label", "customer_email", "total", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store", "customer"]
    search_fields = ["id", "custom_number", "number", "^customer__email", "store"]
    search_help_text = (
        "Number, invoice ID, or the beginning of a customer’s email address or a store’s name"
    )
    customer_email = lists.text("customer__email", "Customer")
    total = lists.price("total_cents", "currency", "Total")
    ordering = [BY_KEY]
    exclude = ["public_token"]
    inlines = [Lines, InvoicePaymentsInline, InvoiceChangesInline]
    value_texts: ClassVar = {
        "discount_value": _discount,
        "needs_attention": lambda row: _ATTENTION.get(row.needs_attention, row.needs_attention),
        "number": formatted_number,
    }

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        """Our own number as people write it, and those of stores' own series, too."""
        rows, may_double = super().get_search_results(request, queryset, search_term)
        number = _OUR_NUMBER.fullmatch(search_term.strip())
        if number:
            rows |= found_by(queryset, ["number"], number[1])
        if parsed := series_of(search_term.strip()):
            rows |= queryset.filter(series=parsed[0], series_number=parsed[1])
        return rows, may_double

    def title_of(self, row: Invoice) -> str:
        return formatted_number(row) or "draft"

    @admin.display(description="Number")
    def label(self, row: Invoice) -> str:
        return formatted_number(row) or "Draft"
