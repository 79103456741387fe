"""Billing for staff, who look and never write: what is sold, who is billed, and each record with its history."""

from django.contrib import admin

from apps.billing.documents.invoices import formatted_number
from apps.billing.models import (
    Customer,
    Invoice,
    InvoiceChange,
    InvoiceLine,
    InvoicePayment,
    Price,
    Product,
    Subscription,
    SubscriptionChange,
    SubscriptionItem,
)
from apps.core.staff import Part, ReadOnly


class Prices(Part):
    model = Price
    fields = ["created_at", "unit_amount_cents", "currency", "interval", "interval_count", "active"]


class Items(Part):
    model = SubscriptionItem
    fields = ["position", "price", "quantity"]


class SubscriptionChanges(Part):
    model = SubscriptionChange
    fields = ["created_at", "change", "from_status", "to_status"]


class Lines(Part):
    model = InvoiceLine
    fields = ["position", "description", "quantity", "unit_amount_cents", "amount_cents"]


class Payments(Part):
    model = InvoicePayment
    fields = ["created_at", "payment", "counted_cents", "counted_at", "refunded_cents"]


class InvoiceChanges(Part):
    model = InvoiceChange
    fields = ["created_at", "change", "from_status", "to_status"]


@admin.register(Product)
class ProductAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "name", "active"]
    list_filter = ["mode", "active"]
    list_select_related = ["store"]
    search_fields = ["=id", "=store__id", "store__name", "name"]
    ordering = ["-created_at"]
    inlines = [Prices]


@admin.register(Customer)
class CustomerAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "email", "name", "deleted_at"]
    list_filter = ["mode"]
    list_select_related = ["store"]
    search_fields = ["=id", "=store__id", "store__name", "email", "name"]
    ordering = ["-created_at"]


@admin.register(Subscription)
class SubscriptionAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "customer_email", "status", "next_billing_at", "next_step_at", "failed_cycle_count"]
    list_filter = ["status", "mode"]
    list_select_related = ["store", "customer"]
    search_fields = ["=id", "=store__id", "store__name", "customer__email"]
    ordering = ["-created_at"]
    inlines = [Items, SubscriptionChanges]

    @admin.display(description="customer")
    def customer_email(self, row: Subscription) -> str:
        return row.customer.email


@admin.register(Invoice)
class InvoiceAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "called", "customer_email", "status", "total_cents", "amount_paid_cents", "currency"]
    list_filter = ["status", "mode", "needs_attention"]
    list_select_related = ["store", "customer"]
    search_fields = ["=id", "=store__id", "store__name", "customer__email", "=custom_number", "=period_key"]
    ordering = ["-created_at"]
    exclude = ["public_token"]
    inlines = [Lines, Payments, InvoiceChanges]

    @admin.display(description="number")
    def called(self, row: Invoice) -> str:
        return formatted_number(row) or "draft"

    @admin.display(description="customer")
    def customer_email(self, row: Invoice) -> str:
        return row.customer.email
