"""Accounts, verifications, links, requests and rows of payments as JSON."""

from datetime import datetime
from typing import Any

from django.conf import settings

from apps.core import money
from apps.core.clock import iso
from apps.payments.models import Payment
from apps.platforms.models import AccessRequest, OnboardingLink
from apps.platforms.selectors import Account
from apps.stores.models import Store, Verification

SUBMITTED = (
    "business_legal_name",
    "business_country",
    "registration_number",
    "tax_id",
    "business_website",
    "contact_email",
    "contact_phone",
    "business_description",
)


def account_document(account: Account) -> dict[str, Any]:
    store = account.store
    return {
        "id": str(store.pk),
        "name": store.name,
        "external_id": store.external_id,
        "platform_fee_percentage": None if account.fee is None else money.fraction_text(account.fee),
        "kyc_confirmed_at": iso(store.kyc_confirmed_at),
        "charges_enabled": store.kyc_confirmed_at is not None,
        "payouts_enabled": account.has_destination,
        "verification_status": account.verification_status,
        "created_at": iso(store.created_at),
    }


def verification_document(verification: Verification) -> dict[str, Any]:
    return {
        "id": str(verification.pk),
        "status": verification.status,
        **{name: getattr(verification, name) for name in SUBMITTED},
        "rejection_reason": verification.rejection_reason,
        "submitted_at": iso(verification.submitted_at),
        "reviewed_at": iso(verification.reviewed_at),
        "created_at": iso(verification.created_at),
        "updated_at": iso(verification.updated_at),
    }


def verification_event(store: Store, verification: Verification) -> dict[str, Any]:
    """The object of store.verification.*"""
    return {
        "id": str(store.pk),
        "name": store.name,
        "external_id": store.external_id,
        "verification_status": "approved" if store.kyc_confirmed_at is not None else verification.status,
        "rejection_reason": verification.rejection_reason,
    }


def deleted_event(store: Store) -> dict[str, Any]:
    """The object of store.deleted."""
    return {"id": str(store.pk), "name": store.name, "external_id": store.external_id, "deleted_at": iso(store.deleted_at)}


def request_document(request: AccessRequest | None) -> dict[str, Any]:
    if request is None:
        return {"request": None}
    told = {"id": str(request.pk), "status": request.status, "reason": request.reason, "rejection_reason": request.rejection_reason}
    return {"request": {**told, "created_at": iso(request.created_at), "reviewed_at": iso(request.reviewed_at)}}


def link_document(link: OnboardingLink, now: datetime) -> dict[str, Any]:
    """A link as it is read later: never with its token."""
    return {**_link(link), "status": link_status(link, now)}


def link_with_token(link: OnboardingLink, token: str) -> dict[str, Any]:
    """The answer of create, which alone holds the token."""
    return {**_link(link), "token": token, "url": link_url(token)}


def link_url(token: str) -> str:
    return f"{settings.PUBLIC_URL}/onboarding/{token}"


def link_status(link: OnboardingLink, now: datetime) -> str:
    if link.completed_at is not None:
        return "used"
    return "expired" if link.expires_at <= now else "active"


def _link(link: OnboardingLink) -> dict[str, Any]:
    return {
        "id": str(link.pk),
        "account_id": str(link.account_id),
        "purpose": link.purpose,
        "return_url": link.return_url,
        "token_prefix": link.token_prefix,
        "expires_at": iso(link.expires_at),
        "completed_at": iso(link.completed_at),
        "created_at": iso(link.created_at),
    }


def payment_row(payment: Payment) -> dict[str, Any]:
    """A platform's summary of a sub-merchant's payment: no addresses, no metadata."""
    fraction, store = payment.platform_fee_fraction, payment.store
    return {
        "id": str(payment.pk),
        "reference": payment.reference,
        "status": payment.status,
        "settlement_currency": payment.settlement_currency,
        "settlement_amount_cents": payment.settlement_amount_cents,
        "platform_fee_percentage": None if fraction is None else money.fraction_text(fraction),
        "created_at": iso(payment.created_at),
        "account": {"id": str(store.pk), "name": store.name, "external_id": store.external_id},
    }
