"""What a line of the audit log says beside who and what: names and values in words, and what a
change was from and to.

The log keeps columns and raw values; nothing here changes them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.core import money
from apps.core.staff.labels import code_words, field_label
from apps.core.templatetags.tillgate import percentage, plain_moment

# Values that are lists themselves: a list of anything else is what it was before and after.
_LISTS = frozenset({"fields", "redirect_uris", "refunds", "scopes", "sent", "subscribed_events"})
_CODED = frozenset({"frequency", "outcome", "role", "status", "type"})
_CHANGE_LENGTH = 2


def detail_lines(details: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(field_label(name), _value(name, value)) for name, value in details.items()]


def _value(name: str, value: Any) -> str:
    if not isinstance(value, list):
        return _text(name, value)
    is_change = len(value) == _CHANGE_LENGTH and (
        name not in _LISTS or any(isinstance(item, list) for item in value)
    )
    if is_change:
        return " → ".join(_listed(name, item) for item in value)
    return _listed(name, value)


def _listed(name: str, value: Any) -> str:
    """A text, or several side by side."""
    items: Sequence[Any] = value if isinstance(value, list) else [value]
    return ", ".join(_text(name, item) for item in items) or "none"


def _text(name: str, value: Any) -> str:
    if value in (None, ""):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    try:
        return _measured(name, value)
    except (InvalidOperation, ValueError):  # what an earlier release wrote otherwise
        return str(value)


def _measured(name: str, value: Any) -> str:
    if name.endswith("_fraction"):
        return percentage(money.percentage_text(Decimal(str(value))))
    if name.endswith("_bps"):
        return percentage(money.percentage_from_bps(int(value)))
    if name.endswith("_cents"):
        return money.text_from_cents(int(value))
    if name.endswith("_atomic"):
        return f"{int(value):,} atomic units"
    if name.endswith("_at"):
        return plain_moment(datetime.fromisoformat(str(value)))
    return code_words(str(value)) if name in _CODED else str(value)
