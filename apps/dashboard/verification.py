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
        "business_legal_name",
        "legal_form",
        "registration_number",
        "tax_id",
        "representative",
        "street",
        "postal_code",
        "city",
        "business_country",
        "business_website",
        "contact_email",
        "contact_phone",
        "business_description",
        "document",
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
    """A document is added or removed by a button of the form, which keeps what was typed."""
    store = request.access.store
    before = latest_verification(store)
    if request.method == "GET":
        return _page(request, before, VerificationForm.of(store, before, request.person))
    form = VerificationForm.from_post(request.POST)
    try:
        if "remove" in request.POST:
            _remove(request)
            return _page(request, before, form)
        if "add" in request.POST:
            _add(request)
            return _page(request, before, form)
        business = form.request()
        if "document" in request.FILES:
            _add(request)
        verifications.submit_own(store, business)
    except Refusals as refusal:
        return _page(request, before, form.refuse(refusal))
    messages.success(request, "Submitted for review. We’ll email you the outcome.")
    return go("verification")


def _add(request: PageRequest) -> None:
    """One document more for the next submission. Raises what refuses it."""
    uploaded = request.FILES.get("document")
    if uploaded is None:
        raise documents.NoDocument
    if (uploaded.size or 0) > documents.BYTES_MAX:
        raise documents.DocumentTooLarge
    documents.add_document(request.access.store, uploaded.name or "", uploaded.read())


def _remove(request: PageRequest) -> None:
    """A document that wasn't submitted."""
    id = request.POST["remove"]
    if not is_uuid(id):
        raise Http404
    try:
        documents.remove_draft(request.access.store, id)
    except documents.DocumentGone:
        raise Http404 from None


def _page(request: PageRequest, before: Verification | None, form: Form) -> HttpResponse:
    status = _status(request.access.store, before)
    may_change = roles.may(request.member.role, roles.MANAGE)
    is_posted = request.method == "POST"
    is_asked = status in (NOT_STARTED, REJECTED) or "change" in request.GET or is_posted
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
