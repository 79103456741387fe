"""What staff fill in to ask for something that takes two. Each form hands one service what it was
told."""

import re
import uuid
from datetime import datetime
from typing import Any, ClassVar

import msgspec
from django import forms
from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html

from apps.access import lost_factor, member_roles
from apps.agents.models import AuthorizationProvider
from apps.agents.requests.policies import PolicyRules
from apps.assets.models import Asset
from apps.core import money
from apps.core.evm import checksummed
from apps.core.messages.fields import Invalid, is_uuid
from apps.core.models import Mode
from apps.core.web.forms import typographic
from apps.core.words import code_words
from apps.ledger.chart import CHART, TREASURY
from apps.onramp.models import Credential
from apps.onramp.services import credentials
from apps.onramp.services.networks import credential_networks, key_problem
from apps.payments.models import Withdrawal
from apps.payments.selectors import by_reference
from apps.payments.services import corrections, withdrawals
from apps.staff.pages import reason_field
from apps.staff.plumbing.codes import code
from apps.stores import dispatch, staffing
from apps.stores.models import Role, StaffRequest, Store, User
from apps.stores.settings import setting_label, values_of
from apps.stores.staff_roles import StaffRole, roles_of

_IN_COINS = "In the unit of the asset, such as 0.5."
_COINS = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,30})?", re.ASCII)


_POLICY_EXAMPLE = '{"agents_may_refund": false}'


class AskForm(forms.Form):
    """`preset` names what the form was opened for, from the page's address."""

    title: ClassVar[str]  # of its page, and of the links to it
    what_follows: str = (
        "This change needs a second approval. Another member of staff is emailed and has seven"
        " days to approve it."
    )

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.preset = preset
        self.fields["reason"] = reason_field("Saved with the request.")
        for name, field in self.fields.items():
            field.label = field.label or setting_label(name)

    def ask(self, staff: User, at: datetime) -> StaffRequest | Withdrawal | None:
        """None when it needed nobody else and is done. Raises a Failure."""
        raise TypeError("a form defines ask")

    @property
    def obstacle(self) -> str:
        """Why nothing can be asked for yet; empty when it can."""
        return ""

    @property
    def reason(self) -> str:
        return str(self.cleaned_data["reason"])


class StoreField(forms.CharField):
    """A store by its ID; None where it isn't required and empty."""

    def clean(self, value: Any) -> Store | None:
        text = super().clean(value)
        if not text:
            return None
        store = Store.objects.filter(pk=text, deleted_at=None).first() if is_uuid(text) else None
        if store is None:
            raise forms.ValidationError("No store has this ID")
        return store


class PersonField(forms.CharField):
    """A person by their email address."""

    def clean(self, value: Any) -> User:
        person = User.objects.with_email(super().clean(value))
        if person is None:
            raise forms.ValidationError("Nobody has this email address")
        return person


def _atomic_of(amount: str, asset: Asset) -> int | None:
    """None when it isn't an amount of this coin."""
    if not _COINS.fullmatch(amount):
        return None
    size = money.atomic_from_decimal(amount.lstrip("-"), asset.atomic_decimals)
    return -size if size is not None and amount.startswith("-") else size


class CorrectionForm(AskForm):
    title = "Request a ledger correction"
    asset = forms.ModelChoiceField(
        Asset.objects.select_related("chain").order_by("pk"), empty_label="Choose an asset"
    )
    account = forms.ChoiceField(
        choices=[(kind, code_words(kind)) for kind in sorted(set(CHART) - {TREASURY})]
    )
    amount = forms.CharField(
        help_text=(
            f"{_IN_COINS} A positive amount is a credit, a negative one a debit. Debits increase"
            " custody accounts."
        )
    )
    store = StoreField(
        required=False,
        help_text=(
            "ID of the store that the account belongs to. Leave empty for the service’s accounts."
        ),
    )
    payment = forms.CharField(
        required=False,
        help_text=(
            "Reference of the payment that the coins are held for. Only for the account “Held”,"
            " which requires it."
        ),
    )

    def clean(self) -> None:
        super().clean()
        data = self.cleaned_data
        asset = data.get("asset")
        if asset is not None:
            data["amount_atomic"] = _atomic_of(data.get("amount", ""), asset)
            if not data["amount_atomic"]:
                self.add_error(
                    "amount",
                    f"Enter an amount other than zero, with at most {asset.atomic_decimals} decimal"
                    " places",
                )
        reference = str(data.get("payment", "")).strip()
        data["payment"] = by_reference(reference) if reference else None
        if reference and data["payment"] is None:
            self.add_error("payment", "No payment has this reference")

    def ask(self, staff: User, at: datetime) -> StaffRequest:
        data = self.cleaned_data
        correction = corrections.Correction(
            str(uuid.uuid4()),
            data["asset"],
            data["account"],
            data["store"],
            data["amount_atomic"],
            data["payment"],
        )
        return corrections.request_correction(correction, self.reason, staff, at)


