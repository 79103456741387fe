"""Products and prices. A price's amount never changes: another amount is another price."""

from typing import Any

from apps.access.access import Access
from apps.billing.models import Price, Product
from apps.billing.services.fields import PRICE, PRODUCT, PRODUCT_CHANGES, created, patched
from apps.billing.services.totals import check_unit_amount


def create_product(access: Access, body: dict[str, Any]) -> Product:
    """A new product is always active. Raises Listed."""
    at = access.now()
    made: Product = Product.objects.create(
        store=access.store, mode=access.mode, created_at=at, updated_at=at, **created(PRODUCT, body, "product")
    )
    return made


def update_product(access: Access, product: Product, body: dict[str, Any]) -> Product:
    """Leaves its prices and the subscriptions to them as they are. Raises Listed."""
    fields = patched(PRODUCT_CHANGES, body, "product")
    for name, value in fields.items():
        setattr(product, name, value)
    product.updated_at = access.now()
    product.save(update_fields=[*fields, "updated_at"])
    return product


def create_price(access: Access, product: Product, body: dict[str, Any]) -> Price:
    """Raises Listed."""
    fields, at = created(PRICE, body, "price"), access.now()
    check_unit_amount(fields["unit_amount_cents"], fields["currency"])
    made: Price = Price.objects.create(store=access.store, mode=access.mode, product=product, created_at=at, updated_at=at, **fields)
    return made


def set_price_active(access: Access, price: Price, active: bool) -> Price:
    """Archive or activate: an archived price takes no new subscriptions, those it has go on."""
    if price.active != active:
        price.active, price.updated_at = active, access.now()
        price.save(update_fields=["active", "updated_at"])
    return price
