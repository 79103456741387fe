"""The verification of the store's own business: what is asked for, what became of it, and what
waits for it meanwhile."""

from collections.abc import Mapping
from typing import ClassVar

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.core.messages.fields import is_uuid
from apps.core.text.countries import countries, country_name
from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.platforms.requests import OwnVerificationRequest
from apps.platforms.services import verifications
from apps.stores import roles
from apps.stores.models import Store, User, Verification
from apps.stores.selectors import latest_verification
from apps.stores.verifying import documents as documents

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
        "business_legal_name": _("The legal name"),
        "legal_form": _("The legal form"),
        "registration_number": _("The registration number"),
        "tax_id": _("The VAT or tax ID"),
        "representative": _("The representative"),
        "street": _("The street"),
        "postal_code": _("The postal code"),
        "city": _("The city"),
        "business_country": _("The country"),
        "business_website": _("The website"),
        "contact_email": _("The email"),
        "contact_phone": _("The phone number"),
        "business_description": _("What you sell"),
        "document": _("The document"),
    }

    @classmethod
    def of(cls, store: Store, before: Verification | None, person: User) -> "VerificationForm":
        """Form with the former answers; else with the store's known facts."""
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
            remove_document(request, store)
            return _page(request, before, form)
        if "add" in request.POST:
            add_document(request, store)
            return _page(request, before, form)
        business = form.request()
        if "document" in request.FILES:
            add_document(request, store)
        verifications.submit_own(store, business)
    except Refusals as refusal:
        return _page(request, before, form.refuse(refusal))
    messages.success(request, gettext("Submitted for review. We’ll email you the outcome."))
    return go("verification")


def add_document(request: PageRequest, store: Store) -> None:
    """One document more for the store's next submission. Raises what refuses it."""
    uploaded = request.FILES.get("document")
    if uploaded is None:
        raise documents.NoDocument
    if (uploaded.size or 0) > documents.BYTES_MAX:
        raise documents.DocumentTooLarge
    documents.add_document(store, uploaded.name or "", uploaded.read())


def remove_document(request: PageRequest, store: Store) -> None:
    """A document that wasn't submitted."""
    id = request.POST["remove"]
    if not is_uuid(id):
        raise Http404
    try:
        documents.remove_draft(store, id)
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
    """Status of the last decision, unless staff confirmed the business in another way."""
    if before is None:
        return APPROVED if store.kyc_confirmed_at is not None else NOT_STARTED
    return str(before.status)
