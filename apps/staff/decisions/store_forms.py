"""Requests of staff about one store: its cards, its agents, a member's role, and its suspension.

Every switch shows what it is now on a line of its own, and one that wasn't touched isn't sent.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

import msgspec
from django import forms

from apps.access.members import roles as member_roles
from apps.agents.models import AuthorizationProvider
from apps.agents.requests.policies import PolicyRules
from apps.core.messages.fields import Invalid
from apps.core.web.forms import typographic
from apps.payments.services import corrections
from apps.staff.decisions.addition_forms import AssetForm, NetworkForm
from apps.staff.decisions.forms import (
    AskForm,
    CardNetworkForm,
    CorrectionForm,
    FactorForm,
    Line,
    PersonField,
    RolesForm,
    StoreField,
)
from apps.stores.models import Member, Role, StaffRequest, User
from apps.stores.settings import values_of
from apps.stores.staff import dispatch, suspensions
from apps.stores.staff.suspensions import Suspension

_POLICY_EXAMPLE = '{"agents_may_refund": false}'


class SwitchField(forms.TypedChoiceField):
    """On or off; nothing typed leaves it as it is."""

    def __init__(self, **options: Any) -> None:
        choices = [("on", "On"), ("off", "Off")]
        super().__init__(
            choices=choices,
            coerce=lambda text: text == "on",
            empty_value=None,
            required=False,
            **options,
        )

    def prepare_value(self, value: Any) -> Any:
        return ("on" if value else "off") if isinstance(value, bool) else value


class PolicyField(forms.JSONField):
    """Empty without rules."""

    def prepare_value(self, value: Any) -> Any:
        return super().prepare_value(value) if value else ""


class DispatchForm(AskForm):
    """Settings that two change, of one store."""

    kind = dispatch.DISPATCH
    is_reviewed = True
    columns: ClassVar[tuple[str, ...]] = ()
    what_follows = (
        "Turning something off takes effect right away. Any other change needs a second approval:"
        " another member of staff is emailed and has seven days to approve it."
    )
    store = StoreField()

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, preset=preset, **options)
        now = self.values_now()
        for column, value in now.items():
            self.initial.setdefault(column, value)
            text = dispatch.column_text(column, value)
            self.fields[column].help_text = f"Now: {text}. {self.fields[column].help_text}".strip()

    def values_now(self) -> Mapping[str, Any]:
        return {} if self.chosen_store is None else values_of(self.chosen_store, list(self.columns))

    def _changes(self) -> dict[str, object]:
        """Values that were touched: sent at all, and something else than now."""
        now = self.values_now()
        touched = {
            column: self.cleaned_data[column]
            for column in self.columns
            if column in self.data and self.cleaned_data.get(column) is not None
        }
        return {column: value for column, value in touched.items() if value != now[column]}

    def differences(self) -> list[Line]:
        return dispatch.lines_of(self.cleaned_data["store"], self._changes())

    @property
    def takes_two(self) -> bool:
        return dispatch.takes_two(self.cleaned_data["store"], self._changes())

    def ask(self, staff: User, at: datetime) -> StaffRequest | None:
        return dispatch.request_dispatch(
            self.cleaned_data["store"], self._changes(), self.reason, staff, at
        )


class CardsForm(DispatchForm):
    title = "Change a store’s cards"
    columns = ("card_funding_live", "card_funding_test")
    card_funding_live = SwitchField(help_text="Customers pay with real cards.")
    card_funding_test = SwitchField(help_text="Nothing is charged.")


class AgentsForm(DispatchForm):
    title = "Change a store’s agents"
    columns = (
        "x402_dispatch",
        "authorization_provider",
        "authorization_url",
        "authorization_policy",
    )
    x402_dispatch = SwitchField()
    authorization_provider = forms.ChoiceField(
        choices=AuthorizationProvider.choices, required=False
    )
    authorization_url = forms.URLField(required=False, max_length=2048, assume_scheme="https")
    authorization_policy = PolicyField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "class": "code", "placeholder": _POLICY_EXAMPLE}),
        help_text=(
            "Rules as JSON, for the provider “Policy”. Rules that you leave out restrict nothing."
        ),
    )

    def clean_authorization_provider(self) -> str | None:
        return self.cleaned_data["authorization_provider"] or None

    def clean_authorization_policy(self) -> dict[str, object]:
        try:
            rules = PolicyRules.read(self.cleaned_data["authorization_policy"] or {})
        except Invalid as refusal:
            raise forms.ValidationError(typographic(refusal.text)) from None
        return dict(msgspec.to_builtins(rules))


class MemberRoleForm(AskForm):
    title = "Change the role of a store’s member"
    kind = member_roles.MEMBER_ROLE
    is_reviewed = picks_person = True
    what_follows = (
        "This change needs a second approval. Another member of staff is emailed and has seven"
        " days to approve it. The store’s owners are notified of the change."
    )
    store = StoreField()
    email = PersonField(widget=forms.HiddenInput, help_text="A member of the store.")
    role = forms.ChoiceField(choices=Role.choices)

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, preset=preset, **options)
        member = self._member()
        if member is not None:
            self.initial["role"] = member.role

    def _member(self) -> Member | None:
        email = self.data.get("email", "") or self.preset.get("email", "")
        person = User.objects.with_email(email)
        rows = Member.objects.filter(store=self.chosen_store, user=person)
        return rows.select_related("user").first() if person is not None else None

    def values_now(self) -> Mapping[str, Any]:
        member = self._member()
        return {} if member is None else {"member": member.pk, "role": member.role}

    @property
    def now_lines(self) -> list[tuple[str, str]]:
        member = self._member()
        return [] if member is None else [("Member", member.user.email)]

    def differences(self) -> list[Line]:
        member = self._member()
        after = Role(self.cleaned_data["role"])
        if member is None or member.role == after:
            return []
        return [(f"Role of {member.user}", member.get_role_display(), after.label)]

    def ask(self, staff: User, at: datetime) -> StaffRequest:
        data = self.cleaned_data
        return member_roles.request_role(
            data["store"], data["email"], data["role"], self.reason, staff, at
        )


class SuspensionForm(AskForm):
    title = "Suspend a store, or end that"
    kind = suspensions.SUSPENSION
    is_reviewed = True
    what_follows = (
        "This needs a second approval: another member of staff is emailed and has seven days to"
        " approve it. The store’s owners are emailed, with the reason."
    )
    store = StoreField()
    part = forms.ChoiceField(label="What", choices=Suspension.choices)
    state = forms.ChoiceField(
        label="Becomes", choices=[("suspended", "Suspended"), ("active", "Active")]
    )

    def __init__(self, *args: Any, preset: dict[str, str], **options: Any) -> None:
        super().__init__(*args, preset=preset, **options)
        self.fields["reason"].help_text = "The store’s owners read this."

    def values_now(self) -> Mapping[str, Any]:
        if self.chosen_store is None:
            return {}
        columns = [suspensions.column_of(part) for part in Suspension]
        return {column: getattr(self.chosen_store, column) for column in columns}

    @property
    def now_lines(self) -> list[tuple[str, str]]:
        now = self.values_now()
        return [
            (part.label, "Suspended" if now[suspensions.column_of(part)] else "Active")
            for part in Suspension
            if now
        ]

    def differences(self) -> list[Line]:
        part = Suspension(self.cleaned_data["part"])
        is_on = bool(self.values_now()[suspensions.column_of(part)])
        words = ("Suspended", "Active") if is_on else ("Active", "Suspended")
        return [(part.label, *words)] if self._lifts == is_on else []

    @property
    def effect(self) -> str:
        """Meaning of a valid form."""
        return "" if self._lifts else suspensions.EFFECTS[Suspension(self.cleaned_data["part"])]

    @property
    def _lifts(self) -> bool:
        return bool(self.cleaned_data["state"] == "active")

    def ask(self, staff: User, at: datetime) -> StaffRequest:
        data = self.cleaned_data
        return suspensions.request_suspension(
            data["store"], data["part"], self.reason, staff, at, lifts=self._lifts
        )


# By the last part of the page's address; a payout is asked for where it is reviewed.
FORMS: dict[str, type[AskForm]] = {
    corrections.CORRECTION.name: CorrectionForm,
    "second_factor": FactorForm,
    "cards": CardsForm,
    "agents": AgentsForm,
    "card_network": CardNetworkForm,
    "member_role": MemberRoleForm,
    "staff_roles": RolesForm,
    "suspension": SuspensionForm,
    "network": NetworkForm,
    "asset": AssetForm,
}
