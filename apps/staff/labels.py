"""Labels of columns that several records have, where their names don't say enough. What only one
record has is beside its page."""

from collections.abc import Sequence

from apps.core.text.words import column_words

_LABELS = {
    "asked_at": "Requested",
    "at": "Time",
    "daily_atomic": "Maximum per day",
    "digest": "Fingerprint",
    "duration_ms": "Duration",
    "from_status": "From",
    "handled_status": "Last booked status",
    "idempotency_caller": "Idempotency key used by",
    "kind": "Type",
    "last_four": "Last four characters",
    "looked_at": "Checked",
    "maker": "Created by",
    "pay_to": "Paid to",
    "per_tx_atomic": "Maximum per payout",
    "submitted_real_at": "Submitted (real time)",
    "to_status": "To",
    "unit_amount_cents": "Unit price",
    "user": "Person",
}
_FIRST = ("id", "store", "mode", "created_at")


def column_label(name: str) -> str:
    return _LABELS.get(name) or column_words(name)


def in_one_order(names: Sequence[str]) -> list[str]:
    """The fields of a record: what each has in common with the others comes first."""
    first = [name for name in _FIRST if name in names] if "store" in names else []
    return [*first, *(name for name in names if name not in first)]
