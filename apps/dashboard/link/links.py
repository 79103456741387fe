"""Payment links: the list, one link with its QR code and payments, its form, the button for a
website, pausing and archiving."""

import io
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from apps.core.messages.fields import Invalid, parse_date
from apps.core.money import text_from_cents
from apps.core.typed_amounts import cents_typed, whole_typed
from apps.core.web.forms import Form, sentences
from apps.dashboard.link.columns import LINKS, LinkLine
from apps.dashboard.site import form_keys
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, show
from apps.dashboard.tables import days
from apps.dashboard.tables.files import LINK_PAYMENTS
from apps.dashboard.tables.lists import Tab
from apps.dashboard.tables.paging import window
from apps.links import buttons as link_buttons
from apps.links import selectors
from apps.links.documents import ARCHIVED, OPEN, PAUSED, link_url
from apps.links.models import PaymentLink
from apps.links.requests import SUGGESTED_MAX, LinkRequest
from apps.links.services import links
from apps.payments.services.prices import AMOUNT_CENTS_MAX
from apps.stores.models import Currency

FIXED = "fixed"
CHOSEN = "chosen"
_TABS = {
    "": gettext_noop("All"),
    OPEN: gettext_noop("Active"),
    PAUSED: gettext_noop("Paused"),
    ARCHIVED: gettext_noop("Archived"),
}
PNG_SCALE = 16
# Words of the choices of a button.
_VERBS = {"pay": gettext_noop("Pay"), "buy": gettext_noop("Buy"), "donate": gettext_noop("Donate")}
_LOOKS = {
    "small": gettext_noop("Small"),
    "medium": gettext_noop("Medium"),
    "large": gettext_noop("Large"),
    "green": gettext_noop("Green"),
    "black": gettext_noop("Black"),
    "white": gettext_noop("White"),
}
# What customers are asked about themselves.
ASKS: dict[str, str] = {
    PaymentLink.Ask.NO: gettext_noop("Don’t ask"),
    PaymentLink.Ask.OPTIONAL: gettext_noop("Optional"),
    PaymentLink.Ask.REQUIRED: gettext_noop("Required"),
}


def index(request: PageRequest) -> HttpResponse:
    status = _status(request)
    parameters = {"status": status} if status else {}
    page = window(_rows(request, status), request.GET, parameters)
    context = {
        "table": LINKS.table(request, page.rows, parameters),
        "window": page,
        "tabs": [
            Tab(gettext(name), urlencode({"status": value} if value else {}), value == status)
            for value, name in _TABS.items()
        ],
        "is_empty": not page.rows
        and not status
        and "page" not in request.GET
        and not _has_any(request),
    }
    return show(request, "dashboard/links/list.html", context)


def export(request: PageRequest) -> Answer:
    """The tab's rows as CSV, newest first."""
    return LINKS.csv(request, _rows(request, _status(request)))


def _status(request: PageRequest) -> str:
    status = request.GET.get("status", "")
    return status if status in _TABS else ""


def _rows(request: PageRequest, status: str) -> "QuerySet[PaymentLink]":
    rows = selectors.links_visible_to(request.access).filter(archived_at__isnull=status != ARCHIVED)
    return rows.filter(paused_at__isnull=status == OPEN) if status in (OPEN, PAUSED) else rows


def _has_any(request: PageRequest) -> bool:
    return selectors.links_visible_to(request.access).exists()


def show_one(request: PageRequest, id: str) -> HttpResponse:
    link = _find(request, id)
    page = window(selectors.payments_at(link), request.GET, {})
    line = LinkLine.of(link, selectors.tally_of(link), request.access.now())
    context = {
        "link": link,
        "url": link_url(link),
        "state": line.state,
        "tally": line.tally,
        "stock_left": line.stock_left,
        "has_most": line.has_most,
        "window": page,
        "payments": page.rows,
        "is_changeable": link.archived_at is None,
    }
    return show(request, "dashboard/links/detail.html", context)


def export_payments(request: PageRequest, id: str) -> Answer:
    """Payments of one link as CSV, newest first, with the customers' own answers."""
    return LINK_PAYMENTS.of(request, selectors.payments_at(_find(request, id)), id)


