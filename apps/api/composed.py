"""Documents made from several apps."""

from typing import Any

from apps.payments.models import Payment


def onramp_of(payment: Payment) -> dict[str, Any]:
    """Whether a card option may be shown on a checkout, and through whom. No store has one yet."""
    return {"available": False, "providers": []}
