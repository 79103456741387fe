"""Sales at the till, as its page sends them."""

import uuid
from typing import Any

from apps.access.access import Access
from apps.links.models import Sale
from apps.links.services.sales import start_sale
from apps.links.services.till import add_item, change_till
from apps.links.till_requests import ItemRequest, SaleLine, SaleRequest, TillRequest
from tests.dashboard.browse import Browser


def new_key() -> str:
    return uuid.uuid4().hex


def line(cents: int, vat_bps: int | None = None, quantity: int = 1, text: str = "Sale") -> SaleLine:
    return SaleLine(description=text, unit_amount_cents=cents, quantity=quantity, vat_bps=vat_bps)


def sale_request(*lines: SaleLine, **fields: Any) -> SaleRequest:
    return SaleRequest(
        **{
            "lines": lines or (line(1250),),
            "currency": "EUR",
            "form_key": new_key(),
            **fields,
        }
    )


def sold(access: Access, *lines: SaleLine, **fields: Any) -> Sale:
    return start_sale(access, sale_request(*lines, **fields))


def set_up(access: Access, **fields: Any) -> None:
    change_till(access, TillRequest(**{"currency": "EUR", **fields}))


def coffee(access: Access, name: str = "Flat white", cents: int = 420, **fields: Any) -> Any:
    request = {"name": name, "price_cents": cents, "currency": "EUR", "vat_bps": 1900, **fields}
    return add_item(access, ItemRequest(**request))


def ring_up(browser: Browser, **fields: Any) -> Any:
    """Send the form of the page."""
    return browser.post("point-of-sale", **{"form_key": new_key(), "amount": "12.50", **fields})