def _find(request: PageRequest, id: str) -> PaymentLink:
    link: PaymentLink = find(selectors.links_visible_to(request.access), id)
    return link


def code(request: PageRequest, id: str, kind: str) -> HttpResponse:
    """The QR code of the link's page, as a file to print."""
    import segno  # most processes draw none

    link = _find(request, id)
    drawn = segno.make_qr(link_url(link), error="m")
    buffer = io.BytesIO()
    if kind == "svg":
        drawn.save(buffer, kind="svg", border=4, unit="mm", scale=2)
    else:
        drawn.save(buffer, kind="png", border=4, scale=PNG_SCALE)
    types = {"svg": "image/svg+xml", "png": "image/png"}
    headers = {"Content-Disposition": f'attachment; filename="payment-link-{link.token}.{kind}"'}
    return HttpResponse(buffer.getvalue(), content_type=types[kind], headers=headers)


def code_svg(request: PageRequest, id: str) -> HttpResponse:
    return code(request, id, "svg")


def code_png(request: PageRequest, id: str) -> HttpResponse:
    return code(request, id, "png")


def button(request: PageRequest, id: str) -> HttpResponse:
    """The HTML that puts the link on a website."""
    link = _find(request, id)
    design = link_buttons.Button.asked_by(request.GET, is_open_amount=link.amount_cents is None)
    url = link_url(link)
    context = {
        "link": link,
        "url": url,
        "button": design,
        "snippet": design.snippet(url),
        "picture": design.picture(),
        "form_snippet": design.form(url, link.currency, link.min_cents, link.max_cents)
        if link.amount_cents is None
        else "",
        "sizes": {size: gettext(_LOOKS[size]) for size in link_buttons.SIZES},
        "colors": {color: gettext(_LOOKS[color]) for color in link_buttons.COLORS},
        "verbs": {verb: gettext(name) for verb, name in _VERBS.items()},
        "languages": link_buttons.LANGUAGES,
    }
    return show(request, "dashboard/links/button.html", context)


class PaymentLinkForm(Form):
    """`kind` is who names the amount: FIXED the store, CHOSEN the customer."""

    names = (
        "title",
        "description",
        "kind",
        "amount",
        "currency",
        "min",
        "max",
        "suggested",
        "stock",
        "ends",
        "email",
        "name",
        "success_url",
    )
    hidden = (form_keys.NAME,)
    lists = ("suggested",)
    labels = {
        "title": gettext_noop("The title"),
        "amount": gettext_noop("The amount"),
        "min": gettext_noop("The minimum amount"),
        "max": gettext_noop("The maximum amount"),
        "suggested": gettext_noop("Each suggested amount"),
        "stock": gettext_noop("The quantity"),
        "ends": gettext_noop("The end date"),
        "success_url": gettext_noop("The return URL"),
    }

    def request(self) -> LinkRequest:
        """Raises Invalid."""
        values = self.values
        kind = self.values["kind"]
        if kind not in (FIXED, CHOSEN):
            raise Invalid("kind", "choose_value")
        if kind == FIXED and not values["amount"]:
            raise Invalid("amount", "required")
        is_fixed = kind == FIXED
        return LinkRequest(
            title=values["title"],
            description=values["description"] or None,
            currency=values["currency"],
            amount_cents=self._cents(values["amount"], "amount") if is_fixed else None,
            min_cents=None if is_fixed else self._limit("min"),
            max_cents=None if is_fixed else self._limit("max"),
            suggested_cents=() if is_fixed else self._suggested(),
            stock=whole_typed(values["stock"], "stock", digits_max=9) if values["stock"] else None,
            ends_at=_end_of_day(values["ends"]),
            success_url=values["success_url"] or None,
            email=values["email"],
            name=values["name"],
        )

    def _limit(self, name: str) -> int | None:
        return self._cents(self.values[name], name) if self.values[name] else None

    def _cents(self, text: str, name: str) -> int:
        currency = self.values["currency"]
        return cents_typed(text, name, currency if currency in Currency.values else "")

    def _suggested(self) -> list[int]:
        amounts = [amount for amount in self.chosen["suggested"] if amount]
        if len(amounts) > SUGGESTED_MAX:
            raise Invalid("suggested", "too_many_items", maximum=SUGGESTED_MAX)
        return [self._cents(amount, "suggested") for amount in amounts]

    @property
    def suggestions(self) -> list[tuple[str, str]]:
        """An input for each that there may be, by its number."""
        typed = [*self.chosen["suggested"], *[""] * SUGGESTED_MAX]
        return [(str(number), text) for number, text in enumerate(typed[:SUGGESTED_MAX], 1)]


