"""Card payments for staff: sessions with their history, callbacks, and which networks have secrets,
which nobody reads.

Two change what a network has (apps.staff.decisions.approvals).
"""

from typing import ClassVar

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from apps.core.templatetags.tillgate import fiat
from apps.onramp.models import Callback, Credential, FundingSession, SessionChange
from apps.staff import lists
from apps.staff.pages import History, ReadOnly
from apps.staff.plumbing.paging import BY_KEY


class ChangesInline(History):
    model = SessionChange
    noun = "card"
    labels: ClassVar = {"created_at": "Time"}
    fields = ["created_at", "from_status", "to_status", "source"]


class FundingSessionAdmin(ReadOnly):
    model = FundingSession
    names = ("card payment", "card payments")
    noun = "card"
    labels: ClassVar = {
        "is_delivery_due": "Delivery is expected",
        "method_id": "Payment method ID",
        "method_name": "Payment method",
        "next_poll_at": "Next check",
        "provider": "Card network",
        "provider_txid": "Provider’s transaction ID",
        "shortfall_bps": "Allowed shortfall",
    }
    list_display = ["created", "shop", "payment_reference", "network", "amount", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store", "payment"]
    search_fields = ["id", "payment__reference", "provider_txid", "store"]
    search_help_text = (
        "Session ID, payment reference, the provider’s ID, or the beginning of a store’s name"
    )
    network = lists.words("provider", "Card network")
    payment_reference = lists.clipped("payment__reference", "Payment")
    amount = lists.price("amount_cents", "currency")
    ordering = [BY_KEY]
    inlines = [ChangesInline]

    def title_of(self, row: FundingSession) -> str:
        return f"of {fiat(row.amount_cents, row.currency)}"


class CallbackAdmin(ReadOnly):
    model = Callback
    names = ("card network callback", "card network callbacks")
    labels: ClassVar = {"credential": "Card network"}
    list_display = ["received", "credential", "session", "reported", "verdict"]
    list_filter = ["credential"]
    reported = lists.words("status", "Status")
    received = lists.when("created_at", "Received")
    list_select_related = ["credential", "session"]
    ordering = ["-id"]

    def title_of(self, row: Callback) -> str:
        return f"of {row.session or row.credential}"


class CredentialAdmin(ReadOnly):
    model = Credential
    names = ("card network", "card networks")
    labels: ClassVar = {"api_key_hint": "API key", "provider": "Card network"}
    is_named = True
    list_display = ["network", "shop", "api_key", "enabled", "created", "change"]
    network = lists.words("provider", "Card network")
    api_key = lists.text("api_key_hint", "API key")
    enabled = lists.flag("is_active", "Active")
    list_filter = ["mode", "is_active"]
    shop = lists.store(nobody="All stores")
    created = lists.when("created_at", "Created")
    list_select_related = ["store"]
    fields = ["provider", "mode", "store", "api_key_hint", "is_active", "callback_address"]

    @admin.display(description="Callback URL")
    def callback_address(self, row: Credential) -> str:
        return row.callback_url

    @admin.display(description="Change")
    def change(self, row: Credential) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["card_network"])
        return format_html('<a href="{}?credential={}">Change keys</a>', page, row.pk)
