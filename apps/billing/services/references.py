"""Customers and prices that a body names: refused in one sentence each when they aren't the store's
or can't be used."""

from apps.access.access import Access
from apps.billing.models import Customer, Price
from apps.core.errors import Failure
from apps.core.messages.fields import is_uuid


class NamedCustomerNotFound(Failure):
    field = "customer_id"
    message = "Customer not found"


class CustomerNotActive(Failure):
    field = "customer_id"
    message = "Customer is not active"


class NamedPriceNotFound(Failure):
    field = "items"
    message = "Price not found"


class PriceNotActive(Failure):
    field = "items"
    message = "Price is not active"


def named_customer(access: Access, id: str) -> Customer:
    """Raises NamedCustomerNotFound or CustomerNotActive."""
    customer: Customer | None = (
        Customer.objects.visible_to(access).filter(pk=id).first() if is_uuid(id) else None
    )
    if customer is None:
        raise NamedCustomerNotFound
    if customer.deleted_at is not None:
        raise CustomerNotActive
    return customer


def named_price(access: Access, id: str, *, is_in_use: bool = False) -> Price:
    """One that a subscription is already on may be archived. Raises NamedPriceNotFound or
    PriceNotActive."""
    rows = Price.objects.visible_to(access).select_related("product")
    price: Price | None = rows.filter(pk=id).first() if is_uuid(id) else None
    if price is None:
        raise NamedPriceNotFound
    if not price.active and not is_in_use:
        raise PriceNotActive
    return price
