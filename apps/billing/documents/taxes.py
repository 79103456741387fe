"""Rates, a store's tax settings and questions about VAT numbers as every interface shows them."""

from typing import Annotated

from msgspec import Meta

from apps.billing.documents.catalog import SupplyTypeName
from apps.billing.documents.invoices import TaxCategoryName
from apps.billing.models import TaxRate, TaxSettings, VatCheck
from apps.core.clock import iso
from apps.core.messages.documents import Document, Id, Time

VatCheckResult = Annotated[str, Meta(extra_json_schema={"enum": VatCheck.Result.values})]


class TaxRateDocument(Document, frozen=True, kw_only=True):
    id: Id
    name: str
    category: TaxCategoryName
    rate_bps: int
    inclusive: bool
    reason: str | None
    reason_code: str | None
    active: bool
    livemode: bool
    created_at: Time
    updated_at: Time


class TaxSettingsDocument(Document, frozen=True, kw_only=True):
    tax_rate_id: Id | None
    is_automatic: bool
    is_small_business: bool
    charges_abroad: bool
    supply_type: SupplyTypeName
    has_ksef_token: bool
    livemode: bool


class VatCheckDocument(Document, frozen=True, kw_only=True):
    """`answer` in the registry's own words is kept, and shown to nobody here."""

    id: Id
    customer_id: Id
    number: str
    requester_number: str | None
    result: VatCheckResult
    name: str | None
    address: str | None
    consultation_number: str | None
    error: str | None
    livemode: bool
    created_at: Time


def tax_rate_document(rate: TaxRate) -> TaxRateDocument:
    return TaxRateDocument(
        id=str(rate.pk),
        name=rate.name,
        category=rate.category,
        rate_bps=rate.rate_bps,
        inclusive=rate.inclusive,
        reason=rate.reason or None,
        reason_code=rate.reason_code or None,
        active=rate.active,
        livemode=rate.is_live,
        created_at=iso(rate.created_at),
        updated_at=iso(rate.updated_at),
    )


def tax_settings_document(settings: TaxSettings) -> TaxSettingsDocument:
    return TaxSettingsDocument(
        tax_rate_id=str(settings.tax_rate_id) if settings.tax_rate_id else None,
        is_automatic=settings.is_automatic,
        is_small_business=settings.is_small_business,
        charges_abroad=settings.charges_abroad,
        supply_type=settings.supply_type,
        has_ksef_token=bool(settings.sealed_ksef_token),
        livemode=settings.is_live,
    )


def vat_check_document(check: VatCheck) -> VatCheckDocument:
    return VatCheckDocument(
        id=str(check.pk),
        customer_id=str(check.customer_id),
        number=check.number,
        requester_number=check.requester_number or None,
        result=check.result,
        name=check.name or None,
        address=check.address or None,
        consultation_number=check.consultation_number or None,
        error=check.error or None,
        livemode=check.is_live,
        created_at=iso(check.created_at),
    )
