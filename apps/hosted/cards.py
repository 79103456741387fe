"""Paying by card on the hosted pages: what a checkout shows of it, and the embedded network's own
card page.

Prices are asked for only when the customer looks at them. A card that was charged is not a paid
intent, and no page says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.core import clock
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.text.countries import countries, country_name
from apps.core.web.forms import sentences
from apps.hosted import plumbing
from apps.hosted.domains import store_of
from apps.hosted.plumbing import public_page
from apps.onramp.models import FundingSession
from apps.onramp.requests import CardRequest
from apps.onramp.selectors import latest_session, open_session_by_id
from apps.onramp.services.card_page import OUTCOMES, finish
from apps.onramp.services.place import CountryRequired, country_at_edge, place_of
from apps.onramp.services.pricing import Priced, price_methods
from apps.onramp.services.sessions import card_networks, open_session
from apps.payments.models import Payment
from apps.stores.branding import colour

_METHODS = (("onramp_methods", True), ("onramp_methods_reference", False))
_SESSIONS = (("onramp_sessions", True), ("onramp_sessions_reference", False))
# Providers whose coverage differs between the regions of these ask for one.
_WITH_REGIONS = ("US", "CA", "AU")
TOO_OFTEN = _("Too many attempts. Wait a moment and try again.")
CHOICE_SEPARATOR = "|"
_CARD = _("Card")
_CREDIT_CARD = _("Credit card")
_DEBIT_CARD = _("Debit card")
_ANY_CARD = _("Debit or credit card")
_TRANSFER = _("Bank transfer")
_INSTANT_TRANSFER = _("Instant bank transfer")
_SEPA_TRANSFER = _("SEPA transfer")
_INSTANT_SEPA_TRANSFER = _("Instant SEPA transfer")
# The usual ways to pay, as networks spell them in small letters. Brands stay as they are.
_USUAL = {
    "card": _CARD,
    "bank card": _CARD,
    "credit card": _CREDIT_CARD,
    "debit card": _DEBIT_CARD,
    "credit or debit card": _ANY_CARD,
    "credit/debit card": _ANY_CARD,
    "debit or credit card": _ANY_CARD,
    "debit/credit card": _ANY_CARD,
    "bank transfer": _TRANSFER,
    "local bank transfer": _TRANSFER,
    "wire transfer": _TRANSFER,
    "instant bank transfer": _INSTANT_TRANSFER,
    "sepa": _SEPA_TRANSFER,
    "sepa transfer": _SEPA_TRANSFER,
    "sepa bank transfer": _SEPA_TRANSFER,
    "sepa instant": _INSTANT_SEPA_TRANSFER,
    "sepa instant transfer": _INSTANT_SEPA_TRANSFER,
}
_WITH_SCHEME = re.compile(r"(?P<way>[^()]+?) *(?P<scheme>\([^()]+\))?")


@dataclass(frozen=True)
class CardChoice:
    """An offer; the figures of a method are its first provider's."""

    value: str
    name: str
    provider: str
    charge_cents: int
    on_top_cents: int
    is_recommended: bool


@dataclass(frozen=True)
class CardPrices:
    """Prices of card payments at the customer's place. `is_asked` once the providers have been
    asked."""

    countries: list[tuple[str, str]]  # to choose from; none when the place is known
    country: str
    country_name: str
    region: str
    takes_region: bool
    choices: Sequence[CardChoice] = ()
    further: Sequence[CardChoice] = ()
    is_asked: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Card:
    """Card payments on a checkout: their availability, the one under way, and on request the
    prices."""

    session: FundingSession | None
    returned: str
    is_offered: bool
    is_chosen: bool
    is_open: bool
    is_paid: bool
    has_failed: bool
    prices: CardPrices | None
    problem: str

    @property
    def is_choosing(self) -> bool:
        return self.is_chosen and not self.is_open


def card_of(request: HttpRequest, payment: Payment, *, problem: str = "") -> Card:
    """`problem` is why the card payment that was asked for can't be opened."""
    session = latest_session(payment)
    networks = card_networks(payment)
    status = session.status if session is not None else None
    is_open = (
        session is not None
        and status == FundingSession.Status.PENDING
        and session.expires_at > _now(payment)
    )
    is_chosen = (bool(problem) or request.GET.get("pay") == "card") and (bool(networks) or is_open)
    prices = _prices(request, payment) if is_chosen and not is_open else None
    return Card(
        session=session,
        returned=request.GET.get("onramp", ""),
        is_offered=bool(networks) or is_open,
        is_chosen=is_chosen,
        is_open=is_open,
        is_paid=status == FundingSession.Status.PAID,
        has_failed=status == FundingSession.Status.FAILED,
        prices=prices,
        problem=problem or (prices.problem if prices is not None else ""),
    )


def _now(payment: Payment) -> datetime:
    return clock.now(payment.store, payment.mode)


