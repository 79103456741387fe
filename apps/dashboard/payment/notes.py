"""A note about a payment, on a page of its own: the payment's page looks again at itself."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext, gettext_noop

from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, Refusals, find, go, show
from apps.payments import selectors
from apps.payments.models import Payment
from apps.payments.services.notes import NOTE_MAX, add_note


class NoteForm(Form):
    names = ("note",)
    labels = {"note": gettext_noop("Note")}


def create(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(selectors.payments_visible_to(request.access), id)
    if request.method == "GET":
        return _form(request, payment, NoteForm({}))
    form = NoteForm.from_post(request.POST)
    try:
        add_note(payment, form.values["note"])
    except Refusals as refusal:
        return _form(request, payment, form.refuse(refusal))
    messages.success(request, gettext("Note added."))
    return go("payment", payment.pk)


def _form(request: PageRequest, payment: Payment, form: NoteForm) -> HttpResponse:
    context = {
        "payment": payment,
        "form": form,
        "errors": form.common_errors,
        "length_max": NOTE_MAX,
    }
    return show(request, "dashboard/payments/note.html", context, status=form.status)
