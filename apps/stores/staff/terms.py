"""Terms of a store: fees, tolerances, verification, reviews, a platform's rights.

Two members of staff change it and the store's owners are notified; one makes reviews stricter, or
takes a right back (decision 615).
"""

from collections.abc import Mapping
from copy import copy
from datetime import datetime
from decimal import Decimal
from typing import Any

from apps.core import clock, money
from apps.core.templatetags.tillgate import fiat, percentage
from apps.stores import platform_fees, staff_roles
from apps.stores.emailing import settings_emails
from apps.stores.models import StaffRequest, Store, User
from apps.stores.services import change_store, change_store_for
from apps.stores.settings import lock_settings, setting_label, settings_models, values_of
from apps.stores.staff import four_eyes
from apps.stores.staff.dispatch import column_text, field_of
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind

_OF_STORE = (
    "underpayment_tolerance_bps",
    "overpayment_tolerance_bps",
    "fee_fraction",
    "is_platform",
    "platform_fee_fraction",
    "platform_fee_ceiling_fraction",
    "kyc_confirmed_at",
)
# The columns of which a smaller number lets less happen; None means no limit.
_LIMITS = (
    "underpayment_tolerance_bps",
    "overpayment_tolerance_bps",
    "payout_review_threshold_cents",
    "platform_fee_ceiling_fraction",
)
_RIGHTS = ("is_platform", "platform_may_pay_out", "kyc_confirmed_at")
_DUTIES = ("review_new_destinations",)
Changes = Mapping[str, Any]


def term_columns() -> list[str]:
    """Of the store, and of every app's settings."""
    return [*_OF_STORE, *(column for model in settings_models() for column in model.terms)]


def is_stricter(column: str, before: Any, after: Any) -> bool:
    """True if a change lets less happen than before, so that one member of staff makes it."""
    if column in _LIMITS:
        return after is not None and (before is None or after < before)
    if column in _RIGHTS:
        return not after
    return column in _DUTIES and bool(after)


def split(before: Changes, changes: Changes) -> tuple[dict[str, object], dict[str, object]]:
    """The part of `changes` that one changes alone, and the part that takes two."""
    names = term_columns()
    differences = {column: value for column, value in changes.items() if before[column] != value}
    for_two = {
        column: value
        for column, value in differences.items()
        if column in names and not is_stricter(column, before[column], value)
    }
    alone = {column: value for column, value in differences.items() if column not in for_two}
    return alone, for_two


def request_terms(
    store: Store, changes: Changes, reason: str, staff: User, at: datetime
) -> StaffRequest:
    """Nothing is changed yet. `changes` by column. Raises StaffForbidden, or what four_eyes.ask
    raises."""
    wish = Proposal(
        str(store.pk),
        f"Fees and reviews of {store.name}",
        {"store": str(store.pk), "changes": _packed(changes)},
        lines_of(store, changes),
        reason,
    )
    return four_eyes.ask(TERMS, wish, staff, at)


def lines_of(store: Store, changes: Changes) -> list[tuple[str, str, str]]:
    """Each setting with what it is and what it will be, as people read them."""
    before = values_of(store, list(changes))
    return [
        (setting_label(column), _text(store, column, before[column]), _text(store, column, value))
        for column, value in changes.items()
    ]


def _text(store: Store, column: str, value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    if isinstance(value, bool) or field_of(column).flatchoices:
        return column_text(column, value)
    if column.endswith("_cents"):
        return fiat(value, store.settlement_currency)
    if column.endswith("_bps"):
        return percentage(money.percentage_from_bps(value))
    if isinstance(value, Decimal):
        return percentage(money.percentage_text(value))
    return str(value) or "None"


def _packed(changes: Changes) -> Facts:
    """As canonical JSON holds them."""
    return {column: _plain(value) for column, value in changes.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return clock.iso(value) if isinstance(value, datetime) else value


def _before(facts: Facts) -> Facts:
    return _packed(values_of(lock_settings(facts["store"]), term_columns()))


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> Store:
    store = Store.objects.get(pk=facts["store"])
    changes = {
        column: field_of(column).to_python(value) for column, value in facts["changes"].items()
    }
    lines = lines_of(store, changes)
    former = copy(store)
    changed = change_store_for(store, request.reason, changes)
    if "platform_fee_fraction" in changes:
        _change_platform_fee(changed, former, at)
    settings_emails.tell(changed, f"staff_request:{request.pk}", lines)
    return changed


def _change_platform_fee(store: Store, former: Store, at: datetime) -> None:
    """A raise waits for those who pay it, no matter who makes it: a sub-merchant's own, or all of a
    platform's without one."""
    if store.platform is None:
        platform_fees.raise_default(store, former.platform_fee_fraction, at)
        return
    fee = platform_fees.chosen_fee(store, store.platform)
    columns = platform_fees.change_fee(former, store.platform, fee, at)
    change_store(store, **columns)
    platform_fees.tell_raise(store, store.platform)


TERMS = RequestKind(
    "store_terms", "A change to a store’s fees or reviews", staff_roles.TERMS, _before, _carry_out
)
