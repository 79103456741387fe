"""A customer's entry of a refund address, for refunds that can't return to their sender: through
the link in the email, or with the sender's signature; an entry without either is for the merchant.

Opening a link changes nothing: mail programs open links too.
"""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import get_language, gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.chain.networks.families import shown_address
from apps.core.acting import become
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.web.forms import sentences
from apps.core.web.refusals import status_of
from apps.hosted import checkout, plumbing
from apps.hosted.actions import customer_form
from apps.hosted.plumbing import public_page, refused_if_too_often
from apps.hosted.refund_parts import part_of
from apps.payments.models import Payment
from apps.payments.services import refund_destinations
from apps.payments.services.refund_links import ask_customer, known_email, link_behind

ADDRESS_LENGTH_MAX = 255
SIGNATURE_LENGTH_MAX = 9000


@customer_form("refund_links")
def send_link(request: HttpRequest, reference: str) -> HttpResponse:
    """To the mailbox that the merchant knows, and to no other."""
    payment = plumbing.payment_of(reference)
    ask_customer(payment, get_language() or "")
    return _to(request, reference, "sent")


@customer_form("refund_addresses")
def enter(request: HttpRequest, reference: str) -> HttpResponse:
    """An address: with a signature it is proved; without one it is kept for the merchant, where no
    mailbox is known."""
    payment = plumbing.payment_of(reference)
    become("visitor", name=f"page of payment {payment.reference}")
    typed = request.POST.get("address", "")[:ADDRESS_LENGTH_MAX]
    payer = request.POST.get("payer", "")[:ADDRESS_LENGTH_MAX]
    signature = request.POST.get("signature", "")[:SIGNATURE_LENGTH_MAX]
    try:
        if signature.strip():
            refund_destinations.confirm_by_signature(payment, payer, typed, signature)
            return _to(request, reference, "done")
        if known_email(payment):
            rows = refund_destinations.waiting_rows(payment)
            address = refund_destinations.checked_signing_address(payment, typed, rows)
        else:
            address = refund_destinations.enter_unproven(payment, typed)
    except (Failure, Invalid) as refusal:
        return _refused(request, payment, refusal, typed)
    part = part_of(payment, address=shown_address(address))
    return checkout.page(request, payment, refund=part)


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@public_page("checkout")
def by_link(request: HttpRequest, reference: str, token: str) -> HttpResponse:
    """The form behind the link of the email, and what it sends."""
    payment = plumbing.payment_of(reference)
    link = link_behind(payment, token)
    if link is None:
        problem = gettext("This link has expired or was used. You can request a new one.")
        part = part_of(payment, problem=problem)
        return checkout.page(request, payment, refund=part, status=410)
    if request.method != "POST":
        return checkout.page(request, payment, refund=part_of(payment, token=token))
    refused = refused_if_too_often(request, reference, [("refund_addresses", True)])
    if refused is not None:
        return refused
    become("visitor", name=f"emailed link of payment {payment.reference}")
    typed = request.POST.get("address", "")[:ADDRESS_LENGTH_MAX]
    try:
        refund_destinations.confirm_by_link(payment, link, typed)
    except (Failure, Invalid) as refusal:
        return _refused(request, payment, refusal, typed, token)
    return _to(request, reference, "done")


def _refused(
    request: HttpRequest,
    payment: Payment,
    refusal: Failure | Invalid,
    typed: str,
    token: str = "",
) -> HttpResponse:
    problem = " ".join(sentences(refusal, gettext("Address")))
    shown = "" if isinstance(refusal, Failure) and refusal.holds_secret else typed
    part = part_of(payment, token=token, address=shown, problem=problem)
    return checkout.page(request, payment, refund=part, status=status_of(refusal))


def _to(request: HttpRequest, reference: str, answer: str) -> HttpResponse:
    joint = "&" if plumbing.framed_query(request) else "?"
    return HttpResponseRedirect(
        f"/pay/{reference}{plumbing.framed_query(request)}{joint}refund={answer}#refund",
        status=303,
    )
