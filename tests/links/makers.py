"""Makers of what can be paid without an integration, through the services."""

import uuid
from typing import Any

from django.test import Client

from apps.access.access import Access
from apps.links.models import PaymentLink
from apps.links.requests import LinkRequest
from apps.links.services.links import create_link
from apps.payments.models import Payment
from tests.cast import Shop
from tests.make import simulated


def made_link(shop: Shop, mode: str = "test", **fields: Any) -> PaymentLink:
    """A link for a mug, €12.00 by default."""
    asked = {"title": "Mug", "currency": "EUR", "amount_cents": 1200, **fields}
    return create_link(Access.for_session(shop.owner, shop.store, mode), LinkRequest(**asked))


def donation(shop: Shop, **fields: Any) -> PaymentLink:
    """The customer chooses between €2.00 and €500.00."""
    limits = {"min_cents": 200, "max_cents": 50000, "suggested_cents": (500, 1000, 2500)}
    return made_link(shop, **{"title": "Donation", "amount_cents": None, **limits, **fields})


def send(link: PaymentLink, client: Client | None = None, **fields: str) -> Any:
    """The form of the public page, filled in and sent."""
    return (client or Client()).post(f"/pay/{link.token}", {"form_key": uuid.uuid4().hex, **fields})


def reference_of(answer: Any) -> str:
    assert answer.status_code == 303, answer.content
    return str(answer["Location"].rsplit("/", 1)[1])


def bought(shop: Shop, link: PaymentLink, scenario: str = "exact", **fields: str) -> Payment:
    """A customer's payment at a link, played to its end."""
    made = Payment.objects.get(reference=reference_of(send(link, None, **fields)))
    simulated(shop.test, str(made.pk), scenario)
    made.refresh_from_db()
    return made
