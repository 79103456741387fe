"""Customers' acts on an irregular payment: a new quote, the search for a sent transaction, a
receipt by mail.

The link is the only key here and no cookie says more, so the forms carry no token and work inside a
frame too (decision 245).
"""

from collections.abc import Callable
from functools import wraps
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import get_language, gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.web.forms import sentences
from apps.core.web.refusals import status_of
from apps.hosted import answers, checkout, plumbing
from apps.hosted.plumbing import Page, missing_in_frame, public_page, refused_if_too_often
from apps.hosted.quotes import next_step
from apps.payments import states
from apps.payments.services.create import CoinsTooLow, NoRate
from apps.payments.services.receipts import NoReceipt, email_receipt
from apps.payments.services.renew import NotRenewable, renew_payment
from apps.payments.services.transaction_lookup import find_for_customer


def customer_form(policy: str) -> Callable[[Page], Page]:
    """A form of a checkout, whose limits are per link and address, and per address."""

    def decorate(view: Page) -> Page:
        @csrf_exempt
        @require_POST
        @missing_in_frame
        @public_page("checkout")
        @wraps(view)
        def limited(request: HttpRequest, reference: str, **arguments: str) -> HttpResponse:
            refused = refused_if_too_often(request, reference, [(policy, True)])
            refused = refused or refused_if_too_often(request, "", [(f"{policy}_address", True)])
            return refused or view(request, reference, **arguments)

        return limited

    return decorate


@customer_form("new_quotes")
def renew(request: HttpRequest, reference: str) -> HttpResponse:
    """The one press; a second one, here or in another tab, leads to the same payment."""
    payment = plumbing.payment_of(reference)
    if payment.status != states.EXPIRED:
        return _to(request, reference)
    step = next_step(payment)
    try:
        if not step.is_offered and not step.quote:
            raise NotRenewable
        later = renew_payment(payment)
    except (NoRate, CoinsTooLow) as refusal:
        return _refused(
            request,
            reference,
            refusal,
            gettext("There is no price right now. Try again in a few minutes."),
        )
    except Failure as refusal:
        return _refused(
            request,
            reference,
            refusal,
            gettext("This payment can’t get a new quote. Go back to the store to start again."),
        )
    return _to(request, later.reference)


def _refused(request: HttpRequest, reference: str, refusal: Failure, problem: str) -> HttpResponse:
    return checkout.page(
        request, plumbing.payment_of(reference), quote_problem=problem, status=status_of(refusal)
    )


def _to(request: HttpRequest, reference: str) -> HttpResponse:
    """The page of a payment, framed as this one is."""
    return HttpResponseRedirect(f"/pay/{reference}{plumbing.framed_query(request)}", status=303)


@customer_form("sent")
def sent(request: HttpRequest, reference: str) -> HttpResponse:
    """Status of a named transaction. The answer goes into the address of the page, so that it stays
    while the page follows it."""
    payment = plumbing.payment_of(reference)
    answer = find_for_customer(payment, request.POST.get("transaction", ""))
    joint = "&" if plumbing.framed_query(request) else "?"
    query = urlencode({"sent": answers.packed(payment, answer)})
    return HttpResponseRedirect(
        f"/pay/{reference}{plumbing.framed_query(request)}{joint}{query}#sent", status=303
    )


@customer_form("receipts")
def receipt(request: HttpRequest, reference: str) -> HttpResponse:
    """To the address that was typed, in the language of the page."""
    payment = plumbing.payment_of(reference)
    typed = request.POST.get("email", "")[:300]
    try:
        email_receipt(payment, typed, get_language() or "")
    except NoReceipt:
        return _to(request, reference)
    except (Failure, Invalid) as refusal:
        problem = " ".join(sentences(refusal, gettext("Your email address")))
        return checkout.page(
            request,
            payment,
            receipt_problem=problem,
            receipt_email=typed,
            status=status_of(refusal),
        )
    joint = "&" if plumbing.framed_query(request) else "?"
    return HttpResponseRedirect(
        f"/pay/{reference}{plumbing.framed_query(request)}{joint}receipt=sent#receipt", status=303
    )
