"""The verification of the store's own business: what is asked for, what became of it, and what
waits for it meanwhile."""

from collections.abc import Mapping
from typing import ClassVar

from django.contrib import messages
from django.http import Http404, HttpResponse

from apps.core.countries import countries, country_name
from apps.core.messages.fields import is_uuid
from apps.core.web.forms import Form
from apps.dashboard.plumbing import PageRequest, Refusals, go, show
from apps.platforms.requests import OwnVerificationRequest
from apps.platforms.services import verifications
from apps.stores import roles
from apps.stores import verification_documents as documents
from apps.stores.models import Store, User, Verification
from apps.stores.selectors import latest_verification

NOT_STARTED = "not_started"
PENDING = "pending"
APPROVED = "approved"
REJECTED = "rejected"


class VerificationForm(Form):
    names: tuple[str, ...] = (
        *("business_legal_name", "legal_form", "registration_number", "tax_id", "representative"),
        *("street", "postal_code", "city", "business_country", "business_website"),
        *("contact_email", "contact_phone", "business_description", "document"),
    )
    labels: ClassVar[Mapping[str, str]] = {
        "business_legal_name": "The legal name",
        "legal_form": "The legal form",
        "registration_number": "The registration number",
        "tax_id": "The VAT or tax ID",
        "representative": "The representative",
        "street": "The street",
        "postal_code": "The postal code",
        "city": "The city",
        "business_country": "The country",
        "business_website": "The website",
        "contact_email": "The email",
        "contact_phone": "The phone number",
        "business_description": "What you sell",
        "document": "The document",
    }

    @classmethod
    def of(cls, store: Store, before: Verification | None, person: User) -> "VerificationForm":
        """What was said before; else what the store knows already."""
        defaults = {
            "street": store.street,
            "postal_code": store.postal_code,
            "city": store.city,
            "business_country": store.country,
            "business_website": store.website,
            "contact_email": store.support_email or person.email,
        }
        previous = {name: getattr(before, name, None) for name in cls.names}
        return cls({name: previous[name] or defaults.get(name, "") for name in cls.names})

    def request(self) -> OwnVerificationRequest:
        """Raises Invalid."""
        return OwnVerificationRequest.read(self.sent)


def page(request: PageRequest) -> HttpResponse:
    store = request.access.store
    before = latest_verification(store)
    if request.method == "GET":
        return _page(request, before, VerificationForm.of(store, before, request.person))
    form = VerificationForm.from_post(request.POST)
    try:
        verifications.submit_own(store, form.request())
    except Refusals as refusal:
        return _page(request, before, form.refuse(refusal))
    messages.success(request, "Submitted for review. We’ll email you the outcome.")
    return go("verification")


def upload(request: PageRequest) -> HttpResponse:
    """One document more for the next submission."""
    store = request.access.store
    uploaded = request.FILES.get("document")
    try:
        if uploaded is None:
            raise documents.NoDocument
        if (uploaded.size or 0) > documents.BYTES_MAX:
            raise documents.DocumentTooLarge
        documents.add_document(store, uploaded.name or "", uploaded.read())
    except Refusals as refusal:
        return _refused(request, refusal)
    messages.success(request, "Document added. It is sent when you submit for review.")
    return go("verification")


def remove(request: PageRequest, id: str) -> HttpResponse:
    """A document that wasn't submitted."""
    if not is_uuid(id):
        raise Http404
    try:
        documents.remove_draft(request.access.store, id)
    except documents.DocumentGone:
        raise Http404 from None
    messages.success(request, "Document removed.")
    return go("verification")


def _refused(request: PageRequest, refusal: Exception) -> HttpResponse:
    store = request.access.store
    before = latest_verification(store)
    return _page(
        request, before, VerificationForm.of(store, before, request.person).refuse(refusal)
    )


def _page(request: PageRequest, before: Verification | None, form: Form) -> HttpResponse:
    status = _status(request.access.store, before)
    may_change = roles.may(request.member.role, roles.MANAGE)
    is_asked = status in (NOT_STARTED, REJECTED) or "change" in request.GET or bool(form.errors)
    drafts = documents.drafts(request.access.store) if may_change else []
    context = {
        "form": form,
        "errors": form.common_errors,
        "status": status,
        "before": before,
        "country": country_name(before.business_country) if before is not None else "",
        "shows_form": may_change and is_asked and status != PENDING,
        "countries": countries(),
        "drafts": drafts,
        "has_room": len(drafts) < documents.DOCUMENTS_MAX,
        "documents": documents.documents_of(before) if before is not None else [],
    }
    return show(request, "dashboard/verification/page.html", context, status=form.status)


def _status(store: Store, before: Verification | None) -> str:
    """What was decided last counts, unless staff confirmed the business in another way."""
    if before is None:
        return APPROVED if store.kyc_confirmed_at is not None else NOT_STARTED
    return str(before.status)
