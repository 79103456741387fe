"""Customers: one per email address, store and mode, whatever the case; deleting one keeps its row
and its address taken."""

import uuid

from django.db import transaction
from msgspec.structs import asdict

from apps.access.access import Access
from apps.billing.models import Customer, Subscription
from apps.billing.requests import CustomerChanges, CustomerRequest
from apps.billing.services import audit_lines
from apps.billing.services.references import CustomerNotActive
from apps.billing.states import CANCELED
from apps.billing.subscriptions.changes import cancel_locked
from apps.billing.subscriptions.locking import locked
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, RefusalKind
from apps.core.idempotency import once_per_form


class CustomerEmailTaken(Failure):
    kind = RefusalKind.CONFLICT
    field = "email"
    message = "A customer with this email already exists"


def create_customer(
    access: Access, request: CustomerRequest, *, form_key: str | None = None
) -> Customer:
    """Raises CustomerEmailTaken."""
    at = access.now()

    @transaction.atomic
    def make() -> Customer:
        identity = {"store": access.store, "mode": access.mode, "form_key": form_key}
        customer = Customer(**identity, created_at=at, updated_at=at, **asdict(request))
        _save(customer)
        audit_lines.note("customer.created", customer)
        return customer

    return once_per_form(Customer.objects.visible_to(access), form_key, make)


@transaction.atomic
def update_customer(access: Access, customer: Customer, request: CustomerChanges) -> Customer:
    """Raises CustomerEmailTaken or CustomerNotActive."""
    fields = request.sent()
    if customer.deleted_at is not None:
        raise CustomerNotActive
    for name, value in fields.items():
        setattr(customer, name, value)
    customer.updated_at = access.now()
    _save(customer, [*fields, "updated_at"])
    audit_lines.note("customer.changed", customer, {"fields": sorted(fields)})
    return customer


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