class FactorForm(AskForm):
    title = "Remove a lost second factor"
    email = PersonField(help_text="Email of the person who lost their phone and backup codes.")

    def ask(self, staff: User, at: datetime) -> StaffRequest:
        return lost_factor.request_removal(self.cleaned_data["email"], self.reason, staff, at)


class RolesForm(AskForm):
    title = "Change staff roles"
    what_follows = (
        "Adding the Finance or Admin role needs a second approval: another member of staff is"
        " emailed and has seven days to approve it. Adding Support or removing roles takes effect"
        " right away."
    )
    email = PersonField(
        help_text=format_html(
            "Email of an existing account. An operator creates one with {}.",
            code("manage.py staff"),
        )
    )
    roles = forms.MultipleChoiceField(
        choices=StaffRole.choices, required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, preset=preset, **options)
        person = User.objects.with_email(preset.get("email", ""))
        self.fields["roles"].initial = sorted(roles_of(person)) if person else []

    def ask(self, staff: User, at: datetime) -> StaffRequest | None:
        return staffing.request_roles(
            self.cleaned_data["email"], self.cleaned_data["roles"], self.reason, staff, at
        )


class MemberRoleForm(AskForm):
    title = "Change the role of a store’s member"
    what_follows = (
        "This change needs a second approval. Another member of staff is emailed and has seven"
        " days to approve it. The store’s owners are notified of the change."
    )
    store = StoreField(help_text="ID of the store.")
    email = PersonField(help_text="Email of a member of the store.")
    role = forms.ChoiceField(choices=Role.choices)

    def ask(self, staff: User, at: datetime) -> StaffRequest:
        data = self.cleaned_data
        return member_roles.request_role(
            data["store"], data["email"], data["role"], self.reason, staff, at
        )


class PolicyField(forms.JSONField):
    """Empty without rules."""

    def prepare_value(self, value: Any) -> Any:
        return super().prepare_value(value) if value else ""


class DispatchForm(AskForm):
    title = "Change a store’s cards or agents"
    what_follows = (
        "Turning something off takes effect right away. Any other change needs a second approval:"
        " another member of staff is emailed and has seven days to approve it."
    )
    store = StoreField(help_text="ID of the store.")
    card_funding_live = forms.BooleanField(required=False)
    card_funding_test = forms.BooleanField(required=False)
    x402_dispatch = forms.BooleanField(required=False)
    authorization_provider = forms.ChoiceField(choices=AuthorizationProvider.choices)
    authorization_url = forms.URLField(required=False, max_length=2048, assume_scheme="https")
    authorization_policy = PolicyField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "class": "code", "placeholder": _POLICY_EXAMPLE}),
        help_text=(
            "Rules as JSON, for the provider “Policy”. Rules that you leave out restrict nothing."
        ),
    )

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, preset=preset, **options)
        text = preset.get("store", "")
        store = Store.objects.filter(pk=text).first() if is_uuid(text) else None
        if store is not None:
            self.initial.update(values_of(store, dispatch.dispatch_columns()))

    def clean_authorization_policy(self) -> dict[str, object]:
        try:
            rules = PolicyRules.read(self.cleaned_data["authorization_policy"] or {})
        except Invalid as refusal:
            raise forms.ValidationError(typographic(refusal.text)) from None
        return dict(msgspec.to_builtins(rules))

    def ask(self, staff: User, at: datetime) -> StaffRequest | None:
        changes = {column: self.cleaned_data[column] for column in dispatch.dispatch_columns()}
        return dispatch.request_dispatch(
            self.cleaned_data["store"], changes, self.reason, staff, at
        )


