"""An integration's story with payment links, for the reference."""

from tests.cast import Shop
from tests.docs.recorder import Recorder


def links(tell: Recorder, shop: Shop) -> None:
    """A mug is sold at a link, which is changed, paused, resumed and archived."""
    api = shop.test
    mug = {
        "title": "Mug",
        "description": "Holds a third of a liter",
        "currency": "EUR",
        "amount_cents": 1200,
        "stock": 50,
        "customer_email": "required",
        "success_url": "https://bakery.example/thanks",
    }
    link = tell(api, "POST", "/payment_links", {"payment_link": mug})
    tell(api, "GET", "/payment_links")
    tell(api, "GET", "/payment_links/{id}", id=link["id"])
    changes = {"payment_link": {"amount_cents": 1400, "stock": 80}}
    tell(api, "PATCH", "/payment_links/{id}", changes, id=link["id"])
    tell(api, "GET", "/payment_links/{id}/button", id=link["id"])
    for action in ("pause", "resume", "archive"):
        tell(api, "POST", f"/payment_links/{{id}}/{action}", id=link["id"])
