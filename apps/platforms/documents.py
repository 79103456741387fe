"""Accounts, verifications, links, requests and rows of payments, as every interface shows them."""

from datetime import datetime
from typing import Annotated

from django.conf import settings
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Day, Decimals, Digits, Document, Id, Time
from apps.payments.models import Payment
from apps.platforms.models import AccessRequest, OnboardingLink
from apps.platforms.requests import VerificationRequest
from apps.platforms.selectors import AccountSummary
from apps.stores.models import Store, Verification

VerificationStatus = Annotated[str, Meta(extra_json_schema={"enum": Verification.Status.values})]


class PlatformAccountDocument(Document, frozen=True, kw_only=True):
    id: Id
    name: str
    external_id: str | None
    platform_fee_percentage: Decimals | None
    kyc_confirmed_at: Time | None
    charges_enabled: bool
    payouts_enabled: bool
    verification_status: str | None
    created_at: Time
    # While a raise waits: what live payments will bear, and from when on.
    next_platform_fee_percentage: Decimals | UnsetType = UNSET
    next_platform_fee_from: Time | UnsetType = UNSET


class AccountSellerDocument(Document, frozen=True, kw_only=True):
    """The seller that the account's invoices name; once its business is verified, the verified
    name, country and numbers count."""

    legal_name: str | None
    street: str | None
    postal_code: str | None
    city: str | None
    country: str | None
    vat_number: str | None
    register_number: str | None
    time_zone: str | None


class AccountVerificationDocument(Document, frozen=True, kw_only=True):
    id: Id
    status: str
    business_legal_name: str | None
    business_country: str | None
    registration_number: str | None
    tax_id: str | None
    business_website: str | None
    contact_email: str | None
    contact_phone: str | None
    business_description: str | None
    rejection_reason: str | None
    submitted_at: Time | None
    reviewed_at: Time | None
    created_at: Time
    updated_at: Time


class VerificationEvent(Document, frozen=True, kw_only=True):
    """The object of store.verification.*"""

    id: Id
    name: str
    external_id: str | None
    verification_status: VerificationStatus
    rejection_reason: str | None


class DeletedEvent(Document, frozen=True, kw_only=True):
    """The object of store.deleted."""

    id: Id
    name: str
    external_id: str | None
    deleted_at: Time


class PlatformAccessRequestDocument(Document, frozen=True, kw_only=True):
    id: Id
    status: str
    reason: str | None
    rejection_reason: str | None
    created_at: Time
    reviewed_at: Time | None


class LatestPlatformAccessRequest(Document, frozen=True, kw_only=True):
    request: PlatformAccessRequestDocument | None


class LinkFields(Document, frozen=True, kw_only=True):
    """Fields of a link that every answer has."""

    id: Id
    account_id: Id
    purpose: str
    return_url: str | None
    token_prefix: str
    expires_at: Time
    completed_at: Time | None
    created_at: Time


class OnboardingLinkDocument(LinkFields, frozen=True, kw_only=True):
    """A link as it is read later: never with its token."""

    status: str


class OnboardingLinkWithToken(LinkFields, frozen=True, kw_only=True):
    """The answer of create, which alone holds the token."""

    token: str
    url: str


class VolumeInCurrency(Document, frozen=True, kw_only=True):
    currency: str
    amount_cents: int


class FeeEarned(Document, frozen=True, kw_only=True):
    asset_id: str
    amount_atomic: Digits
    atomic_decimals: int


class TopAccount(Document, frozen=True, kw_only=True):
    account_id: Id
    name: str
    amount_cents: int


class PlatformOverviewDocument(
    Document, frozen=True, kw_only=True, rename={"first": "from", "last": "to"}
):
    first: Day
    last: Day
    livemode: bool
    sub_merchant_count: int
    activated_count: int
    verified_count: int
    pending_count: int
    completed_payments: int
    volume_by_currency: list[VolumeInCurrency]
    platform_fee_earned: list[FeeEarned]
    top_sub_merchants: list[TopAccount]


class AccountNamed(Document, frozen=True, kw_only=True):
    id: Id
    name: str
    external_id: str | None


