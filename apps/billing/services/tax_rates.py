"""Rates of tax, and what an owner says about the store's taxes."""

from django.db import transaction
from msgspec.structs import asdict

from apps.access.access import Access
from apps.billing.models import TaxRate, TaxSettings
from apps.billing.models.tax import UNTAXED, WITH_REASON
from apps.billing.requests import TaxRateChanges, TaxRateRequest, TaxSettingsChanges
from apps.billing.services import audit_lines
from apps.billing.services.references import named_rate
from apps.billing.taxes.choosing import settings_of
from apps.core import crypto
from apps.core.idempotency import once_per_form
from apps.core.messages.fields import Invalid


def create_rate(access: Access, request: TaxRateRequest, *, form_key: str | None = None) -> TaxRate:
    """Raises Invalid."""
    _check(request)
    at = access.now()
    fields = asdict(request) | {
        "reason": request.reason or "",
        "reason_code": (request.reason_code or "").upper(),
    }

    @transaction.atomic
    def make() -> TaxRate:
        identity = {"store": access.store, "mode": access.mode, "form_key": form_key}
        rate: TaxRate = TaxRate.objects.create(**identity, created_at=at, updated_at=at, **fields)
        audit_lines.note("tax_rate.created", rate)
        return rate

    return once_per_form(TaxRate.objects.visible_to(access), form_key, make)


def _check(request: TaxRateRequest) -> None:
    category = request.category
    if category in UNTAXED and request.rate_bps:
        raise Invalid("rate_bps", "rate_of_category", category=category)
    if category == "S" and not request.rate_bps:
        raise Invalid("rate_bps", "rate_above_zero", category=category)
    if request.inclusive and not request.rate_bps:
        raise Invalid("inclusive", "nothing_included")
    if category in WITH_REASON and not (request.reason or request.reason_code):
        raise Invalid("reason", "reason_required", category=category)
    if category not in WITH_REASON:
        for name in ("reason", "reason_code"):
            if getattr(request, name):
                raise Invalid(name, "reason_refused", category=category)


@transaction.atomic
def update_rate(access: Access, rate: TaxRate, request: TaxRateChanges) -> TaxRate:
    """Its name, and whether it can be named by what is made from now on; where it is in use it
    stays."""
    fields = request.sent()
    for name, value in fields.items():
        setattr(rate, name, value)
    rate.updated_at = access.now()
    rate.save(update_fields=[*fields, "updated_at"])
    audit_lines.note("tax_rate.changed", rate, {"fields": sorted(fields)})
    return rate


@transaction.atomic
def change_settings(access: Access, request: TaxSettingsChanges) -> TaxSettings:
    """Counts for drafts that are saved and cycles that are billed from now on. Raises Invalid."""
    at = access.now()
    fields = request.sent()
    TaxSettings.objects.get_or_create(
        store=access.store, mode=access.mode, defaults={"created_at": at, "updated_at": at}
    )
    row = TaxSettings.objects.select_for_update().get(store=access.store, mode=access.mode)
    for name, value in fields.items():
        if name == "tax_rate_id":
            row.tax_rate = named_rate(access, value, is_in_use=row.tax_rate)
        elif name == "ksef_token":
            row.sealed_ksef_token = crypto.encrypt(str(value), row.ksef_place) if value else ""
        else:
            setattr(row, name, value)
    row.updated_at = at
    row.save()
    audit_lines.note("tax_settings.changed", row, {"fields": sorted(fields)})
    return settings_of(access.store, access.mode)
