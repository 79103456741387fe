"""Card payments for staff: sessions with their history, callbacks, and the networks' secrets, which can be written but never read."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest

from apps.core.staff import ReadOnly, StaffAdmin, StaffInline
from apps.onramp.models import Callback, Credential, FundingSession, SessionChange
from apps.onramp.services.credentials import keep_secrets
from apps.onramp.services.networks import credential_networks, key_problem

_KEPT = "Leave empty to keep the one that is stored."


class Changes(StaffInline):
    model = SessionChange
    extra = 0
    fields = ["created_at", "from_status", "to_status", "source"]
    readonly_fields = ["created_at", "from_status", "to_status", "source"]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


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


class CredentialForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only to the type checker
    """The two secrets are plain fields of the form and sealed columns of the row."""

    provider = forms.ChoiceField()
    api_key = forms.CharField(required=False, max_length=500, strip=True, widget=forms.PasswordInput(attrs={"autocomplete": "off"}))
    webhook_secret = forms.CharField(
        required=False, max_length=500, strip=True, help_text=_KEPT, widget=forms.PasswordInput(attrs={"autocomplete": "off"})
    )

    class Meta:
        model = Credential
        fields = ["provider", "mode", "store", "is_active"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        names = credential_networks()
        is_new = self.instance.created_at is None
        if "provider" in self.fields:
            self.fields["provider"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]  # a choice field
        self.fields["api_key"].required = is_new
        self.fields["api_key"].help_text = "" if is_new else f"{self.instance.api_key_hint} is stored. {_KEPT}"


@admin.register(Credential)
class CredentialAdmin(StaffAdmin):
    form = CredentialForm
    list_display = ["provider", "mode", "store", "api_key_hint", "is_active", "created_at"]
    list_filter = ["provider", "mode", "is_active"]
    list_select_related = ["store"]
    raw_id_fields = ["store"]
    fields = ["provider", "mode", "store", "api_key", "webhook_secret", "is_active", "callback_address"]
    readonly_fields = ["callback_address"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Whose secret a row holds never changes: another one is another row."""
        return ["callback_address", *(["provider", "mode", "store"] if obj else [])]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="Callbacks come to")
    def callback_address(self, row: Credential) -> str:
        return row.callback_url if row.created_at else "shown once it is saved"

    def save_model(self, request: HttpRequest, obj: Credential, form: Any, change: bool) -> None:
        api_key, secret = form.cleaned_data.get("api_key", ""), form.cleaned_data.get("webhook_secret", "")
        keep_secrets(obj, api_key=api_key, webhook_secret=secret)
        problem = key_problem(obj.provider, obj.mode, api_key) if api_key else ""
        if problem:
            messages.warning(request, f"This key is of the other mode: card payments stay off here ({problem}).")