def _end_of_day(text: str) -> datetime | None:
    """The last second of a day by the reader's clock. Raises Invalid."""
    if not text:
        return None
    day = parse_date(text)
    if day is None:
        raise Invalid("ends", "date")
    return datetime(
        day.year, day.month, day.day, 23, 59, 59, tzinfo=timezone.get_current_timezone()
    )


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        usual = {
            "kind": FIXED,
            "currency": request.access.store.settlement_currency,
            "email": "no",
            "name": "no",
        }
        return _form(request, PaymentLinkForm(usual | form_keys.new()))
    form = PaymentLinkForm.from_post(request.POST)
    try:
        link = links.create_link(request.access, form.request(), form_key=form_keys.of(form.values))
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    messages.success(request, gettext("Payment link created."))
    return go("link", link.pk)


def edit(request: PageRequest, id: str) -> HttpResponse:
    link = _find(request, id)
    if request.method == "GET":
        suggested = [text_from_cents(cents) for cents in link.suggested_cents]
        form = PaymentLinkForm(_values(link), {"suggested": suggested})
        return _form(request, form, link)
    form = PaymentLinkForm.from_post(request.POST)
    try:
        order = form.request()
        # A day that was left as it was stays the moment that it is, whatever the clock of who
        # reads it.
        is_same_day = form.values["ends"] == _values(link)["ends"]
        links.update_link(
            request.access, link, replace(order, ends_at=link.ends_at) if is_same_day else order
        )
    except Refusals as refusal:
        return _form(request, form.refuse(refusal), link)
    messages.success(request, gettext("Changes saved."))
    return go("link", link.pk)


def _values(link: PaymentLink) -> dict[str, str]:
    """First values of the form of an existing link."""
    least = link.min_cents or 0
    most = link.max_cents or AMOUNT_CENTS_MAX
    return {
        "title": link.title,
        "description": link.description or "",
        "kind": FIXED if link.amount_cents is not None else CHOSEN,
        "amount": text_from_cents(link.amount_cents) if link.amount_cents is not None else "",
        "currency": link.currency,
        "min": text_from_cents(least) if least > 1 else "",
        "max": text_from_cents(most) if most < AMOUNT_CENTS_MAX else "",
        "stock": str(link.stock or ""),
        "ends": timezone.localtime(link.ends_at).date().isoformat()
        if link.ends_at is not None
        else "",
        "email": link.email,
        "name": link.name,
        "success_url": link.success_url or "",
    }


def _form(
    request: PageRequest, form: PaymentLinkForm, link: PaymentLink | None = None
) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "link": link,
        "currencies": Currency.choices,
        "asks": [(value, gettext(label)) for value, label in ASKS.items()],
        "today": days.today(request.access).isoformat(),
        "suggested_max": SUGGESTED_MAX,
    }
    return show(request, "dashboard/links/form.html", context, status=form.status)


def switch(request: PageRequest, id: str) -> HttpResponse:
    """Pause it, or go on."""
    link = _find(request, id)
    is_on = request.POST.get("to") == OPEN
    try:
        (links.resume_link if is_on else links.pause_link)(request.access, link)
    except links.LinkArchived as refusal:
        messages.error(request, " ".join(sentences(refusal)))
        return go("link", link.pk)
    messages.success(
        request,
        gettext("Payment link resumed.")
        if is_on
        else gettext("Payment link paused. Payments already started can still be completed."),
    )
    return go("link", link.pk)


def archive(request: PageRequest, id: str) -> HttpResponse:
    """A page that says what happens, then the end."""
    link = _find(request, id)
    if request.method == "GET":
        return show(
            request,
            "dashboard/links/archive.html",
            {"link": link, "tally": selectors.tally_of(link)},
        )
    links.archive_link(request.access, link)
    messages.success(request, gettext("Payment link archived."))
    return go("links")
