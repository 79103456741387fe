"""Settings of invoices and credit notes: their numbers, and what makes a credit note."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.billing.documents.settings import document_settings_document
from apps.billing.requests import DocumentSettingsChanges
from apps.billing.services import document_settings
from apps.dashboard.billing.forms import BillingForm
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.stores import roles

_CHOICES = {"": None, "yes": True, "no": False}


class DocumentSettingsForm(BillingForm):
    names = ("invoice_prefix", "credit_note_prefix", "restarts_yearly", "credits_automatically")

    def changes(self) -> DocumentSettingsChanges:
        """Raises Invalid."""
        return DocumentSettingsChanges.read(
            {
                "invoice_prefix": self.values["invoice_prefix"],
                "credit_note_prefix": self.values["credit_note_prefix"],
                "restarts_yearly": self.values["restarts_yearly"] == "on",
                "credits_automatically": _CHOICES.get(self.values["credits_automatically"]),
            }
        )


def edit(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        row = document_settings_document(document_settings.settings_of(request.access))
        chosen = {choice: name for name, choice in _CHOICES.items()}
        typed = {
            "invoice_prefix": row.invoice_prefix,
            "credit_note_prefix": row.credit_note_prefix,
            "restarts_yearly": "on" if row.restarts_yearly else "",
            "credits_automatically": chosen[row.credits_automatically],
        }
        return _page(request, DocumentSettingsForm(typed))
    form = DocumentSettingsForm(request.POST.dict())
    try:
        document_settings.change_settings(request.access, form.changes())
    except Refusals as refusal:
        return _page(request, form.refuse(refusal))
    messages.success(request, gettext("Saved. It counts from the next number on."))
    return go("settings_documents")


def _page(request: PageRequest, form: DocumentSettingsForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "choices": [
            ("", gettext("If you’ve set up taxes")),
            ("yes", gettext("Yes")),
            ("no", gettext("No")),
        ],
        "may_change": roles.may(request.member.role, roles.MANAGE),
    }
    return show(request, "dashboard/settings/documents.html", context, status=form.status)
