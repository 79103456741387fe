"""Card payments for staff: sessions with their history, callbacks, and which networks have secrets, which nobody reads.

Two change what a network has (apps.console.admin).
"""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from apps.core.staff import Part, ReadOnly
from apps.onramp.models import Callback, Credential, FundingSession, SessionChange


class Changes(Part):
    model = SessionChange
    fields = ["created_at", "from_status", "to_status", "source"]


@admin.register(FundingSession)
class FundingSessionAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "provider", "provider_name", "status", "amount_cents", "currency", "payment_reference"]
    list_filter = ["status", "mode", "provider"]
    list_select_related = ["store", "payment"]
    search_fields = ["=id", "=provider_txid", "=payment__reference", "=destination_address", "store__name"]
    ordering = ["-created_at"]
    inlines = [Changes]

    @admin.display(description="payment")
    def payment_reference(self, row: FundingSession) -> str:
        return row.payment.reference


@admin.register(Callback)
class CallbackAdmin(ReadOnly):
    list_display = ["created_at", "credential", "session", "status", "verdict"]
    list_filter = ["verdict", "credential"]
    list_select_related = ["credential", "session"]
    ordering = ["-id"]


@admin.register(Credential)
class CredentialAdmin(ReadOnly):
    list_display = ["provider", "mode", "store", "api_key_hint", "is_active", "created_at", "change"]
    list_filter = ["provider", "mode", "is_active"]
    list_select_related = ["store"]
    fields = ["provider", "mode", "store", "api_key_hint", "is_active", "callback_address"]

    @admin.display(description="Callbacks come to")
    def callback_address(self, row: Credential) -> str:
        return row.callback_url

    @admin.display(description="Change")
    def change(self, row: Credential) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["card_network"])
        return format_html('<a href="{}?credential={}">Change</a>', page, row.pk)
