"""Forms of billing as they are sent, and what comes of them."""

import csv
import io
import uuid
from typing import Any

from apps.stores.models import AuditEntry
from tests.cast import Cast
from tests.dashboard.browse import Browser

EMAIL = "ann@example.com"
LINE = {
    "line_description": ["Bread", "", "Cake"],
    "line_quantity": ["2", "1", "1"],
    "line_amount": ["10", "", "5,50"],
}

PRICE_FORM = {"unit_amount": "10", "currency": "EUR", "interval": "monthly", "interval_count": "1"}


def new(browser: Browser, path: str, **fields: Any) -> Any:
    """Send a form that was just opened."""
    return browser.post(path, **{"form_key": uuid.uuid4().hex, **fields})


def rows_of(answer: Any) -> list[list[str]]:
    return list(
        csv.reader(io.StringIO(b"".join(answer.streaming_content).decode().removeprefix("\ufeff")))
    )


def acts_of(cast: Cast) -> list[str]:
    return list(
        AuditEntry.objects.filter(store_id=cast.bakery.store.pk, actor_kind="person")
        .order_by("id")
        .values_list("action", flat=True)
    )


def draft_form(**changed: Any) -> dict[str, Any]:
    return {
        "email": EMAIL,
        "currency": "EUR",
        "discount_type": "percent",
        "discount": "10",
        "tax": "7.7",
        "due": "2027-01-31",
        **LINE,
        **changed,
    }
