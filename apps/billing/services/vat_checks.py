"""Questions to a registry about a customer's VAT number. Question and answer are kept, an outage
too: it proves that it was asked.

A number is asked about when it is saved, by a worker, and before an invoice or a cycle relies on it
that was last answered long ago (decisions 905 and 936). No outage holds anything up.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.module_loading import import_string

from apps.access.access import Access
from apps.billing.models import Customer, VatCheck
from apps.billing.providers.base import RegistryAnswer, VatRegistry
from apps.billing.services import audit_lines
from apps.billing.services.references import CustomerNotActive
from apps.billing.taxes.choosing import settled_check
from apps.core import clock, jobs
from apps.core.clock import real_now
from apps.core.errors import Failure, ProviderError
from apps.core.models import Mode
from apps.core.rows import Job
from apps.core.text.vat_numbers import is_in_registry

log = structlog.get_logger(__name__)
JOB = Job("billing.check_vat_numbers", limit=100, in_transaction=False)
# Waits after outages; after the last one nobody asks by itself any more.
_WAITS = tuple(timedelta(hours=hours) for hours in (1, 6, 24, 72))
_LEASE = timedelta(minutes=5)
# An answer proves that the buyer was who they said for so long.
PROVES = timedelta(days=30)
# Of a cycle that will rely on a number: time enough to ask again after an outage.
_AHEAD = timedelta(days=1)


class NoNumberToCheck(Failure):
    field = "vat_number"
    message = "The customer has no VAT number of an EU country"


def check_number(access: Access, customer: Customer) -> VatCheck:
    """Ask now. Raises NoNumberToCheck or CustomerNotActive. Not inside a transaction: a registry is
    asked."""
    if customer.deleted_at is not None:
        raise CustomerNotActive
    if not is_in_registry(customer.vat_number or ""):
        raise NoNumberToCheck
    check = _ask(customer, access.now())
    with transaction.atomic():
        check.save(force_insert=True)
        audit_lines.note("customer.vat_number_checked", customer, {"result": check.result})
    return check


def ask_later(customer: Customer) -> None:
    """Have a worker ask about a number that was saved just now. In the caller's transaction, which
    saves the customer."""
    customer.vat_check_at = real_now() if is_in_registry(customer.vat_number or "") else None
    if customer.vat_check_at is not None:
        jobs.enqueue(JOB.name, customer.pk)


def ask_before_relying(customer: Customer, at: datetime) -> None:
    """Ask about a number that an invoice is about to rely on, unless the answer of before still
    proves it. Not inside a transaction."""
    number = customer.vat_number or ""
    if customer.deleted_at is not None or not is_in_registry(number):
        return
    settled = settled_check(customer)
    if settled is not None and at - settled.created_at < PROVES:
        return
    newest = VatCheck.objects.filter(customer=customer, number=number).order_by("-created_at")
    last = newest.values_list("created_at", flat=True).first()
    if last is None or at - last >= _WAITS[0]:
        _ask(customer, at).save(force_insert=True)


def plan_before(customer: Customer, at: datetime) -> None:
    """Have a worker ask a day before a moment at which a cycle will rely on the number, unless the
    answer of now still proves it then. In the caller's transaction."""
    settled = settled_check(customer)
    if not is_in_registry(customer.vat_number or "") or (
        settled is not None and at - settled.created_at < PROVES
    ):
        return
    planned = at - _AHEAD
    mine = Customer.objects.filter(pk=customer.pk, vat_number=customer.vat_number)
    mine.filter(Q(vat_check_at=None) | Q(vat_check_at__gt=planned)).update(vat_check_at=planned)


def check_due(ids: Sequence[str] = ()) -> int:
    """Ask about the numbers that are due; how many."""
    due = Customer.objects.filter(vat_check_at__lte=real_now())
    if ids:
        due = due.filter(pk__in=ids)
    return JOB.walk(due.order_by("vat_check_at").values_list("pk", flat=True), _check_due)


def _check_due(customer_id: uuid.UUID) -> None:
    at = real_now()
    mine = Customer.objects.filter(pk=customer_id, vat_check_at__lte=at)
    if not mine.update(vat_check_at=at + _LEASE):
        return
    customer = Customer.objects.select_related("store").get(pk=customer_id)
    number = customer.vat_number or ""
    is_asked = customer.deleted_at is None and is_in_registry(number)
    following = None
    if is_asked:
        check = _ask(customer, clock.now(customer.store, customer.mode))
        check.save(force_insert=True)
        if check.result == VatCheck.Result.UNAVAILABLE:
            silent = VatCheck.objects.filter(customer=customer, number=number).count() - 1
            following = at + _WAITS[silent] if silent < len(_WAITS) else None
    # One that was saved meanwhile is asked about by itself.
    Customer.objects.filter(
        pk=customer_id, vat_check_at=at + _LEASE, vat_number=customer.vat_number
    ).update(vat_check_at=following)


def _ask(customer: Customer, at: datetime) -> VatCheck:
    """The question with its answer, which isn't saved."""
    number = customer.vat_number or ""
    own = customer.store.vat_number
    requester = own if is_in_registry(own) else ""
    check = VatCheck(
        store=customer.store,
        mode=customer.mode,
        customer=customer,
        number=number,
        requester_number=requester,
        created_at=at,
    )
    try:
        _note(check, _registry(customer.mode).check(number, requester))
    except ProviderError as error:
        log.warning("vat_check_unanswered", check=str(check.pk), error=str(error))
        check.result = VatCheck.Result.UNAVAILABLE
        check.error = str(error)[:100]
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
