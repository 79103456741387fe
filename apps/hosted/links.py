"""The public page of a payment link: what it is for, and a form that makes a payment and leads to
its checkout.

Anybody may have the address, so that what it shows is the merchant's offer and nothing about other
customers.
"""

import uuid

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext_noop as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.core import clock
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.money import text_from_cents
from apps.core.typed_amounts import cents_typed
from apps.core.web.forms import Form
from apps.core.web.refusals import status_of
from apps.hosted.brand import brand_of, sheet
from apps.hosted.plumbing import Context, public_page, refused_if_too_often
from apps.links.documents import OPEN, state_of
from apps.links.models import PaymentLink
from apps.links.requests import EMAIL_MAX, NAME_MAX, Purchase
from apps.links.selectors import LinkTally, by_token, tally_of
from apps.links.services.buy import LinkClosed, SoldOut, buy
from apps.payments.services.create import UNPRICED, FeesTakeAll, KycRequired
from apps.payments.services.prices import AMOUNT_CENTS_MAX
from apps.stores.staff.suspensions import PaymentsSuspended, Suspension, is_suspended

OTHER = "other"
SOLD_OUT = "sold_out"
UNAVAILABLE = "unavailable"
SUSPENDED = "suspended"
_CANT_TAKE = (KycRequired, FeesTakeAll, *UNPRICED)
# As for anyone who creates payments with a publishable key.
_BUDGETS = (("publishable_address", True),)


class PurchaseForm(Form):
    """`choice` is one of the suggested amounts in cents, or OTHER for what is typed."""

    names = ("choice", "amount", "email", "name")
    hidden = ("form_key",)
    labels = {"amount": _("The amount"), "email": _("Your email address"), "name": _("Your name")}

    def purchase(self, link: PaymentLink) -> Purchase:
        """Raises Invalid."""
        return Purchase(
            form_key=self.values["form_key"],
            amount_cents=None if link.amount_cents is not None else self._cents(link),
            email=self.values["email"],
            name=self.values["name"],
        )

    def _cents(self, link: PaymentLink) -> int | None:
        if self.values["choice"] in map(str, link.suggested_cents):
            return int(self.values["choice"])
        typed = self.values["amount"]
        return cents_typed(typed, "amount", link.currency) if typed else None


@require_http_methods(["GET", "HEAD", "POST"])
@public_page("checkout", find=by_token)
def show(request: HttpRequest, reference: str) -> HttpResponse:
    """The page; a POST makes a payment. Anyone who sends the same form twice is led to the same
    payment."""
    link = link_of(reference)
    if request.method != "POST":
        return _page(request, link, PurchaseForm(_opened(request, link)))
    refused = refused_if_too_often(request, reference, _BUDGETS)
    if refused is not None:
        return refused
    form = PurchaseForm.from_post(request.POST)
    try:
        payment = buy(link, form.purchase(link))
    except (LinkClosed, SoldOut) as refusal:
        return _page(
            request,
            link_of(reference),
            form,
            closed=SOLD_OUT if isinstance(refusal, SoldOut) else "",
            status=status_of(refusal),
        )
    except PaymentsSuspended as refusal:
        return _page(request, link_of(reference), form, closed=SUSPENDED, status=status_of(refusal))
    except _CANT_TAKE as refusal:
        return _page(request, link, form, closed=UNAVAILABLE, status=status_of(refusal))
    except (Failure, Invalid) as refusal:
        refusal_form = form.refuse(refusal)
        return _page(request, link, refusal_form, status=refusal_form.status)
    # At the host that the page is on: its policy lets the form lead nowhere else.
    return HttpResponseRedirect(f"/pay/{payment.reference}", status=303)


@require_safe
@public_page("checkout", find=by_token)
def brand_style(request: HttpRequest, reference: str) -> HttpResponse:
    return sheet(link_of(reference).store)


def link_of(token: str) -> PaymentLink:
    link = by_token(token)
    if link is None:
        raise Http404
    return link


def _opened(request: HttpRequest, link: PaymentLink) -> dict[str, str]:
    """A form's first values; a button on the merchant's site may have asked for an amount."""
    typed = request.GET.get("amount", "")[:12]
    try:
        cents = cents_typed(typed, "amount", link.currency) if typed else None
    except Invalid:
        cents = None
    choice = next(
        (str(suggestion) for suggestion in link.suggested_cents if suggestion == cents),
        "",
    )
    if not choice:
        choice = (
            OTHER if cents is not None or not link.suggested_cents else str(link.suggested_cents[0])
        )
    return {
        "form_key": uuid.uuid4().hex,
        "choice": choice,
        "amount": typed if choice == OTHER and cents is not None else "",
    }


def _page(
    request: HttpRequest,
    link: PaymentLink,
    form: PurchaseForm,
    *,
    closed: str = "",
    status: int = 200,
) -> HttpResponse:
    tally = tally_of(link) if link.stock is not None else LinkTally()
    state = state_of(link, clock.now(link.store, link.mode))
    if state == OPEN and is_suspended(link.store, Suspension.PAYMENTS):
        state = SUSPENDED
    if state == OPEN:
        state = closed or (
            SOLD_OUT if link.stock is not None and tally.taken >= link.stock else OPEN
        )
    context: Context = brand_of(link.store) | {
        "link": link,
        "form": form,
        "state": state,
        "is_open": state == OPEN,
        "may_come_back": tally.open > 0,  # a piece that somebody has begun to pay for
        "path": f"/pay/{link.token}",
        "choices": [(str(cents), cents) for cents in link.suggested_cents],
        "other": OTHER,
        "least": link.min_cents
        if link.min_cents and link.min_cents > 1 and link.amount_cents is None
        else None,
        "most": link.max_cents if link.max_cents and link.max_cents < AMOUNT_CENTS_MAX else None,
        "least_text": text_from_cents(link.min_cents or 0),
        "email_max": EMAIL_MAX,
        "name_max": NAME_MAX,
    }
    response = render(request, "hosted/links/page.html", context, status=status)
    # Without any referrer the browser would hide the origin of the page's form, which then looks
    # forged.
    response["Referrer-Policy"] = "same-origin"
    return response
