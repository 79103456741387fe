"""Products and prices. A price's amount never changes: another amount is another price."""

from django.db import transaction
from msgspec.structs import asdict

from apps.access.access import Access
from apps.billing.invoices.totals import check_unit_amount
from apps.billing.models import Price, Product
from apps.billing.requests import PriceRequest, ProductChanges, ProductRequest
from apps.billing.services import audit_lines
from apps.billing.services.references import named_rate
from apps.core.idempotency import once_per_form


def create_product(
    access: Access, request: ProductRequest, *, form_key: str | None = None
) -> Product:
    """A new product is always active."""
    at = access.now()
    fields = asdict(request)
    fields["tax_rate"] = named_rate(access, fields.pop("tax_rate_id"))

    @transaction.atomic
    def make() -> Product:
        identity = {"store": access.store, "mode": access.mode, "form_key": form_key}
        product: Product = Product.objects.create(
            **identity, created_at=at, updated_at=at, **fields
        )
        audit_lines.note("product.created", product)
        return product

    return once_per_form(Product.objects.visible_to(access), form_key, make)


@transaction.atomic
def update_product(access: Access, product: Product, request: ProductChanges) -> Product:
    """Leaves its prices and the subscriptions to them as they are."""
    fields = request.sent()
    for name, value in fields.items():
        if name == "tax_rate_id":
            product.tax_rate = named_rate(access, value, is_in_use=product.tax_rate)
        else:
            setattr(product, name, value)
    product.updated_at = access.now()
    product.save(update_fields=[*fields, "updated_at"])
    audit_lines.note("product.changed", product, {"fields": sorted(fields)})
    return product


def create_price(
    access: Access, product: Product, request: PriceRequest, *, form_key: str | None = None
) -> Price:
    """Raises Invalid for a part of the currency's smallest unit."""
    at = access.now()
    check_unit_amount(request.unit_amount_cents, request.currency)
    fields = asdict(request)
    fields["tax_rate"] = named_rate(access, fields.pop("tax_rate_id"))

    @transaction.atomic
    def make() -> Price:
        identity = {
            "store": access.store,
            "mode": access.mode,
            "product": product,
            "form_key": form_key,
        }
        price: Price = Price.objects.create(**identity, created_at=at, updated_at=at, **fields)
        audit_lines.note("price.created", price)
        return price

    return once_per_form(Price.objects.visible_to(access).select_related("product"), form_key, make)


@transaction.atomic
def set_price_active(access: Access, price: Price, active: bool) -> Price:
    """Archive or activate: an archived price takes no new subscriptions, those it has go on."""
    if price.active != active:
        price.active = active
        price.updated_at = access.now()
        price.save(update_fields=["active", "updated_at"])
        audit_lines.note("price.activated" if active else "price.archived", price)
    return price
