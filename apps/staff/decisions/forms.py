"""Forms of requests that take two. Each form hands one service what was typed."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html

from apps.access.factors import lost_factor
from apps.assets.models import Asset
from apps.chain.networks.families import address_in, shown_address
from apps.core import money
from apps.core.messages.fields import Invalid, is_uuid
from apps.core.models import Mode
from apps.core.text.words import code_words
from apps.core.typed_amounts import Ambiguous, coins_typed
from apps.ledger.chart import CHART, TREASURY
from apps.onramp.models import Credential
from apps.onramp.services import credentials
from apps.onramp.services.networks import credential_networks, key_problem
from apps.payments.models import Withdrawal
from apps.payments.selectors import by_reference
from apps.payments.services import corrections, withdrawals
from apps.staff.pages import reason_field
from apps.staff.plumbing.codes import code
from apps.staff.plumbing.seen import SEEN, digest_of
from apps.staff.plumbing.unit_fields import amount_widget
from apps.stores.models import StaffRequest, Store, User
from apps.stores.settings import setting_label
from apps.stores.staff import staffing
from apps.stores.staff.four_eyes import RequestKind
from apps.stores.staff_roles import StaffRole, roles_of

_IN_COINS = "In the unit of the asset, such as 0.5."


Line = tuple[str, str, str]


class AskForm(forms.Form):
    """`preset` names what the form was opened for, from the page's address. One that `is_reviewed`
    shows the difference first, and asks for the reason beside it."""

    title: ClassVar[str]  # of its page, and of the links to it
    kind: ClassVar[RequestKind | None] = None  # None: it has a page of its own
    is_reviewed: ClassVar[bool] = False
    picks_person: ClassVar[bool] = False  # whose present role or roles the form begins with
    # the choice that means no store; without it a store has to be picked
    picks_store: ClassVar[str] = ""
    what_follows: str = (
        "This change needs a second approval. Another member of staff is emailed and has seven"
        " days to approve it."
    )

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.preset = preset
        self.fields["reason"] = reason_field("Saved with the request.")
        if self.is_reviewed:
            self.fields[SEEN] = forms.CharField(required=False, widget=forms.HiddenInput)
        for name, field in self.fields.items():
            field.label = field.label or setting_label(name)
        self.chosen_store = _store_of(str(self.data.get("store") or "") or preset.get("store", ""))

    def values_now(self) -> Mapping[str, Any]:
        """Values that it may change, as they are now, by name."""
        return {}

    @property
    def seen_now(self) -> str:
        return digest_of(self.values_now())

    @property
    def is_stale(self) -> bool:
        """Tells whether the record has become something else since the form's page was opened."""
        return self.is_reviewed and self.data.get(SEEN) != self.seen_now

    def differences(self) -> list[Line]:
        """Differences that it would make: name, now, after. Of a valid form."""
        return []

    @property
    def takes_two(self) -> bool:
        """Tells whether the change needs a second approval. Of a valid form."""
        return True

    @property
    def now_lines(self) -> list[tuple[str, str]]:
        """Lines above the inputs: known facts of the record."""
        return []

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


def _store_of(text: str) -> Store | None:
    rows = Store.objects.select_related("platform").filter(deleted_at=None)
    return rows.filter(pk=text).first() if is_uuid(text) else None


class StoreField(forms.CharField):
    """A store that was picked by name, by its ID; None where it isn't required and empty."""

    widget = forms.HiddenInput

    def clean(self, value: Any) -> Store | None:
        text = super().clean(value)
        if not text:
            return None
        store = _store_of(text)
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


def _read_amount(form: AskForm, asset: Asset, *, may_be_negative: bool) -> None:
    """Reads an amount typed in coins into the form's `amount_atomic`; what is no amount of this
    coin is an error."""
    typed = form.cleaned_data.get("amount", "")
    is_negative = may_be_negative and typed.startswith("-")
    try:
        plain = coins_typed(typed[1:] if is_negative else typed, "amount", asset.atomic_decimals)
        size = money.atomic_from_coins(plain, asset.atomic_decimals)
    except Ambiguous as refusal:
        form.add_error("amount", refusal.text_of("The amount"))
        return
    except Invalid:
        size = None
    form.cleaned_data["amount_atomic"] = -size if is_negative and size else size
    if not size:
        kind = "other than" if may_be_negative else "above"
        form.add_error(
            "amount",
            f"Enter an amount {kind} zero, with at most {asset.atomic_decimals} decimal places",
        )


