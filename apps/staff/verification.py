"""Business verifications, which staff decide about."""

import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from apps.core.countries import country_name
from apps.core.templatetags.tillgate import moment
from apps.core.web.refusals import private_download
from apps.platforms.services import verifications
from apps.staff import lists
from apps.staff.pages import may
from apps.staff.queues import Queue, Section
from apps.staff.stores import decisions, store_section
from apps.stores import staff_roles, verification_documents
from apps.stores.models import Verification, VerificationDocument

_TYPES = {"pdf": "application/pdf", "jpeg": "image/jpeg", "png": "image/png"}


class VerificationAdmin(Queue):
    model = Verification
    names = ("business verification", "business verifications")
    list_display = ["submitted", "shop", "business", "place", "contact", "decision"]
    list_filter = ["status"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Verification ID, or the beginning of a store’s name"
    submitted = lists.when("submitted_at", "Submitted")
    business = lists.text("business_legal_name", "Business")
    place = lists.country("business_country")
    contact = lists.text("contact_email", "Contact")
    ordering = ["-submitted_at"]
    noun = "verification"
    approving = rejecting = staff_roles.BUSINESS_VERIFY
    approves = "Verify"

    def title_of(self, row: Verification) -> str:
        return f"of {row.store}"

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [
            ("business", row.business_legal_name),
            ("country", country_name(row.business_country)),
            ("registration number", row.registration_number),
            ("tax ID", row.tax_id),
            ("website", row.business_website),
            ("contact", row.contact_email),
            ("submitted", moment(row.submitted_at)),
        ]

    def get_urls(self) -> list[URLPattern]:
        document_path = path(
            "<uuid:row_id>/documents/<uuid:id>/",
            self.admin_site.admin_view(self.document),
            name="stores_verification_document",
        )
        return [document_path, *super().get_urls()]

    def document(self, request: HttpRequest, row_id: uuid.UUID, id: uuid.UUID) -> FileResponse:
        """A download for those who decide, which the audit log has; never a page of ours."""
        if not may(request, staff_roles.BUSINESS_VERIFY):
            raise PermissionDenied
        document = VerificationDocument.objects.filter(pk=id, verification=row_id).first()
        file = verification_documents.open_document(document) if document is not None else None
        if document is None or file is None:
            raise Http404
        return private_download(file, document.name, _TYPES[document.kind])

    def sections(self, row: Any) -> list[Section]:
        decided = decisions(row.store, "verification.approved", "verification.rejected")
        return [
            _documents(row),
            store_section(row.store),
            Section("Earlier decisions", decided, without="This is the first submission."),
        ]

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        return str(verifications.approve_verification(row, reason).status)

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        return str(verifications.reject_verification(row, reason).status)


def _documents(row: Verification) -> Section:
    facts: list[tuple[str, Any]] = []
    for document in verification_documents.documents_of(row):
        page = reverse("admin:stores_verification_document", args=[row.pk, document.pk])
        about = (
            f"{document.get_kind_display()}, {filesizeformat(document.size_bytes)},"
            f" {document.uploaded_at:%Y-%m-%d}"
        )
        facts.append((about, _link(document, page)))
    return Section("Documents", facts, without="None uploaded, or their retention period is over.")


def _link(document: VerificationDocument, page: str) -> str:
    """To pictures of its pages; the file that was uploaded is opened by nobody."""
    if document.redrawn_at is not None:
        return format_html('<a href="{}" download>{}</a>', page, document.name)
    why = "couldn’t be opened safely, ask for it again" if document.is_refused else "being checked"
    return format_html("<bdi>{}</bdi> ({})", document.name, why)
