"""Products and prices. A price's amount never changes: another amount is another price."""

from typing import Any

from django.db import transaction

from apps.access.access import Access
from apps.billing.models import Price, Product
from apps.billing.services import acts
from apps.billing.services.fields import PRICE, PRODUCT, PRODUCT_CHANGES, created, patched
from apps.billing.services.totals import check_unit_amount
from apps.core.idempotency import once_per_form


def create_product(access: Access, body: dict[str, Any], form_key: str | None = None) -> Product:
    """A new product is always active. Raises Listed."""
    fields, at = created(PRODUCT, body, "product"), access.now()

    @transaction.atomic
    def make() -> Product:
        made: Product = Product.objects.create(
            store=access.store, mode=access.mode, created_at=at, updated_at=at, form_key=form_key, **fields
        )
        acts.note("product.created", made)
        return made

    return once_per_form(Product.objects.seen_by(access), form_key, make)


@transaction.atomic
def update_product(access: Access, product: Product, body: dict[str, Any]) -> Product:
    """Leaves its prices and the subscriptions to them as they are. Raises Listed."""
    fields = patched(PRODUCT_CHANGES, body, "product")
    for name, value in fields.items():
        setattr(product, name, value)
    product.updated_at = access.now()
    product.save(update_fields=[*fields, "updated_at"])
    acts.note("product.changed", product, {"fields": sorted(fields)})
    return product


def create_price(access: Access, product: Product, body: dict[str, Any], form_key: str | None = None) -> Price:
    """Raises Listed."""
    fields, at = created(PRICE, body, "price"), access.now()
    check_unit_amount(fields["unit_amount_cents"], fields["currency"])

    @transaction.atomic
    def make() -> Price:
        made: Price = Price.objects.create(
            store=access.store, mode=access.mode, product=product, created_at=at, updated_at=at, form_key=form_key, **fields
        )
        acts.note("price.created", made)
        return made

    return once_per_form(Price.objects.seen_by(access).select_related("product"), form_key, make)


@transaction.atomic
def set_price_active(access: Access, price: Price, active: bool) -> Price:
    """Archive or activate: an archived price takes no new subscriptions, those it has go on."""
    if price.active != active:
        price.active, price.updated_at = active, access.now()
        price.save(update_fields=["active", "updated_at"])
        acts.note("price.activated" if active else "price.archived", price)
    return price