def _prices(request: HttpRequest, payment: Payment) -> CardPrices:
    at_edge = country_at_edge(request.headers)
    fields = request.POST if request.method == "POST" else request.GET
    country = fields.get("country", "")
    region = fields.get("region", "")
    chosen = at_edge or country or payment.store.country
    prices = CardPrices(
        countries=[] if at_edge else countries(),
        country=chosen,
        country_name=country_name(chosen),
        region=region,
        takes_region=chosen in _WITH_REGIONS,
    )
    try:
        place = place_of(request.headers, payment.store, country, region)
        if plumbing.is_too_often(request, payment.reference, _METHODS):
            return replace(prices, problem=gettext(TOO_OFTEN))
        choices = _choices(price_methods(payment, place))
    except CountryRequired:
        return prices
    except Failure as failure:
        return replace(prices, problem=" ".join(sentences(failure)))
    recommended, further = (
        [choice for choice in choices if choice.is_recommended is is_recommended]
        for is_recommended in (True, False)
    )
    return replace(prices, choices=recommended, further=further, is_asked=True)


def _choices(priced: Priced) -> list[CardChoice]:
    """Best first."""
    return [
        CardChoice(
            value=f"{method.id}{CHOICE_SEPARATOR}{offer.service_id}",
            name=method_name(method.method.name),
            provider=offer.service_name,
            charge_cents=offer.charge_cents,
            on_top_cents=offer.charge_cents - priced.settlement_amount_cents,
            is_recommended=offer is method.best,
        )
        for method in priced.methods
        for offer in method.offers
    ]


def start(request: HttpRequest, payment: Payment) -> str:
    """Open the card payment that the form asks for; the problem in words, or nothing when it is
    open."""
    if plumbing.is_too_often(request, payment.reference, _SESSIONS):
        return gettext(TOO_OFTEN)
    method_id, _, service_id = request.POST.get("choice", "")[:400].partition(CHOICE_SEPARATOR)
    email = request.POST.get("customer_email", "").strip()
    place = request.POST.get("country", ""), request.POST.get("region", "")
    try:
        order = CardRequest.read(
            {
                "payment_method_id": method_id,
                "provider_service_id": service_id,
                "customer_email": email or None,
            }
        )
        open_session(payment, order, lambda: place_of(request.headers, payment.store, *place))
    except (Failure, Invalid) as refusal:
        return " ".join(sentences(refusal))
    return ""


@require_safe
@public_page("checkout")
def leave(request: HttpRequest, reference: str) -> HttpResponse:
    """The page that sends the customer on to the card page: by itself where it may, by a link
    everywhere."""
    payment = plumbing.payment_of(reference)
    session = latest_session(payment)
    if session is None or session.status != FundingSession.Status.PENDING:
        return HttpResponseRedirect(f"{request.path.removesuffix('/card/leave')}?pay=card")
    # The embedded network's page is asked of whichever host this one is on, but for a store's own
    # domain, which has no such page.
    url = (
        session.url
        if store_of(request) is not None
        else plumbing.picture(session.url) or session.url
    )
    context = {
        "session": session,
        "url": url,
        "refresh": f"0; url={url}",
        "host": plumbing.host_shown(session.url),
        "merchant": payment.store.brand_name or payment.store.name,
        "path": request.path.removesuffix("/card/leave"),
        "livemode": payment.is_live,
    }
    return render(request, "hosted/leave.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@public_page("checkout")
def card_page(request: HttpRequest, reference: str) -> HttpResponse:
    """The embedded network's card page: it charges nobody, one button per outcome."""
    session = open_session_by_id(UUID(reference))
    if session is None:
        raise Http404
    back = f"/pay/{session.payment.reference}"
    if request.method == "POST":
        outcome = request.POST.get("outcome", "")
        if outcome not in OUTCOMES:
            raise Http404
        finish(session, outcome)
        return HttpResponseRedirect(
            f"{back}?onramp=success" if outcome == "paid" else f"{back}?pay=card", status=303
        )
    store = session.payment.store
    context = {
        "session": session,
        "method": method_name(session.method_name),
        "merchant": store.brand_name or store.name,
        "livemode": session.mode == "live",
        "back": f"{back}?onramp=cancel&pay=card",
        "has_brand": bool(colour(store.primary_color or "")),
    }
    response = render(request, "hosted/card_page.html", context)
    # Without any referrer the browser would hide the origin of the page's form, which then looks
    # forged.
    response["Referrer-Policy"] = "same-origin"
    return response


def method_name(name: str) -> str:
    """`Bank transfer (ACH)` -> `Banküberweisung (ACH)`, and `PayID` -> `PayID`."""
    match = _WITH_SCHEME.fullmatch(name.strip())
    usual = _USUAL.get(" ".join(match["way"].casefold().split())) if match else None
    if match is None or usual is None:
        return name
    return " ".join(filter(None, (gettext(usual), match["scheme"])))
