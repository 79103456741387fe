"""The chains as staff see them: which assets are in use, hot wallets and why one is halted, what leaves, what nobody expected.

What waits for a person is settled by `manage.py sending`, never here.
"""

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin

from apps.assets.models import Asset
from apps.chain.activation import NotReady, refuse_unready
from apps.chain.models import Deposit, HotWallet, OutgoingTransaction, UnknownTransaction, UnmatchedTransfer
from apps.core import staff_roles
from apps.core.staff import ReadOnly, Switches

if TYPE_CHECKING:
    AssetModelForm = forms.ModelForm[Asset]
else:
    AssetModelForm = forms.ModelForm


class AssetForm(AssetModelForm):
    def clean(self) -> None:
        super().clean()
        if self.cleaned_data.get("is_active") and "is_active" in self.changed_data:
            try:
                refuse_unready(self.instance)
            except NotReady as refusal:
                raise forms.ValidationError(refusal.text) from None


@admin.register(Asset)
class AssetAdmin(Switches):
    operation = staff_roles.ASSETS
    form = AssetForm
    list_display = ["id", "chain", "token_standard", "atomic_decimals", "is_active", "is_fiat_eligible"]
    list_filter = ["chain", "is_active"]
    switches = ("is_active", "min_withdrawal_atomic", "position")


@admin.register(HotWallet)
class HotWalletAdmin(ReadOnly):
    list_display = ["chain", "address", "next_nonce", "halted_at", "halted_reason"]
    list_select_related = ["chain"]
    search_fields = ["=address"]
    ordering = ["chain"]


@admin.register(OutgoingTransaction)
class OutgoingTransactionAdmin(ReadOnly):
    list_display = ["requested_at", "purpose", "reference", "mode", "asset", "amount_atomic", "status", "reason", "not_before", "tx_hash"]
    list_display += ["undone_count"]
    list_filter = ["status", "purpose", "waits_for", "mode", "chain", "undone_count"]
    list_select_related = ["asset"]
    search_fields = ["=id", "=reference", "=tx_hash", "=to_address", "=from_address"]
    ordering = ["-requested_at"]


@admin.register(Deposit)
class DepositAdmin(ReadOnly):
    list_display = ["detected_at", "chain", "asset", "amount_atomic", "address", "from_address", "tx_hash", "status", "is_lost"]
    list_filter = ["status", "is_lost", "is_simulated", "chain"]
    list_select_related = ["chain", "asset", "address"]
    search_fields = ["=id", "=tx_hash", "=address__address", "=from_address"]
    ordering = ["-detected_at"]


@admin.register(UnmatchedTransfer)
class UnmatchedTransferAdmin(ReadOnly):
    """Which payment the address belongs to is found among the payments, by the address."""

    list_display = ["detected_at", "chain", "asset", "contract_address", "amount_atomic", "address", "from_address", "tx_hash", "reason"]
    list_filter = ["chain", "reason"]
    list_select_related = ["chain", "asset", "address"]
    search_fields = ["=tx_hash", "=address__address", "=from_address", "=contract_address"]
    ordering = ["-detected_at"]


@admin.register(UnknownTransaction)
class UnknownTransactionAdmin(ReadOnly):
    list_display = ["found_at", "chain", "from_address", "nonce", "tx_hash", "to_address", "value_atomic", "settled_at"]
    list_filter = ["chain", ("settled_at", admin.EmptyFieldListFilter)]
    list_select_related = ["chain"]
    search_fields = ["=tx_hash", "=from_address", "=to_address"]
    ordering = ["-found_at"]
