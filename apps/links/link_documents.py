"""Links with what they have brought, and their buttons, as the API answers them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from apps.core.clock import iso
from apps.core.messages.documents import Document, Id, Time
from apps.links.documents import ARCHIVED, ENDED, OPEN, PAUSED, link_url, state_of, x402_url
from apps.links.models import PaymentLink
from apps.links.selectors import LinkTally, tallies

Status = Annotated[str, Meta(extra_json_schema={"enum": [OPEN, PAUSED, ENDED, ARCHIVED]})]
Asks = Annotated[str, Meta(extra_json_schema={"enum": PaymentLink.Ask.values})]


class PaymentLinkDocument(Document, frozen=True, kw_only=True):
    """`open_count` payments hold a piece of the stock and may still be completed."""

    id: Id
    url: str
    x402_url: str
    status: Status
    title: str
    description: str | None
    currency: str
    amount_cents: int | None
    min_amount_cents: int | None
    max_amount_cents: int | None
    suggested_amounts_cents: list[int]
    stock: int | None
    stock_left: int | None
    completed_count: int
    completed_cents: int
    open_count: int
    customer_email: Asks
    customer_name: Asks
    ends_at: Time | None
    success_url: str | None
    livemode: bool
    created_at: Time
    updated_at: Time


class ButtonDocument(Document, frozen=True, kw_only=True):
    """HTML for a page: a link with a picture, and for a link whose amount the customer chooses a
    form with a field for it. Neither needs a script or a file of ours."""

    html: str
    form_html: str | None


def link_document(link: PaymentLink, now: datetime) -> PaymentLinkDocument:
    return link_documents([link], now)[0]


def link_documents(links: Iterable[PaymentLink], now: datetime) -> list[PaymentLinkDocument]:
    """The figures of all of them come in one query."""
    rows = list(links)
    found = tallies(rows)
    return [_document(link, found.get(link.pk, LinkTally()), now) for link in rows]


def _document(link: PaymentLink, tally: LinkTally, now: datetime) -> PaymentLinkDocument:
    return PaymentLinkDocument(
        id=str(link.pk),
        url=link_url(link),
        x402_url=x402_url(link),
        status=state_of(link, now),
        title=link.title,
        description=link.description,
        currency=link.currency,
        amount_cents=link.amount_cents,
        min_amount_cents=link.min_cents,
        max_amount_cents=link.max_cents,
        suggested_amounts_cents=link.suggested_cents,
        stock=link.stock,
        stock_left=None if link.stock is None else max(0, link.stock - tally.taken),
        completed_count=tally.completed,
        completed_cents=tally.completed_cents,
        open_count=tally.open,
        customer_email=link.email,
        customer_name=link.name,
        ends_at=iso(link.ends_at) if link.ends_at is not None else None,
        success_url=link.success_url,
        livemode=link.is_live,
        created_at=iso(link.created_at),
        updated_at=iso(link.updated_at),
    )
