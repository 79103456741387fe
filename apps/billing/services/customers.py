"""Customers: one per email address, store and mode, whatever the case; deleting one keeps its row
and its address taken."""

import uuid

from django.db import transaction
from msgspec.structs import asdict

from apps.access.access import Access
from apps.billing.models import Customer, Subscription
from apps.billing.requests import CustomerChanges, CustomerRequest
from apps.billing.services import audit_lines, vat_checks
from apps.billing.services.references import CustomerNotActive, named_rate
from apps.billing.states import CANCELED
from apps.billing.subscriptions.changes import cancel_locked
from apps.billing.subscriptions.locking import locked
from apps.billing.taxes.choosing import buyer_country, check_rate
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, RefusalKind
from apps.core.idempotency import once_per_form
from apps.core.text.vat_numbers import vat_number


class CustomerEmailTaken(Failure):
    kind = RefusalKind.CONFLICT
    field = "email"
    message = "A customer with this email already exists"


def create_customer(
    access: Access, request: CustomerRequest, *, form_key: str | None = None
) -> Customer:
    """Raises CustomerEmailTaken or Invalid."""
    at = access.now()
    fields = asdict(request)
    fields["tax_rate"] = named_rate(access, fields.pop("tax_rate_id"))

    @transaction.atomic
    def make() -> Customer:
        identity = {"store": access.store, "mode": access.mode, "form_key": form_key}
        customer = Customer(**identity, created_at=at, updated_at=at, **fields)
        if _check_number(customer):
            vat_checks.ask_later(customer)
        check_rate(access.store, customer, customer.tax_rate)
        _save(customer)
        audit_lines.note("customer.created", customer)
        return customer

    return once_per_form(Customer.objects.visible_to(access), form_key, make)


@transaction.atomic
def update_customer(access: Access, customer: Customer, request: CustomerChanges) -> Customer:
    """Raises CustomerEmailTaken, CustomerNotActive or Invalid."""
    fields = request.sent()
    if customer.deleted_at is not None:
        raise CustomerNotActive
    number, rate = customer.vat_number, customer.tax_rate
    for name, value in fields.items():
        if name == "tax_rate_id":
            customer.tax_rate = named_rate(access, value, is_in_use=customer.tax_rate)
        else:
            setattr(customer, name, value)
    if {"country", "vat_number", "address"} & set(fields) and _check_number(customer):
        fields = {**fields, "vat_number": customer.vat_number}
    if customer.tax_rate != rate:
        check_rate(access.store, customer, customer.tax_rate)
    columns = [*fields, "updated_at"]
    if customer.vat_number != number:
        vat_checks.ask_later(customer)
        columns.append("vat_check_at")
    customer.updated_at = access.now()
    _save(customer, columns)
    audit_lines.note("customer.changed", customer, {"fields": sorted(fields)})
    return customer


def _check_number(customer: Customer) -> bool:
    """Spell it as it is stored; True if there is one. Raises Invalid."""
    if not customer.vat_number:
        customer.vat_number = None
        return False
    customer.vat_number = vat_number(customer.vat_number, buyer_country(customer))
    return True


def _save(customer: Customer, columns: list[str] | None = None) -> None:
    with refused_by("customer_email_once_per_store", CustomerEmailTaken):
        customer.save(force_insert=columns is None, update_fields=columns)


@transaction.atomic
def delete_customer(access: Access, customer: Customer) -> None:
    """It can't be billed any more, so its subscriptions end now; what was invoiced stays."""
    at = access.now()
    if (
        not Customer.objects.visible_to(access)
        .filter(pk=customer.pk, deleted_at=None)
        .update(deleted_at=at, updated_at=at)
    ):
        return
    audit_lines.note("customer.deleted", customer)
    rows = (
        Subscription.objects.visible_to(access).filter(customer=customer).exclude(status=CANCELED)
    )
    subscriptions: list[uuid.UUID] = list(rows.order_by("pk").values_list("pk", flat=True))
    for subscription_id in subscriptions:
        cancel_locked(locked(subscription_id), at)
