"""Products and prices as every interface shows them."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from apps.billing.models import Interval, Price, Product, SupplyType
from apps.core.clock import iso
from apps.core.messages.documents import Document, FreeForm, Id, Time

IntervalName = Annotated[str, Meta(extra_json_schema={"enum": Interval.values})]
SupplyTypeName = Annotated[str, Meta(extra_json_schema={"enum": SupplyType.values})]


class ProductDocument(Document, frozen=True, kw_only=True):
    id: Id
    name: str
    description: str | None
    active: bool
    tax_rate_id: Id | None
    supply_type: SupplyTypeName | None
    metadata: FreeForm
    livemode: bool
    created_at: Time
    updated_at: Time


class PriceDocument(Document, frozen=True, kw_only=True):
    id: Id
    product_id: Id
    unit_amount_cents: int
    currency: str
    interval: IntervalName
    interval_count: int
    active: bool
    tax_rate_id: Id | None
    metadata: FreeForm
    livemode: bool
    created_at: Time
    updated_at: Time


class ProductWithPrices(ProductDocument, frozen=True, kw_only=True):
    prices: list[PriceDocument]


def product_document(product: Product) -> ProductDocument:
    return ProductDocument(
        id=str(product.pk),
        name=product.name,
        description=product.description,
        active=product.active,
        tax_rate_id=str(product.tax_rate_id) if product.tax_rate_id else None,
        supply_type=product.supply_type,
        metadata=product.metadata,
        livemode=product.is_live,
        created_at=iso(product.created_at),
        updated_at=iso(product.updated_at),
    )


def product_with_prices(product: Product, prices: Iterable[Price]) -> ProductWithPrices:
    return ProductWithPrices(
        **asdict(product_document(product)), prices=[price_document(price) for price in prices]
    )


def price_document(price: Price) -> PriceDocument:
    return PriceDocument(
        id=str(price.pk),
        product_id=str(price.product_id),
        unit_amount_cents=price.unit_amount_cents,
        currency=price.currency,
        interval=price.interval,
        interval_count=price.interval_count,
        active=price.active,
        tax_rate_id=str(price.tax_rate_id) if price.tax_rate_id else None,
        metadata=price.metadata,
        livemode=price.is_live,
        created_at=iso(price.created_at),
        updated_at=iso(price.updated_at),
    )