class PlatformPayment(Document, frozen=True, kw_only=True):
    """A platform's summary of a sub-merchant's payment: no addresses, no metadata."""

    id: Id
    reference: str
    status: str
    settlement_currency: str
    settlement_amount_cents: int
    platform_fee_percentage: Decimals | None
    created_at: Time
    account: AccountNamed


def account_document(account: AccountSummary) -> PlatformAccountDocument:
    store = account.store
    return PlatformAccountDocument(
        id=str(store.pk),
        name=store.name,
        external_id=store.external_id,
        platform_fee_percentage=None if account.fee is None else money.fraction_text(account.fee),
        kyc_confirmed_at=iso(store.kyc_confirmed_at),
        charges_enabled=store.kyc_confirmed_at is not None,
        payouts_enabled=account.has_destination,
        verification_status=account.verification_status,
        created_at=iso(store.created_at),
        next_platform_fee_percentage=(
            UNSET if account.next_fee is None else money.fraction_text(account.next_fee)
        ),
        next_platform_fee_from=(
            UNSET
            if account.next_fee is None or store.platform_fee_from is None
            else iso(store.platform_fee_from)
        ),
    )


def seller_document(account: Store) -> AccountSellerDocument:
    names = AccountSellerDocument.__struct_fields__
    return AccountSellerDocument(**{name: getattr(account, name) or None for name in names})


def verification_document(verification: Verification) -> AccountVerificationDocument:
    return AccountVerificationDocument(
        id=str(verification.pk),
        status=verification.status,
        **{name: getattr(verification, name) for name in VerificationRequest.__struct_fields__},
        rejection_reason=verification.rejection_reason,
        submitted_at=iso(verification.submitted_at),
        reviewed_at=iso(verification.reviewed_at),
        created_at=iso(verification.created_at),
        updated_at=iso(verification.updated_at),
    )


def verification_event(store: Store, verification: Verification) -> VerificationEvent:
    return VerificationEvent(
        id=str(store.pk),
        name=store.name,
        external_id=store.external_id,
        verification_status="approved"
        if store.kyc_confirmed_at is not None
        else verification.status,
        rejection_reason=verification.rejection_reason,
    )


def deleted_event(store: Store, at: datetime) -> DeletedEvent:
    return DeletedEvent(
        id=str(store.pk), name=store.name, external_id=store.external_id, deleted_at=iso(at)
    )


def request_document(request: AccessRequest) -> PlatformAccessRequestDocument:
    return PlatformAccessRequestDocument(
        id=str(request.pk),
        status=request.status,
        reason=request.reason,
        rejection_reason=request.rejection_reason,
        created_at=iso(request.created_at),
        reviewed_at=iso(request.reviewed_at),
    )


def link_document(link: OnboardingLink, now: datetime) -> OnboardingLinkDocument:
    return OnboardingLinkDocument(**asdict(_link_fields(link)), status=link_status(link, now))


def link_with_token(link: OnboardingLink, token: str) -> OnboardingLinkWithToken:
    return OnboardingLinkWithToken(**asdict(_link_fields(link)), token=token, url=link_url(token))


def _link_fields(link: OnboardingLink) -> LinkFields:
    return LinkFields(
        id=str(link.pk),
        account_id=str(link.account_id),
        purpose=link.purpose,
        return_url=link.return_url,
        token_prefix=link.token_prefix,
        expires_at=iso(link.expires_at),
        completed_at=iso(link.completed_at),
        created_at=iso(link.created_at),
    )


def link_url(token: str) -> str:
    return f"{settings.PUBLIC_URL}/onboarding/{token}"


def link_status(link: OnboardingLink, now: datetime) -> str:
    if link.completed_at is not None:
        return "used"
    return "expired" if link.expires_at <= now else "active"


def payment_row(payment: Payment) -> PlatformPayment:
    fraction = payment.platform_fee_fraction
    store = payment.store
    return PlatformPayment(
        id=str(payment.pk),
        reference=payment.reference,
        status=payment.status,
        settlement_currency=payment.settlement_currency,
        settlement_amount_cents=payment.settlement_amount_cents,
        platform_fee_percentage=None if fraction is None else money.fraction_text(fraction),
        created_at=iso(payment.created_at),
        account=AccountNamed(id=str(store.pk), name=store.name, external_id=store.external_id),
    )
