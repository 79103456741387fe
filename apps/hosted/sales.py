"""The customer's side of a sale at the till: whether they add a tip, and what a second screen shows
them.

The token is the only key. Anyone who answers first decides about the tip, and the sale has one
payment from then on.
"""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext_noop as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from apps.access.access import Access
from apps.core import clock
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid, is_uuid
from apps.core.typed_amounts import cents_typed
from apps.core.web.forms import Form
from apps.core.web.refusals import status_of
from apps.hosted.brand import brand_of, sheet
from apps.hosted.checkout import is_part
from apps.hosted.plumbing import Context, public_page, refused_if_too_often
from apps.links.models import Sale
from apps.links.sale_documents import (
    WAITING_FOR_TIP,
    amount_of,
    sale_url,
    state_of_sale,
    tip_choices,
    total_cents,
    vat_parts,
)
from apps.links.services.sales import answer_tip, payment_of
from apps.links.till_selectors import sale_by_token
from apps.payments.documents.checkout import checkout_facts
from apps.payments.documents.parts import hosted_url
from apps.payments.documents.progress import progress_of
from apps.payments.documents.sightings import seen_for
from apps.payments.selectors import received_by
from apps.payments.services.create import UNPRICED, FeesTakeAll, KycRequired

OTHER = "other"
_CANT_TAKE = (KycRequired, FeesTakeAll, *UNPRICED)
# As for anyone who creates payments with a publishable key.
_BUDGETS = (("publishable_address", True),)
_WAITING = (WAITING_FOR_TIP, "pending", "processing")


class TipForm(Form):
    """`choice` is an offered tip in cents, empty for none, or OTHER for what is typed."""

    names = ("choice", "amount")
    inputs = {"tip": "amount"}
    labels = {"tip": _("The tip")}

    def tip_cents(self, sale: Sale) -> int:
        """Raises Invalid."""
        choice = self.values["choice"]
        if choice in {str(offered.cents) for offered in tip_choices(sale)}:
            return int(choice)
        if choice != OTHER:
            return 0
        if not self.values["amount"]:
            raise Invalid("tip", "required")
        return cents_typed(self.values["amount"], "tip", sale.currency)


def _sale(token: str) -> Sale:
    sale = sale_by_token(token)
    if sale is None:
        raise Http404
    return sale


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@public_page("checkout", find=sale_by_token)
def show(request: HttpRequest, reference: str) -> HttpResponse:
    """Asks for the tip; then it is the checkout."""
    return _page(request, _sale(reference), is_display=False)


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@public_page("checkout", find=sale_by_token)
def display(request: HttpRequest, reference: str) -> HttpResponse:
    """The sale on a screen of the store, turned to the customer: then with the code that they scan,
    and the state of the payment."""
    return _page(request, _sale(reference), is_display=True)


@require_safe
@public_page("checkout", find=sale_by_token)
def brand_style(request: HttpRequest, reference: str) -> HttpResponse:
    return sheet(_sale(reference).store)


def _page(request: HttpRequest, sale: Sale, *, is_display: bool) -> HttpResponse:
    form = TipForm({})
    is_unavailable = False
    if request.method == "POST":
        refused = refused_if_too_often(request, sale.token, _BUDGETS)
        if refused is not None:
            return refused
        form = TipForm.from_post(request.POST)
        try:
            access = Access.for_public(sale.store, sale.mode)
            answer_tip(access, sale, form.tip_cents(sale))
            return HttpResponseRedirect(request.get_full_path(), status=303)
        except _CANT_TAKE as refusal:
            is_unavailable = True
            form.status = status_of(refusal)
        except (Failure, Invalid) as refusal:
            form = form.refuse(refusal)
    payment = payment_of(sale)
    if payment is not None and not is_display:
        # At the host that the page is on.
        return HttpResponseRedirect(f"/pay/{payment.reference}")
    now = clock.now(sale.store, sale.mode)
    state = state_of_sale(sale, now)
    if state == WAITING_FOR_TIP and is_part(request):
        return HttpResponse(status=204)  # somebody is choosing: nothing has changed
    context: Context = brand_of(sale.store) | {
        "sale": sale,
        "state": state,
        "is_waiting": state in _WAITING,
        "is_display": is_display,
        "is_followed": state in _WAITING and state != WAITING_FOR_TIP,
        "is_unavailable": is_unavailable,
        "form": form,
        "tips": [(str(choice.cents), choice) for choice in tip_choices(sale)],
        "other": OTHER,
        "total_cents": total_cents(sale),
        "lines": [(line, amount_of(line)) for line in sale.lines],
        "vat": vat_parts(sale.lines, sale.currency),
        "path": f"/pay/{sale.token}/sale",
        "here": request.get_full_path(),
        "code": sale_url(sale),
        "till_id": _till_id(request, sale),
    }
    if payment is not None:
        received = received_by(payment)
        context |= {
            "facts": checkout_facts(payment, now, received),
            "bill": progress_of(payment, received),
            "code": hosted_url(payment),
        }
        context |= seen_for(received)
    name = "_display" if is_display and is_part(request) else "page"
    return render(request, f"hosted/till/{name}.html", context, status=form.status)


def _till_id(request: HttpRequest, sale: Sale) -> str:
    """The sale's own page, for a phone that was turned round and is turned back."""
    id = request.GET.get("till", "")
    return id if is_uuid(id) and id == str(sale.pk) else ""
