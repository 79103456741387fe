"""A store's settings of cards and agents, through which money comes from or goes to others: two
change them, one switches them off, and the store's owners are notified."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import BooleanField

from apps.stores import staff_roles
from apps.stores.emailing import settings_emails
from apps.stores.models import StaffRequest, Store, User
from apps.stores.services import change_store_for
from apps.stores.settings import lock_settings, model_of, setting_label, settings_models, values_of
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind, StaffRequestRefused

_OF_STORE = ("card_funding_live", "card_funding_test")


def dispatch_columns() -> list[str]:
    """Columns that take two, of the store and of every app's settings."""
    return [*_OF_STORE, *(column for model in settings_models() for column in model.takes_two)]


def field_of(column: str) -> Any:
    """The model's field of a setting."""
    return (model_of(column) or Store)._meta.get_field(column)


def lines_of(store: Store, changes: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Each with what it is and what it would be, as people read them."""
    return _lines(values_of(store, list(changes)), changes)


def takes_two(store: Store, changes: Mapping[str, Any]) -> bool:
    """Tells whether anything but switching off is in it. `changes` differ from what is."""
    return not all(_is_switch(column) and value is False for column, value in changes.items())


def _is_switch(column: str) -> bool:
    return isinstance(field_of(column), BooleanField)


def request_dispatch(
    store: Store, changes: Mapping[str, Any], reason: str, staff: User, at: datetime
) -> StaffRequest | None:
    """`changes` by column; None when they only switch something off, which is done at once.

    Raises StaffForbidden, or what four_eyes.ask raises.
    """
    before = values_of(store, list(changes))
    differences = {column: value for column, value in changes.items() if before[column] != value}
    if not differences:
        raise StaffRequestRefused("Nothing of it would change")
    if not takes_two(store, differences):
        staff_roles.check(staff, staff_roles.DISPATCH_OFF)
        with transaction.atomic():
            change_store_for(store, reason, differences)
            lines = _lines(before, differences)
            settings_emails.tell(store, f"staff_dispatch:{uuid.uuid4()}", lines)
        return None
    wish = Proposal(
        str(store.pk),
        f"Cards and agents of {store.name}",
        {"store": str(store.pk), "changes": differences},
        _lines(before, differences),
        reason,
    )
    return four_eyes.ask(DISPATCH, wish, staff, at)


def _lines(before: Mapping[str, Any], changes: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (setting_label(column), column_text(column, before[column]), column_text(column, value))
        for column, value in changes.items()
    ]


def column_text(column: str, value: object) -> str:
    """A setting in words: a choice has its label."""
    labels = {str(choice): str(label) for choice, label in field_of(column).flatchoices}
    return labels.get(str(value)) or _text(value)


def _text(value: object) -> str:
    """Rules of a policy one after the other, by name."""
    if isinstance(value, bool):
        return "On" if value else "Off"
    if isinstance(value, dict):
        rules = (f"{setting_label(name)}: {_text(rule)}" for name, rule in sorted(value.items()))
        return "; ".join(rules) or "None"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "None"
    return str(value) or "None"


def _before(facts: Facts) -> Facts:
    return values_of(lock_settings(facts["store"]), dispatch_columns())


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> Store:
    store, changes = Store.objects.get(pk=facts["store"]), facts["changes"]
    before = values_of(store, list(changes))
    changed = change_store_for(store, request.reason, changes)
    settings_emails.tell(changed, f"staff_request:{request.pk}", _lines(before, changes))
    return changed


DISPATCH = RequestKind(
    "dispatch", "A change to a store’s cards or agents", staff_roles.DISPATCH, _before, _carry_out
)
