"""A store's payout limits as staff change them: one lowers a limit, two raise or lift it, and the
store's owners are notified (decision 660)."""

import uuid
from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from apps.core.money import amount_text
from apps.payouts.models import StorePayoutCap
from apps.payouts.services.caps import set_store_cap
from apps.stores import staff_roles
from apps.stores.emailing import settings_emails
from apps.stores.models import StaffRequest, User
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind

_NAMES = {"per_tx_atomic": "Payout limit of {coin}", "daily_atomic": "Daily payout limit of {coin}"}
Limits = Mapping[str, int | None]


def split(
    cap: StorePayoutCap, limits: Limits
) -> tuple[dict[str, int | None], dict[str, int | None]]:
    """The changes that one person makes alone, and those that take two: None is no limit."""
    alone: dict[str, int | None] = {}
    for_two: dict[str, int | None] = {}
    for column, after in limits.items():
        before = getattr(cap, column)
        if before != after:
            is_lower = after is not None and (before is None or after < before)
            (alone if is_lower else for_two)[column] = after
    return alone, for_two


def lower(cap: StorePayoutCap, limits: Limits) -> None:
    """By one member of staff."""
    lines = _lines(cap, limits)
    with transaction.atomic():
        set_store_cap(cap.store, cap.asset_id, **limits)
        settings_emails.tell(cap.store, f"staff_limits:{uuid.uuid4()}", lines)


def request_limits(
    cap: StorePayoutCap, limits: Limits, reason: str, staff: User, at: datetime
) -> StaffRequest:
    """Nothing is changed yet. Raises StaffForbidden, or what four_eyes.ask raises."""
    wish = Proposal(
        str(cap.pk),
        f"Payout limits of {cap.store.name}, {cap.asset.full_name}",
        {
            "cap": cap.pk,
            "store": str(cap.store_id),
            "changes": {column: _plain(value) for column, value in limits.items()},
        },
        _lines(cap, limits),
        reason,
    )
    return four_eyes.ask(PAYOUT_LIMITS, wish, staff, at)


def _lines(cap: StorePayoutCap, limits: Limits) -> list[tuple[str, str, str]]:
    return [
        (
            _NAMES[column].format(coin=cap.asset.full_name),
            _text(cap, getattr(cap, column)),
            _text(cap, after),
        )
        for column, after in limits.items()
    ]


def _text(cap: StorePayoutCap, amount_atomic: int | None) -> str:
    if amount_atomic is None:
        return "None"
    return amount_text(amount_atomic, cap.asset.atomic_decimals)


def _before(facts: Facts) -> Facts:
    cap = StorePayoutCap.objects.select_for_update().get(pk=facts["cap"])
    return {column: _plain(getattr(cap, column)) for column in _NAMES}


def _plain(amount_atomic: int | None) -> str | None:
    """As canonical JSON holds it."""
    return None if amount_atomic is None else str(amount_atomic)


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> StorePayoutCap:
    cap = StorePayoutCap.objects.select_related("store", "asset__chain").get(pk=facts["cap"])
    limits = {
        column: None if text is None else int(text) for column, text in facts["changes"].items()
    }
    lines = _lines(cap, limits)
    changed = set_store_cap(cap.store, cap.asset_id, **limits)
    settings_emails.tell(cap.store, f"staff_request:{request.pk}", lines)
    return changed


PAYOUT_LIMITS = RequestKind(
    "payout_limits",
    "A change to a store’s payout limits",
    staff_roles.PAYOUT_CAPS_RAISED,
    _before,
    _carry_out,
)
