"""Cells of lists: names as links, amounts, coins, people and statuses, each safe in a page."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from urllib.parse import quote

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator
from django.utils.translation import gettext

from apps.access import waiting_period
from apps.assets.models import Asset
from apps.billing.models import Customer
from apps.chain.networks.families import shown_address
from apps.core.badges import coin_badge
from apps.core.templatetags.tillgate import (
    crypto_short,
    email_text,
    fiat,
    shorten,
)
from apps.core.text.moments import day_by, in_zone, list_pattern, plain_in_zone
from apps.dashboard.tables.payers import Payer
from apps.payouts.models import Destination
from apps.payouts.services.destinations import network_name

_ANY = "00000000-0000-7000-8000-000000000000"  # an ID of no record
NONE = mark_safe('<span class="muted nothing">–</span>')  # ours alone
NAME_SHOWN = 60
BESIDE_SHOWN = 24


@cache
def _address_pattern(page: str) -> str:
    return reverse(f"dashboard:{page}", args=[_ANY])


def address_of(page: str, id: object) -> str:
    """Address of a record's page. Django's own search for it takes longer than the rest of a row,
    so that it is asked once for each page."""
    return _address_pattern(page).replace(_ANY, quote(str(id), safe=""))


def name(
    page: str, id: object, text: str, below: str = "", *, is_reference: bool = False
) -> SafeString:
    """Name of a row, as a link to its page, with a line below."""
    line = format_html('<br><span class="small muted">{}</span>', below) if below else ""
    url = address_of(page, id)
    kind = "row-link mono" if is_reference else "row-link"
    markup = '<a class="{}" href="{}"><bdi>{}</bdi></a>{}'
    return format_html(markup, kind, url, _breaking(text), line)


def two_lines(main: SafeString, text: str) -> SafeString:
    """With words of lesser weight on a line of their own."""
    return format_html('{}<br><span class="small muted">{}</span>', main, text)


def link(page: str, id: object, text: str) -> SafeString:
    return format_html(
        '<a href="{}"><bdi>{}</bdi></a>',
        address_of(page, id),
        _breaking(text),
    )


def words(text: str | None) -> SafeString:
    return format_html("<bdi>{}</bdi>", _breaking(text)) if text else NONE


def cents(amount_cents: int | None, currency: str) -> str:
    return NONE if amount_cents is None else fiat(amount_cents, currency)


def time(at: datetime | None) -> SafeString:
    """Without its year while that lasts, so that a row keeps one line; the whole of it is in its
    title."""
    if at is None:
        return NONE
    return format_html(
        '<span class="muted">{}</span>',
        in_zone(at, f"{list_pattern(at)}, HH:mm"),
    )


def title(saved: Destination) -> str:
    """The destination's name for people, in their language; never the account number."""
    if saved.is_wallet:
        return f"{shown_address(saved.address)} ({network_name(saved)})"
    return gettext("{currency} account ending in {ending}").format(
        currency=saved.currency, ending=saved.account_hint
    )


def usable_from(destination: Destination, at: datetime) -> str:
    """From when on something can be sent there, as bare text: `available from 29 Nov, 19:41 CET`.
    Empty: now."""
    until = destination.usable_from
    if until is None or until <= at:
        return ""
    if until == waiting_period.HELD:
        return gettext("available once its business has been asked")
    return gettext("available from {time}").format(time=plain_time(until))


def plain_time(at: datetime) -> str:
    """Time as bare text."""
    return plain_in_zone(at, f"{list_pattern(at)}, HH:mm")


def code(text: str) -> SafeString:
    """A reference, in the face of code."""
    return format_html('<span class="mono">{}</span>', text)


def ends_of(address: str | None) -> str:
    """An address by its ends, spelled with its checksum as everywhere; the whole is near."""
    return shorten(shown_address(address)) if address else ""


def named_on_phone(name: str, cell: str) -> SafeString:
    """Cell with its column's name, for phones, where columns have no heads."""
    markup = '<span class="muted"><span class="phone-only">{} </span>{}</span>'
    return format_html(markup, name, cell)


def day(at: datetime | None) -> SafeString:
    """The day alone, without this year as well."""
    if at is None:
        return NONE
    return format_html('<span class="muted day">{}</span>', day_by(at, list_pattern(at)))


def payer(person: Payer | None) -> SafeString:
    """A customer as a link to their page; who is none as words. Name and address have a line each,
    which is cut where it is too long; the whole is in the title."""
    if person is None:
        return NONE
    customer = person.customer
    name = words(person.title) if customer is None else link("customer", customer.pk, person.title)
    below = (
        format_html('<span class="small muted"><bdi>{}</bdi></span>', _breaking(person.email))
        if person.name and person.email
        else ""
    )
    whole = " ".join(part for part in (person.name, person.email) if part)
    return format_html('<span class="person" title="{}">{}{}</span>', whole, name, below)


def customer(person: Customer) -> SafeString:
    return payer(Payer(person.name or "", person.email, person))


def coin(asset: Asset | None) -> SafeString:
    return NONE if asset is None else coin_badge(asset.coin_symbol, asset.chain.name)


def destination(saved: Destination) -> SafeString:
    """A wallet by its address and, on a line of its own, its network; a bank account by what is
    known of it."""
    if not saved.is_wallet:
        return format_html("<bdi>{}</bdi>", title(saved))
    address = shown_address(saved.address)
    markup = '<bdi class="mono hash">{}</bdi><br><span class="muted">{}</span>'
    return format_html(markup, address, network_name(saved))


def named_destination(saved: Destination) -> SafeString:
    """Destination with its owner's name for it, if any, above it."""
    below = destination(saved)
    if not saved.label:
        return below
    return format_html("<strong><bdi>{}</bdi></strong><br>{}", saved.label, below)


def amount(amount_atomic: int, asset: Asset) -> SafeString:
    return crypto_short(amount_atomic, asset.atomic_decimals, asset.coin_symbol)


def lines(cells: Iterable[SafeString]) -> SafeString:
    """Cells below each other."""
    return (
        format_html_join(mark_safe("<br>"), "{}", ((cell,) for cell in cells)) or NONE
    )  # ours alone


def words_apart(cells: Iterable[SafeString]) -> SafeString:
    """Cells after each other."""
    return format_html_join(" ", "{}", ((cell,) for cell in cells))


def cut(text: str) -> str:
    """For what is beside something else on a line."""
    return Truncator(text).chars(BESIDE_SHOWN)


def _short(text: str) -> str:
    return Truncator(text).chars(NAME_SHOWN)


def _breaking(text: str) -> SafeString:
    """A name may be an email address."""
    return email_text(_short(text))


def shortened(text: str) -> SafeString:
    """People's own words, in two lines of a phone."""
    return (
        format_html('<bdi class="two-lines">{}</bdi>', Truncator(text).chars(2 * NAME_SHOWN))
        if text
        else SafeString("")
    )


def row(page: str, id: object, content: SafeString, below: str = "") -> SafeString:
    """Name of a row that is an amount, as a link to its page, with a line below."""
    line = format_html('<br><span class="small muted">{}</span>', below) if below else ""
    url = address_of(page, id)
    return format_html('<a class="row-link" href="{}">{}</a>{}', url, content, line)
