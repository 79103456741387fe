"""The addresses at which an agent pays a payment or an invoice with a signature (x402, version 2):
402 with what may be signed, then the payment.

The link is the only key. A look at a payment records nothing; one at an invoice, its one payment.
"""

import base64
import json
from typing import Any

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.access.access import Access
from apps.agents.documents import x402 as documents
from apps.agents.requests.x402 import VERSION, SignedPaymentRequest
from apps.agents.services.x402_offers import payment_offers
from apps.agents.services.x402_settle import settle
from apps.agents.services.x402_verify import OLD_VERSION
from apps.billing.invoices.payment_intents import (
    InvoiceNotFound,
    InvoiceNotPayable,
    shown_payment,
    start_payment,
)
from apps.billing.selectors import by_token
from apps.billing.states import PAID
from apps.core.errors import Failure
from apps.core.messages.documents import Document
from apps.core.web.forms import sentences
from apps.hosted import plumbing
from apps.hosted.plumbing import public_page, refused_if_too_often
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.selectors import addresses_of

SIGNATURE = "PAYMENT-SIGNATURE"
REQUIRED = "PAYMENT-REQUIRED"
RESPONSE = "PAYMENT-RESPONSE"
OLD_SIGNATURE = "X-PAYMENT"  # of version 1
HEADER_MAX = 16_384
FIRST = "Sign one of accepts (x402 version 2) and send it in the header PAYMENT-SIGNATURE"


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@public_page("checkout")
def pay(request: HttpRequest, reference: str) -> HttpResponse:
    return _answer(request, plumbing.payment_of(reference))


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@public_page("checkout")
def pay_invoice(request: HttpRequest, reference: str) -> HttpResponse:
    """Pays the rest of an invoice by its one payment, which the first look makes as the page's
    button does."""
    try:
        _, payment, _ = start_payment(reference)
    except InvoiceNotFound:
        raise Http404 from None
    except InvoiceNotPayable:
        return _closed(reference)
    except Failure as failure:
        return JsonResponse({"error": " ".join(sentences(failure))}, status=409)
    return _answer(request, payment)


def _closed(token: str) -> HttpResponse:
    """The payment of an invoice that is paid; 410 for one that can't be."""
    invoice = by_token(token)
    payment = shown_payment(invoice) if invoice is not None else None
    # Showing the payment has counted what it brought.
    invoice = by_token(token)
    if invoice is not None and invoice.status == PAID and payment is not None:
        return shown(documents.paid_document(payment))
    return JsonResponse({"error": "This invoice can’t be paid"}, status=410)


def _answer(request: HttpRequest, payment: Payment) -> HttpResponse:
    if SIGNATURE in request.headers:
        reference = payment.reference
        refused = refused_if_too_often(request, reference, [("x402_signatures", False)])
        return refused or _settled(payment, request.headers[SIGNATURE])
    if payment.status in (states.PROCESSING, states.COMPLETED):
        return shown(documents.paid_document(payment))
    return _required(payment, OLD_VERSION if OLD_SIGNATURE in request.headers else FIRST)


def _required(payment: Payment, error: str) -> HttpResponse:
    """402 with what may be signed; 410 when there is nothing to pay any more."""
    offers = payment_offers(payment)
    if offers:
        told = documents.payment_required_document(offers, error)
        return shown(told, {REQUIRED: encoded(told)}, status=402)
    if payment.status == states.PENDING:
        sentence = "This payment can’t be paid over x402. View its checkout, without /x402, instead"
        return JsonResponse({"error": sentence}, status=409)
    return JsonResponse({"error": f"This payment is {payment.status}"}, status=410)


def _settled(payment: Payment, header: str) -> HttpResponse:
    signed = read_signature(header)
    if signed is None:
        return _required(payment, "PAYMENT-SIGNATURE can’t be read: base64 of a JSON object")
    access = Access.for_public(payment.store, payment.mode)
    named = (signed.payment_requirements and signed.payment_requirements.pay_to) or ""
    if named.lower() not in {entry.address_id for entry in addresses_of(payment)}:
        return _required(payment, "The signature is for another payment")
    outcome = settle(access, signed)
    told = documents.settled_document(
        signed.network, outcome.payer, outcome.signed, outcome.reason, outcome.text
    )
    payment.refresh_from_db()
    if not outcome.reason:
        return shown(documents.paid_document(payment), {RESPONSE: encoded(told)})
    response = _required(payment, f"{outcome.reason}: {outcome.text}")
    response.status_code = 402
    response[RESPONSE] = encoded(told)
    return response


def read_signature(header: str) -> SignedPaymentRequest | None:
    """The header of the protocol: what the payer has chosen is what it was asked for."""
    try:
        payload = json.loads(base64.b64decode(header[:HEADER_MAX], validate=True))
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    body = {
        "x402Version": payload.get("x402Version", VERSION),
        "paymentPayload": payload,
        "paymentRequirements": payload.get("accepted"),
    }
    return SignedPaymentRequest.read(body)


def encoded(document: Document) -> str:
    return base64.b64encode(msgspec.json.encode(document)).decode()


def shown(
    document: Document, headers: dict[str, str] | None = None, *, status: int = 200
) -> HttpResponse:
    body: Any = msgspec.json.encode(document)
    return HttpResponse(body, status=status, content_type="application/json", headers=headers)
