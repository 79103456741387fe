"""What waits for staff: stores that want to be platforms, and businesses to be verified. Links and
what contacts say of destinations are looked at only."""

import uuid
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from apps.core.countries import country_name
from apps.core.templatetags.tillgate import badge, moment, shorten
from apps.core.web.refusals import private_download
from apps.payouts.services.destinations import network_name
from apps.platforms.models import AccessRequest, DestinationConfirmation, OnboardingLink
from apps.platforms.services import access_requests, verifications
from apps.platforms.services.confirmations import state_of
from apps.staff import lists
from apps.staff.pages import Queue, ReadOnly, Section, may
from apps.staff.store_facts import decisions, store_section
from apps.stores import staff_roles, verification_documents
from apps.stores.models import Verification, VerificationDocument

_PURPOSES = {**dict(OnboardingLink.Purpose.choices), "kyb": "Business verification"}
_TYPES = {"pdf": "application/pdf", "jpeg": "image/jpeg", "png": "image/png"}


@admin.register(AccessRequest)
class AccessRequestAdmin(Queue):
    list_display = ["created", "shop", "why", "reviewed", "decision"]
    list_filter = ["status"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Request ID, or the beginning of a store’s name"
    created = lists.when("created_at", "Requested")
    shop = lists.store()
    why = lists.text("reason", "Reason")
    reviewed = lists.when("reviewed_at", "Decided")
    ordering = ["-created_at"]
    noun = "access_request"
    approving = rejecting = staff_roles.PLATFORM_ACCESS

    def title_of(self, row: AccessRequest) -> str:
        return f"of {row.store}"

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [("reason", row.reason), ("requested", moment(row.created_at))]

    def sections(self, row: Any) -> list[Section]:
        return [store_section(row.store)]

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        return str(access_requests.approve_access(row, reason).status)

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        return str(access_requests.reject_access(row, reason).status)


@admin.register(Verification)
class VerificationAdmin(Queue):
    list_display = ["submitted", "shop", "business", "place", "contact", "decision"]
    list_filter = ["status"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Verification ID, or the beginning of a store’s name"
    submitted = lists.when("submitted_at", "Submitted")
    shop = lists.store()
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


@admin.register(OnboardingLink)
class OnboardingLinkAdmin(ReadOnly):
    list_display = ["created", "shop", "of_account", "what_for", "expires", "completed"]
    list_filter = ["mode", lists.choices("purpose", "purpose", _PURPOSES.items())]
    list_select_related = ["store", "account"]
    search_fields = ["id", "store", "account"]
    search_help_text = "Link ID, account ID, or the beginning of the platform’s name"
    created = lists.when("created_at", "Created")
    shop = lists.store(description="Platform")
    of_account = lists.text("account", "Account")
    expires = lists.when("expires_at", "Expires")
    completed = lists.when("completed_at", "Completed")
    ordering = ["-created_at"]
    exclude = ["token_hash"]
    value_texts: ClassVar = {"purpose": lambda row: _PURPOSES[row.purpose]}

    @admin.display(description="Purpose")
    def what_for(self, row: OnboardingLink) -> str:
        return _PURPOSES[row.purpose]

    def title_of(self, row: OnboardingLink) -> str:
        return f"of {row.account}"


@admin.register(DestinationConfirmation)
class DestinationConfirmationAdmin(ReadOnly):
    list_display = ["created", "shop", "where", "who", "waits", "state"]
    list_select_related = ["store", "destination"]
    search_fields = ["id", "store", "destination"]
    search_help_text = "ID, destination ID, or the beginning of a store’s name"
    nothing = (
        "No contact confirmations yet. When an onboarding link names a live destination, the"
        " business’s contact confirms it, and the confirmation appears here."
    )
    created = lists.when("created_at", "Created")
    shop = lists.store()
    who = lists.text("contact", "Contact")
    waits = lists.when("waits_until", "Waiting period ends")
    ordering = ["-created_at"]
    exclude = ["code_hash"]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[DestinationConfirmation]":
        rows: QuerySet[DestinationConfirmation] = super().get_queryset(request)
        return rows.defer("destination__account_sealed")  # which web may not read

    @admin.display(description="Destination")
    def where(self, row: DestinationConfirmation) -> str:
        saved = row.destination
        if not saved.is_wallet:
            return format_html('<span class="one-line">{}</span>', saved.account_name)
        return lists.by_its_ends(saved.address or "", network_name(saved))

    @admin.display(description="Status")
    def state(self, row: DestinationConfirmation) -> str:
        return badge("destination_confirmation", state_of(row))

    def title_of(self, row: DestinationConfirmation) -> str:
        return f"of {shorten(row.destination.address or '') or row.destination}"
