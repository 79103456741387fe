"""Makers of billing records, through the API."""

import uuid
from typing import Any

from tests import make
from tests.cast import Api

DAY = 86_400


def ok(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, (answer.status_code, answer.content)
    return answer.json()


def product(api: Api, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = ok(
        api.post("/billing/products", {"product": {"name": "Bread club", **fields}}), 201
    )
    return body


def ask_price(api: Api, product_id: str, **fields: Any) -> Any:
    body = {"unit_amount_cents": 1000, "currency": "EUR", "interval": "monthly", **fields}
    return api.post(f"/billing/products/{product_id}/prices", {"price": body})


def price(api: Api, product_id: str | None = None, **fields: Any) -> dict[str, Any]:
    """A monthly price, 10.00 EUR by default."""
    body: dict[str, Any] = ok(ask_price(api, product_id or product(api)["id"], **fields), 201)
    return body


def customer(api: Api, **fields: Any) -> dict[str, Any]:
    sent = {"email": f"{uuid.uuid4().hex}@example.com", "name": "Ann", **fields}
    body: dict[str, Any] = ok(api.post("/billing/customers", {"customer": sent}), 201)
    return body


def line(cents: int = 1000, quantity: int = 1, description: str = "Bread") -> dict[str, Any]:
    return {"description": description, "quantity": quantity, "unit_amount_cents": cents}


def ask_invoice(api: Api, **fields: Any) -> Any:
    return api.post(
        "/billing/invoices", {"invoice": {"currency": "EUR", "line_items": [line()], **fields}}
    )


def draft(api: Api, **fields: Any) -> dict[str, Any]:
    """A draft, 10.00 EUR by default."""
    owner = fields.pop("customer_id", None) or customer(api)["id"]
    body: dict[str, Any] = ok(ask_invoice(api, customer_id=owner, **fields), 201)
    return body


def act(api: Api, invoice_id: str, action: str) -> Any:
    return api.post(f"/billing/invoices/{invoice_id}/{action}")


def opened(api: Api, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = ok(act(api, draft(api, **fields)["id"], "finalize"))
    return body


def invoice(api: Api, invoice_id: str) -> dict[str, Any]:
    body: dict[str, Any] = ok(api.get(f"/billing/invoices/{invoice_id}"))
    return body


def invoices_of(api: Api, subscription_id: str) -> list[dict[str, Any]]:
    """A subscription's invoices in the order of their cycles."""
    rows = ok(api.get(f"/billing/invoices?subscription_id={subscription_id}&per_page=100"))["data"]
    return sorted(rows, key=lambda one: str(one["period_key"]))


def ask_subscription(api: Api, **fields: Any) -> Any:
    return api.post("/billing/subscriptions", {"subscription": fields})


def subscribe(api: Api, **fields: Any) -> dict[str, Any]:
    """A new customer on a new monthly price, 10.00 EUR by default."""
    if "items" not in fields:
        fields.setdefault("price_id", None)
        fields["price_id"] = fields["price_id"] or price(api)["id"]
    owner = fields.pop("customer_id", None) or customer(api)["id"]
    body: dict[str, Any] = ok(ask_subscription(api, customer_id=owner, **fields), 201)
    return body


def subscription(api: Api, subscription_id: str) -> dict[str, Any]:
    body: dict[str, Any] = ok(api.get(f"/billing/subscriptions/{subscription_id}"))
    return body


def change(api: Api, subscription_id: str, action: str, **body: Any) -> Any:
    return api.post(f"/billing/subscriptions/{subscription_id}/{action}", body)


def start_payment(token: str) -> Any:
    return Api().post(f"/billing/invoice/{token}/payment_intent")


def view(token: str) -> dict[str, Any]:
    body: dict[str, Any] = ok(Api().get(f"/billing/invoice/{token}"))
    return body


def pay(api: Api, record: dict[str, Any], **simulation: Any) -> dict[str, Any]:
    """Pay what is left of an open invoice by a simulated deposit; the invoice afterwards."""
    started = start_payment(record["public_token"])
    assert started.status_code in (200, 201), started.content
    make.simulated(api, started.json()["payment"]["payment_intent_id"], **simulation)
    view(record["public_token"])
    return invoice(api, record["id"])


def tax_rate(api: Api) -> dict[str, Any]:
    """Of 19%."""
    sent = {"name": "VAT", "category": "S", "rate_bps": 1900}
    body: dict[str, Any] = ok(api.post("/billing/tax_rates", {"tax_rate": sent}), 201)
    return body


def credit_note(api: Api) -> dict[str, Any]:
    """Of an invoice that was voided: by itself where taxes are set up, else by hand."""
    made = opened(api)
    ok(act(api, made["id"], "void"))
    for note in ok(api.get("/billing/credit_notes"))["data"]:
        if note["invoice_id"] == made["id"]:
            found: dict[str, Any] = note
            return found
    path = f"/billing/invoices/{made['id']}/credit_notes"
    body: dict[str, Any] = ok(api.post(path, {"credit_note": {}}), 201)
    return body
