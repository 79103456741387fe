"""Questions of a hosted onboarding to a business: the same as in the dashboard, with the same
rules, and its documents."""

from collections.abc import Mapping
from typing import ClassVar

from django.http import Http404, HttpRequest
from django.utils.translation import gettext_noop as _

from apps.core.messages.fields import is_uuid
from apps.core.text.countries import countries
from apps.core.web.forms import Form
from apps.hosted.plumbing import Context
from apps.platforms.models import OnboardingLink
from apps.platforms.requests import OwnVerificationRequest
from apps.stores.models import Store
from apps.stores.verifying import documents


class BusinessForm(Form):
    """A business's own answers. A document is added or removed by a button of the form, which
    keeps what was typed."""

    names = (*OwnVerificationRequest.__struct_fields__, "document")
    labels: ClassVar[Mapping[str, str]] = {
        "business_legal_name": _("Legal business name"),
        "legal_form": _("Legal form"),
        "business_country": _("Business country"),
        "registration_number": _("Registration number"),
        "tax_id": _("VAT or tax ID"),
        "representative": _("Representative"),
        "street": _("Street and number"),
        "postal_code": _("Postal code"),
        "city": _("City"),
        "business_website": _("Business website"),
        "contact_email": _("Contact email"),
        "contact_phone": _("Contact phone"),
        "business_description": _("Business description"),
    }

    @classmethod
    def of(cls, link: OnboardingLink) -> "BusinessForm":
        """Form with what is known of the account already."""
        account = link.account
        return cls({"business_legal_name": account.name, "business_country": account.country})

    def request(self) -> OwnVerificationRequest:
        """Raises Invalid."""
        return OwnVerificationRequest.read(self.sent)


def change_documents(request: HttpRequest, account: Store) -> bool:
    """Do what a button beside a document asks for; whether one was pressed. Raises what refuses the
    document."""
    if id := request.POST.get("remove"):
        _remove(account, id)
        return True
    if "add" in request.POST:
        add_document(request, account)
        return True
    return False


def add_document(request: HttpRequest, account: Store) -> None:
    """One document more for the next submission. Raises what refuses it."""
    uploaded = request.FILES.get("document")
    if uploaded is None:
        raise documents.NoDocument
    if (uploaded.size or 0) > documents.BYTES_MAX:
        raise documents.DocumentTooLarge
    documents.add_document(account, uploaded.name or "", uploaded.read())


def _remove(account: Store, id: str) -> None:
    """A document that wasn't submitted."""
    if not is_uuid(id):
        raise Http404
    try:
        documents.remove_draft(account, id)
    except documents.DocumentGone:
        raise Http404 from None


def business_context(account: Store) -> Context:
    """Variables of the form beside its values."""
    drafts = documents.drafts(account)
    return {
        "countries": countries(),
        "drafts": drafts,
        "has_room": len(drafts) < documents.DOCUMENTS_MAX,
    }
