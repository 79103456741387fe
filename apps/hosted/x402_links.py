"""The address at which an agent buys at a payment link with a signature (x402, version 2): 402 with
a price that is sealed, then the payment, which is made with the signature (decision 932).

A link sells as often as its stock allows, so that a look leaves nothing behind.
"""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.access.access import Access
from apps.agents.documents import x402 as documents
from apps.agents.requests.x402 import PriceRequest
from apps.agents.services.x402_offers import make_offers
from apps.agents.services.x402_settle import settle
from apps.agents.services.x402_verify import OLD_VERSION
from apps.core import clock
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.money import text_from_cents
from apps.core.typed_amounts import cents_typed
from apps.core.web.forms import sentences
from apps.hosted.links import link_of
from apps.hosted.plumbing import public_page, refused_if_too_often
from apps.hosted.x402 import (
    FIRST,
    OLD_SIGNATURE,
    REQUIRED,
    RESPONSE,
    SIGNATURE,
    encoded,
    read_signature,
    shown,
)
from apps.links.documents import OPEN, state_of, x402_url
from apps.links.models import PaymentLink
from apps.links.requests import Purchase
from apps.links.selectors import by_token, tally_of
from apps.links.services.buy import LinkClosed, SoldOut, claim, lifetime_seconds, metadata_of
from apps.payments import states
from apps.stores.staff.suspensions import Suspension, is_suspended

_PAID = (states.PROCESSING, states.COMPLETED)


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@public_page("checkout", find=by_token)
def pay(request: HttpRequest, reference: str) -> HttpResponse:
    """Where the customer chooses the amount, or says who they are, `amount`, `email` and `name` of
    the query are their entries."""
    link = link_of(reference)
    try:
        purchase = _purchase(request, link)
        cents = purchase.check(link)
    except Invalid as refusal:
        return JsonResponse({"error": f"{refusal}, in the query of this address"}, status=422)
    if SIGNATURE in request.headers:
        refused = refused_if_too_often(request, reference, [("x402_signatures", False)])
        return refused or _sold(request, link, purchase, cents)
    error = OLD_VERSION if OLD_SIGNATURE in request.headers else FIRST
    return _price(link, purchase, cents, error)


def _purchase(request: HttpRequest, link: PaymentLink) -> Purchase:
    typed = request.GET.get("amount", "")[:12]
    is_chosen = typed and link.amount_cents is None
    return Purchase(
        form_key=uuid.uuid4().hex,
        amount_cents=cents_typed(typed, "amount", link.currency) if is_chosen else None,
        email=request.GET.get("email", ""),
        name=request.GET.get("name", ""),
    )


def _price(link: PaymentLink, purchase: Purchase, cents: int, error: str) -> HttpResponse:
    """402 with what may be signed; 410 when the link sells nothing, or nothing any more."""
    closed = _closed(link)
    if closed:
        return JsonResponse({"error": closed}, status=410)
    request = PriceRequest(
        resource=x402_url(link),
        amount=text_from_cents(cents),
        currency=link.currency,
        description=link.description or link.title,
        expires_in=lifetime_seconds(link),
        metadata=metadata_of(link, purchase),
    )
    access = Access.for_public(link.store, link.mode)
    try:
        terms = {"title": link.title, "success_url": link.success_url}
        offers = make_offers(access, request, **terms)
    except (Failure, Invalid) as failure:
        return JsonResponse({"error": " ".join(sentences(failure))}, status=409)
    required = documents.payment_required_document(offers, error)
    return shown(required, {REQUIRED: encoded(required)}, status=402)


def _closed(link: PaymentLink) -> str:
    """Why nothing is sold now, empty while something is."""
    is_open = state_of(link, clock.now(link.store, link.mode)) == OPEN
    if not is_open or is_suspended(link.store, Suspension.PAYMENTS):
        return str(LinkClosed.message)
    if link.stock is not None and tally_of(link).taken >= link.stock:
        return str(SoldOut.message)
    return ""


def _sold(request: HttpRequest, link: PaymentLink, purchase: Purchase, cents: int) -> HttpResponse:
    signed = read_signature(request.headers[SIGNATURE])
    if signed is None:
        text = "PAYMENT-SIGNATURE can’t be read: base64 of a JSON object"
        return _price(link, purchase, cents, text)
    access = Access.for_public(link.store, link.mode)
    outcome = settle(access, signed, lambda: claim(link, purchase))
    told = documents.settled_document(
        signed.network, outcome.payer, outcome.signed, outcome.reason, outcome.text
    )
    headers = {RESPONSE: encoded(told)}
    if outcome.signed is not None:
        # Anyone who sends the signature again hears of the same payment.
        payment = outcome.signed.offer.payment
        payment.refresh_from_db()
        if not outcome.reason or payment.status in _PAID:
            return shown(documents.paid_document(payment), headers)
    response = _price(link, purchase, cents, f"{outcome.reason}: {outcome.text}")
    response.status_code = 402
    response.headers[RESPONSE] = headers[RESPONSE]
    return response
