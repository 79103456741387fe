"""Customers and prices that a body names: refused in one sentence each when they aren't the store's
or can't be used."""

from apps.access.access import Access
from apps.billing.models import Customer, Price, TaxRate
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid, is_uuid


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
    """The named price; an archived one is allowed while a subscription uses it. Raises
    NamedPriceNotFound or PriceNotActive."""
    rows = Price.objects.visible_to(access).select_related("product")
    price: Price | None = rows.filter(pk=id).first() if is_uuid(id) else None
    if price is None:
        raise NamedPriceNotFound
    if not price.active and not is_in_use:
        raise PriceNotActive
    return price


def named_rate(
    access: Access,
    id: str | None,
    *,
    name: str = "tax_rate_id",
    is_in_use: TaxRate | None = None,
) -> TaxRate | None:
    """The named rate, or None; one that isn't active any more may stay where it is. Raises
    Invalid."""
    if id is None:
        return None
    rate: TaxRate | None = (
        TaxRate.objects.visible_to(access).filter(pk=id).first() if is_uuid(id) else None
    )
    if rate is None or not (rate.active or rate == is_in_use):
        raise Invalid(name, "tax_rate_unknown")
    return rate
