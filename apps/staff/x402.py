"""Offers to agents and their signed payments over x402, for staff."""

from typing import ClassVar

from apps.agents.models import (
    PaymentOffer,
    SignedPayment,
    SignedPaymentStep,
)
from apps.staff import lists
from apps.staff.pages import History, ReadOnly
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import Rated


class SignedPaymentSteps(History):
    model = SignedPaymentStep
    noun = "signed"
    fields = ["at", "from_status", "to_status", "note"]


class SignedPaymentAdmin(ReadOnly):
    model = SignedPayment
    noun = "signed"
    labels: ClassVar = {"is_elsewhere": "Carried out by another transaction"}
    list_display = ["created", "shop", "by", "amount", "transaction", "state"]
    list_filter = ["status", "mode", "chain"]
    list_select_related = ["store", "offer__asset"]
    search_fields = ["id", "store", "nonce", "offer__payment"]
    search_help_text = "ID, nonce, payment ID, or the beginning of a store’s name"
    by = lists.short("payer", "Payer")
    amount = lists.coins(asset="offer__asset")
    transaction = lists.short("tx_hash", "Transaction")
    ordering = [BY_KEY]
    exclude = ["signature"]
    inlines = [SignedPaymentSteps]

    def title_of(self, row: SignedPayment) -> str:
        return f"of {lists.coins_text(row, row.offer.asset)}"


class PaymentOfferAdmin(Rated):
    model = PaymentOffer
    labels: ClassVar = {"resource": "Resource URL", "timeout_seconds": "Timeout"}
    list_display = ["created", "shop", "amount", "resource_path", "to"]
    list_filter = ["mode", ("asset", lists.AssetFilter)]
    list_select_related = ["store", "asset"]
    search_fields = ["id", "store", "payment"]
    search_help_text = "Offer ID, payment ID, or the beginning of a store’s name"
    resource_path = lists.text("resource", "Resource")
    to = lists.short("pay_to_id", "To")
    ordering = [BY_KEY]

    def title_of(self, row: PaymentOffer) -> str:
        return f"of {lists.coins_text(row)}"