class CardNetworkForm(AskForm):
    title = "Change a card network"
    what_follows = (
        "Turning a card network off takes effect right away. Any other change needs a second"
        " approval: another member of staff is emailed and has seven days to approve it."
    )
    provider = forms.ChoiceField(label="Card network")
    mode = forms.ChoiceField(choices=Mode.choices)
    store = StoreField(required=False, help_text="ID of the store. Leave empty for all stores.")
    is_active = forms.BooleanField(required=False, initial=True, label="Active")
    api_key = forms.CharField(
        required=False, max_length=500, widget=forms.PasswordInput(attrs={"autocomplete": "off"})
    )
    webhook_secret = forms.CharField(
        required=False, max_length=500, widget=forms.PasswordInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, preset=preset, **options)
        text = preset.get("credential", "")
        self.row = (
            Credential.objects.select_related("store").filter(pk=text).first()
            if is_uuid(text)
            else None
        )
        networks = [(name, code_words(name)) for name in credential_networks()]
        self.fields["provider"].choices = networks  # type: ignore[attr-defined]  # a choice field
        if self.row is not None:
            self.initial["is_active"] = self.row.is_active
            for name in (
                "provider",
                "mode",
                "store",
            ):  # whose secret a row holds never changes: another one is another row
                del self.fields[name]
            for name in ("api_key", "webhook_secret"):
                self.fields[name].help_text = "Leave empty to keep the current one."

    def clean(self) -> None:
        super().clean()
        data = self.cleaned_data
        provider, mode = (
            (self.row.provider, self.row.mode)
            if self.row
            else (data.get("provider", ""), data.get("mode", ""))
        )
        problem = (
            key_problem(provider, mode, data["api_key"]) if data.get("api_key") and provider else ""
        )
        if problem:
            self.add_error(
                "api_key",
                f"This key belongs to the other mode. Card payments would stay off ({problem}).",
            )

    def ask(self, staff: User, at: datetime) -> StaffRequest | None:
        data = self.cleaned_data
        row = self.row
        change = credentials.CredentialChange(
            row=row,
            provider=row.provider if row else data["provider"],
            mode=row.mode if row else data["mode"],
            store=row.store if row else data["store"],
            is_active=data["is_active"],
            api_key=data["api_key"],
            webhook_secret=data["webhook_secret"],
        )
        return credentials.request_change(change, self.reason, staff, at)


class WithdrawalForm(AskForm):
    """Earnings to one of the operator's addresses."""

    title = "Withdraw earnings"
    asset = forms.ModelChoiceField(
        Asset.objects.select_related("chain").order_by("pk"), empty_label="Choose an asset"
    )
    amount = forms.CharField(help_text=_IN_COINS)
    to_address = forms.ChoiceField(
        label="To",
        help_text=format_html("An operator lists addresses in {}.", code("WITHDRAWAL_ADDRESSES")),
    )
    reference = forms.CharField(
        max_length=100,
        help_text="A unique name, such as 2026-11. It can’t be used again.",
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.what_follows = format_html(
            "Nothing is sent yet. Another member of finance staff has to approve your request"
            ' under <a href="{}">Withdrawals of earnings</a>.',
            reverse("admin:payments_withdrawal_changelist"),
        )
        addresses = [
            (address.lower(), checksummed(address)) for address in settings.WITHDRAWAL_ADDRESSES
        ]
        to_address: Any = self.fields["to_address"]
        to_address.choices = addresses or [("", "No addresses are listed")]
        to_address.disabled = not addresses
        if not addresses:
            to_address.help_text = ""  # the obstacle says it

    @property
    def obstacle(self) -> str:
        if settings.WITHDRAWAL_ADDRESSES:
            return ""
        return format_html(
            "No withdrawal addresses are set up yet. An operator lists them in {}.",
            code("WITHDRAWAL_ADDRESSES"),
        )

    def clean(self) -> None:
        super().clean()
        data = self.cleaned_data
        asset = data.get("asset")
        if asset is not None:
            data["amount_atomic"] = _atomic_of(data.get("amount", ""), asset)
            if (data["amount_atomic"] or 0) <= 0:
                self.add_error(
                    "amount",
                    f"Enter an amount above zero, with at most {asset.atomic_decimals} decimal"
                    " places",
                )

    def ask(self, staff: User, at: datetime) -> Withdrawal:
        """Raises WithdrawalRefused."""
        data = self.cleaned_data
        order = withdrawals.WithdrawalRequest(
            reference=data["reference"].strip(),
            asset=data["asset"],
            amount_atomic=data["amount_atomic"],
            to_address=data["to_address"],
            reason=self.reason,
        )
        return withdrawals.request_withdrawal(order, staff, at)


# By kind of staff request; a payout is asked for where it is reviewed.
FORMS: dict[str, type[AskForm]] = {
    corrections.CORRECTION.name: CorrectionForm,
    lost_factor.FACTOR.name: FactorForm,
    dispatch.DISPATCH.name: DispatchForm,
    credentials.CARD_NETWORK.name: CardNetworkForm,
    member_roles.MEMBER_ROLE.name: MemberRoleForm,
    staffing.ROLES.name: RolesForm,
}