class CorrectionForm(AskForm):
    title = "Request a ledger correction"
    kind = corrections.CORRECTION
    picks_store = "The service’s own accounts"
    asset = forms.ModelChoiceField(
        Asset.objects.select_related("chain").order_by("pk"), empty_label="Choose an asset"
    )
    account = forms.ChoiceField(
        choices=[(kind, code_words(kind)) for kind in sorted(set(CHART) - {TREASURY})]
    )
    amount = forms.CharField(
        # No keypad of digits has the minus of a debit.
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=(
            f"{_IN_COINS} A positive amount is a credit, a negative one a debit. Debits increase"
            " custody accounts."
        ),
    )
    store = StoreField(required=False)
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
            _read_amount(self, asset, may_be_negative=True)
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
    kind = lost_factor.FACTOR
    email = PersonField(help_text="Email of the person who lost their phone and backup codes.")

    def ask(self, staff: User, at: datetime) -> StaffRequest:
        return lost_factor.request_removal(self.cleaned_data["email"], self.reason, staff, at)


class RolesForm(AskForm):
    title = "Change staff roles"
    kind = staffing.ROLES
    is_reviewed = picks_person = True
    what_follows = (
        "Adding the Finance or Admin role needs a second approval: another member of staff is"
        " emailed and has seven days to approve it. Adding Support or removing roles takes effect"
        " right away."
    )
    email = PersonField(
        widget=forms.HiddenInput,
        help_text=format_html(
            "Email of an existing account. An operator creates one with {}.",
            code("manage.py staff"),
        ),
    )
    roles = forms.MultipleChoiceField(
        choices=StaffRole.choices, required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, preset=preset, **options)
        self.person = User.objects.with_email(self.data.get("email", "") or preset.get("email", ""))
        self.fields["roles"].initial = self._roles_now()

    def _roles_now(self) -> list[str]:
        return sorted(roles_of(self.person)) if self.person is not None else []

    def values_now(self) -> Mapping[str, Any]:
        return {"person": str(self.person), "roles": self._roles_now()}

    def differences(self) -> list[Line]:
        after = sorted(self.cleaned_data["roles"])
        before = self._roles_now()
        text = [", ".join(StaffRole(role).label for role in roles) for roles in (before, after)]
        return [("Staff roles", *(names or "None" for names in text))] if before != after else []  # type: ignore[list-item]

    @property
    def now_lines(self) -> list[tuple[str, str]]:
        return [] if self.person is None else [("Person", self.person.email)]

    @property
    def takes_two(self) -> bool:
        return staffing.takes_two(self.cleaned_data["email"], self.cleaned_data["roles"])

    def ask(self, staff: User, at: datetime) -> StaffRequest | None:
        return staffing.request_roles(
            self.cleaned_data["email"], self.cleaned_data["roles"], self.reason, staff, at
        )


class CardNetworkForm(AskForm):
    title = "Change a card network"
    kind = credentials.CARD_NETWORK
    is_reviewed = True
    picks_store = "All stores"
    what_follows = (
        "Turning a card network off takes effect right away. Any other change needs a second"
        " approval: another member of staff is emailed and has seven days to approve it."
    )
    provider = forms.ChoiceField(label="Card network")
    mode = forms.ChoiceField(choices=Mode.choices)
    store = StoreField(required=False)
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

    def values_now(self) -> Mapping[str, Any]:
        row = self.row
        if row is None:
            return {}
        return {
            "is_active": row.is_active,
            "api_key": row.sealed_api_key,
            "webhook_secret": row.sealed_webhook_secret,
        }

    def differences(self) -> list[Line]:
        return credentials.lines_of(self._change())

    @property
    def takes_two(self) -> bool:
        return not credentials.is_switched_off(self._change())

    @property
    def now_lines(self) -> list[tuple[str, str]]:
        if self.row is None:
            return []
        return [("Active now", "On" if self.row.is_active else "Off")]

    def ask(self, staff: User, at: datetime) -> StaffRequest | None:
        return credentials.request_change(self._change(), self.reason, staff, at)

    def _change(self) -> credentials.CredentialChange:
        data = self.cleaned_data
        row = self.row
        return credentials.CredentialChange(
            row=row,
            provider=row.provider if row else data["provider"],
            mode=row.mode if row else data["mode"],
            store=row.store if row else data["store"],
            is_active=data["is_active"],
            api_key=data["api_key"],
            webhook_secret=data["webhook_secret"],
        )


class WithdrawalForm(AskForm):
    """Earnings to one of the operator's addresses."""

    title = "Withdraw earnings"
    asset = forms.ModelChoiceField(
        Asset.objects.select_related("chain").order_by("pk"), empty_label="Choose an asset"
    )
    amount = forms.CharField(help_text=_IN_COINS, widget=amount_widget())
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
            (address_in(address), shown_address(address))
            for address in settings.WITHDRAWAL_ADDRESSES
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
            _read_amount(self, asset, may_be_negative=False)

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
