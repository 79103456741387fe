"""Agents for staff, who look and never write: mandates with their draws, and what payers have signed over x402."""

from django.contrib import admin

from apps.agents.models import (
    AgentPayoutCap,
    Mandate,
    MandateStep,
    PaymentOffer,
    Settlement,
    SettlementStep,
    SignedPayment,
    SignedPaymentStep,
)
from apps.core.staff import Part, ReadOnly


class MandateSteps(Part):
    model = MandateStep
    fields = ["at", "from_status", "to_status"]


class SettlementSteps(Part):
    model = SettlementStep
    fields = ["at", "from_status", "to_status", "note"]


class SignedPaymentSteps(Part):
    model = SignedPaymentStep
    fields = ["at", "from_status", "to_status", "note"]


@admin.register(Mandate)
class MandateAdmin(ReadOnly):
    list_display = [
        "created_at",
        "store",
        "mode",
        "credential__name",
        "mandate_ref",
        "asset",
        "spent_atomic",
        "total_cap_atomic",
        "status",
        "expires_at",
    ]
    list_filter = ["status", "mode", "authorization_provider"]
    list_select_related = ["store", "credential", "asset"]
    search_fields = ["=id", "=store__id", "store__name", "mandate_ref", "=credential__id", "=credential__principal"]
    ordering = ["-created_at"]
    inlines = [MandateSteps]


@admin.register(Settlement)
class SettlementAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "mandate__mandate_ref", "asset", "amount_atomic", "status", "is_dispatched", "tx_ref"]
    list_filter = ["status", "mode", "is_dispatched"]
    list_select_related = ["store", "mandate", "asset"]
    search_fields = ["=id", "=store__id", "store__name", "=mandate__id", "=nonce", "=tx_ref", "=pay_to"]
    ordering = ["-created_at"]
    inlines = [SettlementSteps]


@admin.register(SignedPayment)
class SignedPaymentAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "payer", "amount_atomic", "status", "tx_hash", "failure_reason", "answered_at"]
    list_filter = ["status", "mode", "chain"]
    list_select_related = ["store"]
    search_fields = ["=id", "=store__id", "store__name", "=payer", "=nonce", "=tx_hash", "=offer__pay_to_id", "=offer__payment__id"]
    ordering = ["-created_at"]
    exclude = ["signature"]
    inlines = [SignedPaymentSteps]


@admin.register(PaymentOffer)
class PaymentOfferAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "asset", "amount_atomic", "resource", "pay_to"]
    list_filter = ["mode", "asset"]
    list_select_related = ["store", "asset"]
    search_fields = ["=id", "=store__id", "store__name", "=payment__id", "=pay_to_id", "resource"]
    ordering = ["-created_at"]


@admin.register(AgentPayoutCap)
class AgentPayoutCapAdmin(ReadOnly):
    list_display = ["credential__store", "credential__mode", "credential__name", "asset", "per_tx_atomic", "daily_atomic"]
    list_select_related = ["credential__store", "asset"]
    search_fields = ["=credential__id", "credential__name", "=asset__id"]
