"""Open invoices of another service's export, as payments of a store that are pending.

Nothing of what was paid there is booked here: whatever has got money is left out, and named.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from apps.core.messages.fields import Invalid, Schema
from apps.payments.requests import EXPIRES_IN_MAX, PaymentRequest, payment_request
from apps.webhooks.formats import kept_metadata

ORIGIN: Final = "imported_from"
ID: Final = "imported_id"


class LeftOut(Exception):
    """An entry that becomes no payment; the sentence says why."""


class ImportedInvoice(Struct, frozen=True, kw_only=True):
    """An entry of an export: `request` is None where it is left out, and `reason` says why."""

    id: str
    request: PaymentRequest | None = None
    reason: str = ""


def entries_of(source: str, content: object) -> list[Mapping[str, Any]]:
    """The entries of an export: a list, or the value of `data`. Raises LeftOut for anything
    else."""
    rows: Any = content.get("data", content) if isinstance(content, dict) else content
    listed: list[Any] = rows if isinstance(rows, list) else [rows]
    if not listed or not all(isinstance(row, dict) and row.get("id") for row in listed):
        raise LeftOut(f"This is no list of {_NOUNS[source]}: each needs an id")
    return listed


def read(source: str, rows: Iterable[Mapping[str, Any]], mode: str) -> list[ImportedInvoice]:
    """Each entry, with the payment that it becomes or the reason why it becomes none."""
    return [_read(source, row, mode) for row in rows]


def _read(source: str, row: Mapping[str, Any], mode: str) -> ImportedInvoice:
    id = str(row["id"])
    try:
        fields = _READERS[source](row)
        metadata = {**fields.pop("metadata"), ORIGIN: source, ID: id}
        sent = {name: value for name, value in fields.items() if value not in (None, "")}
        request = payment_request(mode).read(
            {"expires_in": EXPIRES_IN_MAX, **sent, "metadata": metadata}
        )
    except LeftOut as left_out:
        return ImportedInvoice(id=id, reason=str(left_out))
    except Invalid as broken:
        return ImportedInvoice(id=id, reason=broken.text)
    return ImportedInvoice(id=id, request=request)


def key_of(source: str, id: str) -> str:
    """The idempotency key of an entry: importing a file again makes nothing twice."""
    return f"import:{source}:{id}"[:255]


def _btcpay(row: Mapping[str, Any]) -> Schema:
    """An invoice of the Greenfield API."""
    if row.get("status") != "New":
        raise LeftOut(f"Its status is {row.get('status')}, not New")
    if row.get("additionalStatus", "None") != "None":
        raise LeftOut(f"Something has come for it: {row['additionalStatus']}")
    if row.get("type", "Standard") != "Standard":
        raise LeftOut("A top-up invoice has no amount")
    metadata = _object(row, "metadata")
    return {
        "amount": _amount(row.get("amount")),
        "currency": row.get("currency"),
        "order_id": _text(metadata.get("orderId"), 255),
        "title": _text(metadata.get("itemDesc"), 150),
        "success_url": _object(row, "checkout").get("redirectURL"),
        "metadata": kept_metadata(metadata),
    }


def _coinbase(row: Mapping[str, Any]) -> Schema:
    """A charge of Coinbase Commerce."""
    timeline = row.get("timeline")
    steps = timeline if isinstance(timeline, list) else []
    statuses = [step.get("status") for step in steps if isinstance(step, dict)]
    if statuses and statuses[-1] != "NEW":
        raise LeftOut(f"Its status is {statuses[-1]}, not NEW")
    if row.get("payments"):
        raise LeftOut("Something has come for it")
    if row.get("pricing_type", "fixed_price") != "fixed_price":
        raise LeftOut("It has no fixed price")
    price = _object(_object(row, "pricing"), "local")
    metadata = _object(row, "metadata")
    order = metadata.get("order_id") or metadata.get("orderId") or row.get("code")
    email = metadata.get("customer_email") or metadata.get("email")
    kept = kept_metadata(metadata)
    return {
        "amount": _amount(price.get("amount")),
        "currency": price.get("currency"),
        "order_id": _text(order, 255),
        "title": _text(row.get("name"), 150),
        "description": _text(row.get("description"), 500),
        "success_url": row.get("redirect_url"),
        "failed_url": row.get("cancel_url"),
        "metadata": {**kept, "customer_email": email} if isinstance(email, str) else kept,
    }


def _object(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _amount(value: object) -> str | None:
    """Text without the zeros that others write after two places."""
    text = "" if value is None or isinstance(value, bool) else str(value)
    whole, point, places = text.partition(".")
    kept = places.rstrip("0") if point else ""
    return f"{whole}.{kept}" if kept else whole or None


def _text(value: object, longest: int) -> str | None:
    is_name = isinstance(value, (str, int)) and not isinstance(value, bool)
    return str(value)[:longest] if is_name else None


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Schema]]] = {
    "btcpay": _btcpay,
    "coinbase-commerce": _coinbase,
}
_NOUNS: Final = {"btcpay": "invoices", "coinbase-commerce": "charges"}
SOURCES: Final = tuple(_READERS)
