"""What waits for staff: stores that want to be platforms, and businesses to be verified. Links are looked at only."""

from typing import Any

from django.contrib import admin

from apps.core import staff_roles
from apps.core.staff import Queue, ReadOnly
from apps.platforms.models import AccessRequest, DestinationConfirmation, OnboardingLink
from apps.platforms.services import access_requests, verifications
from apps.stores.models import Verification


@admin.register(AccessRequest)
class AccessRequestAdmin(Queue):
    list_display = ["created_at", "store", "status", "reviewed_at", "decision"]
    list_filter = ["status"]
    list_select_related = ["store"]
    search_fields = ["=id", "=store__id", "store__name"]
    ordering = ["-created_at"]
    approving = rejecting = staff_roles.PLATFORM_ACCESS

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        return str(access_requests.approve_access(row, reason).status)

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        return str(access_requests.reject_access(row, reason).status)


@admin.register(Verification)
class VerificationAdmin(Queue):
    list_display = ["submitted_at", "store", "business_legal_name", "business_country", "contact_email", "status", "decision"]
    list_filter = ["status", "business_country"]
    list_select_related = ["store"]
    search_fields = ["=id", "=store__id", "store__name", "business_legal_name", "=registration_number"]
    ordering = ["-submitted_at"]
    approving = rejecting = staff_roles.BUSINESS_VERIFY

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        return str(verifications.approve_verification(row, reason).status)

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        return str(verifications.reject_verification(row, reason).status)


@admin.register(OnboardingLink)
class OnboardingLinkAdmin(ReadOnly):
    list_display = ["created_at", "store", "account", "mode", "purpose", "token_prefix", "expires_at", "completed_at"]
    list_filter = ["mode", "purpose"]
    list_select_related = ["store", "account"]
    search_fields = ["=id", "=store__id", "=account__id"]
    ordering = ["-created_at"]
    exclude = ["token_hash"]


@admin.register(DestinationConfirmation)
class DestinationConfirmationAdmin(ReadOnly):
    list_display = ["created_at", "store", "contact", "waits_until", "told_at", "letters", "tries", "confirmed_at", "stopped_at"]
    list_select_related = ["store"]
    search_fields = ["=id", "=store__id", "=destination__id", "contact"]
    ordering = ["-created_at"]
    exclude = ["code_hash"]
