"""The customer's own page at a store: their invoices, their subscriptions with what comes next, and
the way out of one.

A signed link is the only key. One that is too old can only do this: have a new one sent to the
customer's own mailbox.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from msgspec.structs import asdict

from apps.access.access import Access
from apps.billing.documents.subscriptions import SubscriptionDocument, subscription_document
from apps.billing.invoices import credit_notes, customer_credit
from apps.billing.models import CreditNote, Customer, Invoice, Subscription
from apps.billing.numbers import credit_note_number, formatted_number
from apps.billing.selectors import being_paid, invoices_visible_to, subscriptions_visible_to
from apps.billing.services import emails
from apps.billing.services.portal import LinkExpired, customer_behind
from apps.billing.states import ACTIVE, CANCELED, DRAFT, TRIALING
from apps.billing.subscriptions.changes import cancel_subscription, uncancel_subscription
from apps.billing.subscriptions.upcoming import UpcomingCycle, upcoming_cycles, upcoming_of_all
from apps.core import acting
from apps.core.errors import Failure
from apps.core.web.forms import sentences
from apps.hosted import languages
from apps.hosted.brand import brand_of, sheet
from apps.hosted.plumbing import Context, public_page

INVOICES_PER_PAGE = 25
SUBSCRIPTIONS_MAX = 100
Page = Callable[..., HttpResponse]


def _of_customer(view: Page) -> Page:
    """The page of the customer whom the link is for; an old link gets the page where a new one is
    asked for."""

    @wraps(view)
    @public_page("checkout")
    def guarded(request: HttpRequest, reference: str, **arguments: Any) -> HttpResponse:
        try:
            customer = customer_behind(reference)
        except LinkExpired as expired:
            return _own(
                render(
                    request,
                    "hosted/portal/expired.html",
                    _frame(reference, expired.customer),
                    status=410,
                )
            )
        if customer is None:
            # Incomplete, or sent to an address that the customer no longer has.
            return _own(render(request, "hosted/unusable.html", {}, status=404))
        acting.become(acting.ActorKind.VISITOR, customer.pk, f"customer {customer.email}")
        languages.speak_to(request, customer)
        return _own(view(request, reference, customer, **arguments))

    return guarded


def _own(response: HttpResponse) -> HttpResponse:
    # Without any referrer the browser would hide the origin of the page's forms, which then look
    # forged.
    response.headers["Referrer-Policy"] = "same-origin"
    return response


@require_safe
@_of_customer
def show(request: HttpRequest, reference: str, customer: Customer) -> HttpResponse:
    access = Access.for_public(customer.store, customer.mode)
    rows = (
        invoices_visible_to(access)
        .filter(customer=customer)
        .exclude(status=DRAFT)
        .exclude(number=None)
    )
    page = _page_number(request)
    invoices = list(rows[(page - 1) * INVOICES_PER_PAGE : page * INVOICES_PER_PAGE + 1])
    listed = invoices[:INVOICES_PER_PAGE]
    paying = being_paid(listed)
    running = list(subscriptions_visible_to(access).filter(customer=customer)[:SUBSCRIPTIONS_MAX])
    coming = upcoming_of_all(running)
    context = _frame(reference, customer) | {
        "invoices": [_invoice(row, access, row.pk in paying) for row in listed],
        "page": page,
        "has_more": len(invoices) > INVOICES_PER_PAGE,
        "credit_notes": [_credit_note(note) for note in credit_notes.of_customer(customer)],
        "balances": customer_credit.balances_of(customer),
        "subscriptions": sorted(
            (_subscription(row, coming[row.pk]) for row in running),
            key=lambda row: row.status == CANCELED,
        ),
    }
    return render(request, "hosted/portal/page.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@_of_customer
def cancel(request: HttpRequest, reference: str, customer: Customer, id: str) -> HttpResponse:
    """Asks once more. What is trialing or active ends with its period; what isn't billed or wasn't
    paid ends now."""
    access, subscription = _named(customer, id)
    if subscription.status == CANCELED or subscription.cancel_at_period_end:
        return HttpResponseRedirect(f"/portal/{reference}")
    is_at_end = subscription.status in (TRIALING, ACTIVE)
    problem = ""
    if request.method == "POST":
        # What the page promised: a subscription that has changed since is not ended earlier than
        # that.
        try:
            if (request.POST.get("when") == "period_end") == is_at_end:
                cancel_subscription(access, subscription, at_period_end=is_at_end)
                return HttpResponseRedirect(f"/portal/{reference}", status=303)
            problem = gettext("This subscription has changed. Check it again before you cancel it.")
        except Failure as failure:
            problem = " ".join(sentences(failure))
    context = _frame(reference, customer) | {
        "subscription": _subscription(subscription, upcoming_cycles(subscription)),
        "is_at_end": is_at_end,
        "problem": problem,
    }
    return render(request, "hosted/portal/cancel.html", context, status=422 if problem else 200)


@require_POST
@_of_customer
def keep(request: HttpRequest, reference: str, customer: Customer, id: str) -> HttpResponse:
    """Take a scheduled cancellation back."""
    access, subscription = _named(customer, id)
    uncancel_subscription(access, subscription)
    return HttpResponseRedirect(f"/portal/{reference}", status=303)


@require_POST
@public_page("checkout")
def ask_again(request: HttpRequest, reference: str) -> HttpResponse:
    """A new link for an old one, to the address the old one was for."""
    customer = _customer_of_any_age(reference)
    emails.portal_link(customer)
    return _own(
        render(
            request, "hosted/portal/expired.html", _frame(reference, customer) | {"was_sent": True}
        )
    )


@require_safe
@public_page("checkout")
def brand_style(request: HttpRequest, reference: str) -> HttpResponse:
    return sheet(_customer_of_any_age(reference).store)


def _customer_of_any_age(reference: str) -> Customer:
    """Customer of the link, also of an expired one."""
    try:
        customer = customer_behind(reference)
    except LinkExpired as expired:
        return expired.customer
    if customer is None:
        raise Http404
    return customer


def _frame(token: str, customer: Customer) -> Context:
    return brand_of(customer.store) | {
        "path": f"/portal/{token}",
        "customer": customer,
        "livemode": customer.is_live,
    }


def _page_number(request: HttpRequest) -> int:
    typed = request.GET.get("page", "1")
    return max(1, int(typed)) if typed.isascii() and typed.isdigit() and len(typed) < 6 else 1


def _named(customer: Customer, id: str) -> tuple[Access, Subscription]:
    """404 for one that isn't the customer's."""
    access = Access.for_public(customer.store, customer.mode)
    subscription = subscriptions_visible_to(access).filter(customer=customer, pk=id).first()
    if subscription is None:
        raise Http404
    return access, subscription


class ShownSubscription(SubscriptionDocument, frozen=True, kw_only=True):
    """Its document with what time does to it next."""

    name: str
    coming: list[UpcomingCycle]
    zone: tzinfo
    can_cancel: bool


def _subscription(row: Subscription, coming: list[UpcomingCycle]) -> ShownSubscription:
    document = asdict(subscription_document(row))
    return ShownSubscription(
        **document,
        name=row.price.product.name,
        coming=coming,
        zone=row.zone,
        can_cancel=row.status != CANCELED,
    )


@dataclass(frozen=True)
class ShownInvoice:
    number: str | None
    path: str
    state: str
    total_cents: int
    currency: str
    issued_at: datetime | None
    due_at: datetime | None
    zone: tzinfo
    description: str | None
    is_open: bool
    is_payable: bool


@dataclass(frozen=True)
class ShownCreditNote:
    number: str
    path: str
    invoice_number: str | None
    issued_on: date
    total_cents: int
    currency: str


def _credit_note(note: CreditNote) -> ShownCreditNote:
    return ShownCreditNote(
        number=credit_note_number(note),
        path=f"/invoice/{note.invoice.public_token}/credit-notes/{note.number}.pdf",
        invoice_number=formatted_number(note.invoice),
        issued_on=note.issued_on,
        total_cents=note.total_cents,
        currency=note.currency,
    )


def _invoice(row: Invoice, access: Access, is_being_paid: bool) -> ShownInvoice:
    return ShownInvoice(
        number=formatted_number(row),
        path=f"/invoice/{row.public_token}",
        state="confirming"
        if is_being_paid
        else "past_due"
        if row.is_past_due(access.now())
        else "part_paid"
        if row.status == "open" and row.amount_paid_cents
        else row.status,
        total_cents=row.total_cents,
        currency=row.currency,
        issued_at=row.finalized_at,
        due_at=row.due_at,
        zone=row.zone,
        description=row.description,
        is_open=row.status == "open",
        is_payable=row.status == "open" and not is_being_paid,
    )
