"""Forms of what is sold: payments, payment links and the point of sale."""

from apps.links.services.till import add_item
from apps.links.till_requests import ItemRequest
from tests import make
from tests.dashboard.forms.broken import Broken, World, at
from tests.links.makers import made_link

LINK = {
    "title": "Mug",
    "kind": "fixed",
    "amount": "12",
    "currency": "EUR",
    "email": "no",
    "name": "no",
}


def till_item(world: World) -> str:
    order = ItemRequest(name="Cake", price_cents=350, currency="EUR", vat_bps=None)
    return str(add_item(world.cast.bakery.access(), order).pk)


SELLING = (
    Broken(
        "payment_create",
        at("payments/new"),
        {"amount": "10", "currency": "EUR", "expires_in": "5"},
        "expires_in",
        "Choose one of the offered values.",
    ),
    Broken(
        "payment_note",
        lambda world: f"payments/{make.payment(world.api)['id']}/note",
        {"note": " "},
        "note",
        "Enter a note.",
    ),
    Broken(
        "payment_transaction",
        lambda world: f"payments/{make.payment(world.api)['id']}/transaction",
        {"transaction": "my payment"},
        "transaction",
        "Enter the hash of a transaction: 0x and 64 hexadecimal digits.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "title": ""},
        "title",
        "The title can’t be blank.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "amount": ""},
        "amount",
        "The amount is required.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "kind": "free"},
        "kind",
        "Choose one of the offered values.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "kind": "chosen", "suggested": ["1", "2", "3", "4", "5"]},
        "suggested",
        "Each suggested amount has too many items (maximum is 4).",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "stock": "1.5"},
        "stock",
        "The quantity must be a whole number.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "ends": "2020-01-01"},
        "ends",
        "The end date must be in the future.",
    ),
    Broken(
        "link_edit",
        lambda world: f"payment-links/{made_link(world.cast.bakery).pk}/edit",
        {**LINK, "success_url": "x"},
        "success_url",
        "The return URL must be a valid URL.",
    ),
    Broken(
        "till",
        at("point-of-sale"),
        {"amount": "", "currency": "EUR"},
        "amount",
        "The amount is required.",
    ),
    Broken(
        "till_items",
        at("point-of-sale/items"),
        {"name": "Cake", "price": "", "vat": ""},
        "price",
        "The price is required.",
    ),
    Broken(
        "till_item",
        lambda world: f"point-of-sale/items/{till_item(world)}",
        {"name": "Cake", "price": "x", "vat": ""},
        "price",
        "The price must be a number such as 12.50.",
    ),
    Broken(
        "till_settings",
        at("point-of-sale/settings"),
        {"currency": "EUR", "tips": "5, much"},
        "tips",
        "Each tip must be a number such as 12.50.",
    ),
    Broken(
        "till_settings",
        at("point-of-sale/settings"),
        {"currency": "EUR", "tips": "101"},
        "tips",
        "Each tip must be at most 100 percent.",
    ),
)
