"""Business verifications, which staff decide about."""

import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.core.templatetags.tillgate import moment
from apps.core.text.countries import country_name
from apps.core.web.refusals import private_download, private_picture
from apps.platforms.services import verifications
from apps.staff import lists
from apps.staff.decisions.queues import Queue, Section
from apps.staff.pages import may
from apps.staff.plumbing import fresh_code, registers
from apps.staff.store_facts import decisions, store_section
from apps.stores import staff_roles
from apps.stores.models import Verification, VerificationDocument
from apps.stores.verifying import documents as verification_documents

PAGES_SHOWN = 3  # of each document, beside the decision
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
    takes_code = takes_code_to_reject = True

    def title_of(self, row: Verification) -> str:
        return f"of {row.store}"

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        """All that was submitted."""
        place = " ".join(text for text in (row.postal_code, row.city) if text)
        address = ", ".join(text for text in (row.street, place) if text)
        return [
            ("business", row.business_legal_name),
            ("legal form", row.legal_form),
            ("representative", row.representative),
            ("address", address),
            ("country", country_name(row.business_country)),
            ("registration number", row.registration_number),
            ("look it up", registers.links_of(row)),
            ("tax ID", row.tax_id),
            ("website", row.business_website),
            ("description", row.business_description),
            ("contact", row.contact_email),
            ("phone", row.contact_phone),
            ("submitted", moment(row.submitted_at)),
        ]

    def take_code(self, request: HttpRequest) -> None:
        fresh_code.take(request)

    def record_sections(self, row: Any) -> list[Section]:
        return [_documents(row)]

    def get_urls(self) -> list[URLPattern]:
        document_path = path(
            "<uuid:row_id>/documents/<uuid:id>/",
            self.admin_site.admin_view(self.document),
            name="stores_verification_document",
        )
        page_path = path(
            "<uuid:row_id>/documents/<uuid:id>/pages/<int:number>/",
            self.admin_site.admin_view(self.document_page),
            name="stores_verification_document_page",
        )
        return [document_path, page_path, *super().get_urls()]

    def document_page(
        self, request: HttpRequest, row_id: uuid.UUID, id: uuid.UUID, number: int
    ) -> HttpResponse:
        """The picture of a page, beside the decision. The audit log has its first."""
        if not may(request, staff_roles.BUSINESS_VERIFY):
            raise PermissionDenied
        document = VerificationDocument.objects.filter(pk=id, verification=row_id).first()
        pictures = verification_documents.pages_of(document) if document is not None else []
        if not 1 <= number <= len(pictures):
            raise Http404
        if document is not None and number == 1:
            verification_documents.note_opened(document)
        kind, content = pictures[number - 1]
        return private_picture(content, kind)

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
        facts.append((about, format_html("{}{}", _link(document, page), _preview(row, document))))
    return Section("Documents", facts, without="None uploaded, or their retention period is over.")


def _preview(row: Verification, document: VerificationDocument) -> SafeString:
    """Its first pages, each leading to the whole file."""
    if document.redrawn_at is None:
        return SafeString()
    page = "admin:stores_verification_document_page"
    count = min(len(verification_documents.pages_of(document)), PAGES_SHOWN)
    pictures = (
        (
            reverse(page, args=[row.pk, document.pk, number]),
            f"Page {number} of {document.name}",
        )
        for number in range(1, count + 1)
    )
    images = format_html_join("", '<img src="{}" alt="{}" loading="lazy">', pictures)
    return format_html('<span class="pages">{}</span>', images)


def _link(document: VerificationDocument, page: str) -> str:
    """To pictures of its pages; the file that was uploaded is opened by nobody."""
    if document.redrawn_at is not None:
        return format_html('<a href="{}" download>{}</a>', page, document.name)
    why = "couldn’t be opened safely, ask for it again" if document.is_refused else "being checked"
    return format_html("<bdi>{}</bdi> ({})", document.name, why)
