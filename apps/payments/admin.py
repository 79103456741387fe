"""Payments and refunds for staff who help a store or its customer: to be looked at, found by whatever somebody quotes."""

from django.contrib import admin

from apps.core.staff import Part, ReadOnly
from apps.payments.models import Payment, PaymentAddress, PaymentEvent, Refund


class Addresses(Part):
    model = PaymentAddress
    verbose_name_plural = "addresses"
    fields = ["asset", "address", "required_atomic", "exchange_rate", "required_confirmations"]


class Events(Part):
    model = PaymentEvent
    fields = ["created_at", "event_type", "from_status", "to_status"]


@admin.register(Payment)
class PaymentAdmin(ReadOnly):
    list_display = [
        "created_at",
        "store",
        "mode",
        "reference",
        "order_id",
        "settlement_amount_cents",
        "settlement_currency",
        "status",
        "state_reason",
        "needs_attention",
    ]
    list_filter = ["status", "mode", "needs_attention", "refund_state"]
    list_select_related = ["store"]
    search_fields = ["=id", "=reference", "=order_id", "=store__id", "=addresses__address__address"]
    search_help_text = "Id, reference, order id, deposit address (in small letters) or the store's id"
    ordering = ["-created_at"]
    inlines = [Addresses, Events]


@admin.register(Refund)
class RefundAdmin(ReadOnly):
    list_display = [
        "created_at",
        "store",
        "mode",
        "payment__reference",
        "asset",
        "amount_atomic",
        "destination_address",
        "reason",
        "status",
        "failure_reason",
    ]
    list_filter = ["status", "mode", "reason"]
    list_select_related = ["store", "asset", "payment"]
    search_fields = ["=id", "=payment__reference", "=payment__id", "=tx_hash", "=destination_address", "=store__id"]
    ordering = ["-created_at"]
