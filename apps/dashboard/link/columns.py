"""The columns of the list of payment links, and what they show of a page of them: what each has
brought in one statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from apps.core.templatetags.tillgate import badge, count, fiat, url_text
from apps.dashboard.site.views import PageRequest
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.columns import cents_column, day_column, id_column, time_column
from apps.dashboard.tables.files import cents_of
from apps.dashboard.tables.lists import Column, Listing, listing
from apps.links import selectors
from apps.links.documents import OPEN, link_url, state_of
from apps.links.models import PaymentLink
from apps.links.selectors import LinkTally
from apps.payments.services.prices import AMOUNT_CENTS_MAX

SOLD_OUT = "sold_out"


@dataclass(frozen=True)
class LinkLine:
    """A link with what it has brought; `state` is that of now."""

    link: PaymentLink
    tally: LinkTally
    state: str

    @classmethod
    def of(cls, link: PaymentLink, tally: LinkTally, now: datetime) -> "LinkLine":
        state = state_of(link, now)
        is_gone = state == OPEN and link.stock is not None and tally.taken >= link.stock
        return cls(link, tally, SOLD_OUT if is_gone else state)

    @property
    def stock_left(self) -> int | None:
        stock = self.link.stock
        return None if stock is None else max(stock - self.tally.taken, 0)

    @property
    def has_most(self) -> bool:
        """True if there is a maximum of its own."""
        most = self.link.max_cents
        return most is not None and most < AMOUNT_CENTS_MAX


def read(
    request: PageRequest, links: Sequence[PaymentLink], columns: frozenset[str]
) -> list[LinkLine]:
    tallies = selectors.tallies(links)
    now = request.access.now()
    return [LinkLine.of(link, tallies.get(link.pk, LinkTally()), now) for link in links]


def _name(line: LinkLine) -> SafeString:
    address = link_url(line.link).partition("://")[2]
    return list_cells.name("link", line.link.pk, line.link.title, url_text(address))


def _price(line: LinkLine) -> str:
    link = line.link
    if link.amount_cents is not None:
        return fiat(link.amount_cents, link.currency)
    least_cents = link.min_cents or 0
    most_cents = link.max_cents if line.has_most else None
    limits = _limits(
        fiat(least_cents, link.currency) if least_cents > 1 else "",
        "" if most_cents is None else fiat(most_cents, link.currency),
    )
    below = format_html('<br><span class="small muted">{}</span>', limits) if limits else ""
    return format_html("{}{}", gettext("Customer chooses"), below)


def _limits(least: str, most: str) -> str:
    if least and most:
        return gettext("from {least} up to {most}").format(least=least, most=most)
    if least:
        return gettext("from {least}").format(least=least)
    return gettext("up to {most}").format(most=most) if most else ""


def _paid(line: LinkLine) -> str:
    paid = count(line.tally.completed)
    if not line.link.stock:
        return paid
    stock = gettext("of {stock}").format(stock=count(line.link.stock))
    return format_html('{} <span class="muted">{}</span>', paid, stock)


LINKS = listing(
    Listing(
        "links",
        (
            Column(
                "link",
                gettext_noop("Link"),
                _name,
                {
                    "title": lambda line: line.link.title,
                    "url": lambda line: link_url(line.link),
                },
            ),
            Column(
                "price",
                gettext_noop("Price"),
                _price,
                {
                    "amount": lambda line: cents_of(line.link.amount_cents),
                    "minimum": lambda line: cents_of(line.link.min_cents),
                    "maximum": lambda line: cents_of(
                        line.link.max_cents if line.has_most else None
                    ),
                    "currency": lambda line: line.link.currency,
                },
                is_number=True,
                on_phone=True,
            ),
            Column(
                "paid",
                gettext_noop("Paid"),
                _paid,
                {
                    "paid": lambda line: line.tally.completed,
                    "stock": lambda line: line.link.stock,
                    "stock_left": lambda line: line.stock_left,
                },
                is_number=True,
            ),
            Column(
                "open",
                gettext_noop("In progress"),
                lambda line: count(line.tally.open),
                {"in_progress": lambda line: line.tally.open},
                is_number=True,
                is_default=False,
            ),
            cents_column(
                "collected",
                gettext_noop("Collected"),
                lambda line: line.tally.completed_cents,
                lambda line: line.link.currency,
            ),
            Column(
                "status",
                gettext_noop("Status"),
                lambda line: badge("payment_link", line.state),
                {"status": lambda line: line.state},
                on_phone=True,
            ),
            time_column(
                "ends", gettext_noop("Ends"), lambda line: line.link.ends_at, name="ends_at"
            ),
            day_column(
                "created",
                gettext_noop("Created"),
                lambda line: line.link.created_at,
                name="created_at",
                on_phone=True,
            ),
            id_column(lambda line: line.link),
        ),
        read,
    )
)
