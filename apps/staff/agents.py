"""Agents for staff, who look and never write: mandates with their draws, and what payers have
signed over x402."""

from typing import ClassVar

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
from apps.staff import lists
from apps.staff.pages import Part, ReadOnly
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import Rated


class MandateSteps(Part):
    model = MandateStep
    verbose_name_plural = "history"
    fields = ["at", "from_status", "to_status"]


class SettlementSteps(Part):
    model = SettlementStep
    verbose_name_plural = "history"
    fields = ["at", "from_status", "to_status", "note"]


class SignedPaymentSteps(Part):
    model = SignedPaymentStep
    verbose_name_plural = "history"
    fields = ["at", "from_status", "to_status", "note"]


@admin.register(Mandate)
class MandateAdmin(Rated):
    list_display = ["created", "shop", "reference", "spent", "cap", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store", "credential", "asset"]
    search_fields = ["id", "store", "mandate_ref", "credential"]
    search_help_text = "Mandate ID, reference, credential ID, or the beginning of a store’s name"
    created = lists.made("created_at", "Created")
    shop = lists.store()
    reference = lists.text("mandate_ref", "Reference")
    spent = lists.coins("spent_atomic", description="Spent")
    cap = lists.coins("total_cap_atomic", description="Limit")
    state = lists.status("mandate")
    ordering = [BY_KEY]
    inlines = [MandateSteps]


@admin.register(Settlement)
class SettlementAdmin(Rated):
    list_display = ["created", "shop", "reference", "amount", "to", "state"]
    list_filter = ["status", "mode", "is_dispatched"]
    list_select_related = ["store", "mandate", "asset"]
    search_fields = ["id", "store", "mandate", "nonce", "tx_ref"]
    search_help_text = (
        "Settlement ID, mandate ID, nonce, transaction, or the beginning of a store’s name"
    )
    created = lists.made("created_at", "Created")
    shop = lists.store()
    reference = lists.text("mandate__mandate_ref", "Mandate")
    amount = lists.coins()
    to = lists.short("pay_to", "To")
    state = lists.status("settlement")
    ordering = [BY_KEY]
    inlines = [SettlementSteps]
    value_texts: ClassVar = {
        "is_dispatched": lambda row: "Yes" if row.is_dispatched else "No, final when submitted"
    }

    def title_of(self, row: Settlement) -> str:
        return f"of {lists.coins_text(row)}"


@admin.register(SignedPayment)
class SignedPaymentAdmin(ReadOnly):
    list_display = ["created", "shop", "by", "amount", "transaction", "state"]
    list_filter = ["status", "mode", "chain"]
    list_select_related = ["store", "offer__asset"]
    search_fields = ["id", "store", "nonce", "offer__payment"]
    search_help_text = "ID, nonce, payment ID, or the beginning of a store’s name"
    created = lists.made("created_at", "Created")
    shop = lists.store()
    by = lists.short("payer", "Payer")
    amount = lists.coins(asset="offer__asset")
    transaction = lists.short("tx_hash", "Transaction")
    state = lists.status("signed")
    ordering = [BY_KEY]
    exclude = ["signature"]
    inlines = [SignedPaymentSteps]

    def title_of(self, row: SignedPayment) -> str:
        return f"of {lists.coins_text(row, row.offer.asset)}"


@admin.register(PaymentOffer)
class PaymentOfferAdmin(Rated):
    list_display = ["created", "shop", "amount", "resource_path", "to"]
    list_filter = ["mode", ("asset", lists.AssetFilter)]
    list_select_related = ["store", "asset"]
    search_fields = ["id", "store", "payment"]
    search_help_text = "Offer ID, payment ID, or the beginning of a store’s name"
    created = lists.made("created_at", "Created")
    shop = lists.store()
    amount = lists.coins()
    resource_path = lists.text("resource", "Resource")
    to = lists.short("pay_to_id", "To")
    ordering = [BY_KEY]

    def title_of(self, row: PaymentOffer) -> str:
        return f"of {lists.coins_text(row)}"


@admin.register(AgentPayoutCap)
class AgentPayoutCapAdmin(ReadOnly):
    list_display = ["shop", "label", "coin", "per_transaction", "per_day"]
    list_select_related = ["credential__store", "asset__chain"]
    search_fields = ["credential", "credential__store", "asset"]
    search_help_text = "Credential ID, asset, or the beginning of a store’s name"
    shop = lists.store("credential__store", mode="credential__mode")
    label = lists.text("credential__name", "Credential")
    coin = lists.asset()
    per_transaction = lists.coins("per_tx_atomic", description="Per transaction")
    per_day = lists.coins("daily_atomic", description="Per day")

    def title_of(self, row: AgentPayoutCap) -> str:
        return f"of {row.credential.name}, {row.asset.full_name}"
