"""Questions to a registry about a customer's VAT number. Question and answer are kept, an outage
too: it proves that it was asked."""

from typing import cast

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.access.access import Access
from apps.billing.models import Customer, VatCheck
from apps.billing.providers.base import RegistryAnswer, VatRegistry
from apps.billing.services import audit_lines
from apps.billing.services.references import CustomerNotActive
from apps.core.errors import Failure, ProviderError
from apps.core.models import Mode
from apps.core.text.vat_numbers import country_of

log = structlog.get_logger(__name__)


class NoNumberToCheck(Failure):
    field = "vat_number"
    message = "The customer has no VAT number of an EU country"


def check_number(access: Access, customer: Customer) -> VatCheck:
    """Ask now. Raises NoNumberToCheck or CustomerNotActive. Not inside a transaction: a registry is
    asked."""
    if customer.deleted_at is not None:
        raise CustomerNotActive
    number = customer.vat_number or ""
    if not country_of(number):
        raise NoNumberToCheck
    own = access.store.vat_number
    requester = own if country_of(own) else ""
    check = VatCheck(
        store=access.store,
        mode=access.mode,
        customer=customer,
        number=number,
        requester_number=requester,
        created_at=access.now(),
    )
    try:
        _note(check, _registry(access.mode).check(number, requester))
    except ProviderError as error:
        log.warning("vat_check_unanswered", check=str(check.pk), error=str(error))
        check.result = VatCheck.Result.UNAVAILABLE
        check.error = str(error)[:100]
    with transaction.atomic():
        check.save(force_insert=True)
        audit_lines.note("customer.vat_number_checked", customer, {"result": check.result})
    return check


def _note(check: VatCheck, answer: RegistryAnswer) -> None:
    check.result = VatCheck.Result.VALID if answer.is_valid else VatCheck.Result.INVALID
    check.name = answer.name
    check.address = answer.address
    check.consultation_number = answer.consultation_number
    check.answer = dict(answer.answer)


def _registry(mode: str) -> VatRegistry:
    entry = settings.PROVIDERS["vat_numbers"][Mode(mode).value][0]
    return cast(VatRegistry, import_string(entry["BACKEND"])(**entry["OPTIONS"]))
