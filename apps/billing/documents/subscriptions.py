"""Subscriptions as every interface and their events show them. Callers fetch with the selectors,
which load what is shown."""

from typing import Annotated

from msgspec import Meta

from apps.billing.documents.catalog import IntervalName
from apps.billing.documents.customers import CustomerSummary, party
from apps.billing.models import Price, Subscription
from apps.core.clock import iso
from apps.core.messages.documents import Document, FreeForm, Id, Time

SubscriptionStatus = Annotated[str, Meta(extra_json_schema={"enum": Subscription.Status.values})]


class PriceWithProduct(Document, frozen=True, kw_only=True):
    """A price with the name of its product."""

    id: Id
    product_id: Id
    product_name: str
    unit_amount_cents: int
    currency: str
    interval: IntervalName
    interval_count: int


class SubscriptionItemDocument(Document, frozen=True, kw_only=True):
    """One price of a subscription. The first is the anchor and has no id."""

    id: Id | None
    quantity: int
    price: PriceWithProduct


class SubscriptionDocument(Document, frozen=True, kw_only=True):
    """`amount_cents` is what a cycle costs."""

    id: Id
    customer_id: Id
    price_id: Id
    quantity: int
    status: SubscriptionStatus
    started_at: Time | None
    current_period_start: Time | None
    current_period_end: Time | None
    next_billing_at: Time | None
    trial_end: Time | None
    cancel_at_period_end: bool
    cancel_at: Time | None
    canceled_at: Time | None
    paused_at: Time | None
    failed_cycle_count: int
    grace_cycles: int
    tax_rate_id: Id | None
    discount_type: str | None
    discount_value: int | None
    amount_cents: int
    currency: str
    interval: IntervalName
    interval_count: int
    items: list[SubscriptionItemDocument]
    price: PriceWithProduct
    customer: CustomerSummary
    metadata: FreeForm
    livemode: bool
    created_at: Time
    updated_at: Time


def subscription_document(subscription: Subscription) -> SubscriptionDocument:
    price = subscription.price
    add_ons = list(subscription.add_ons.all())
    anchor = SubscriptionItemDocument(id=None, quantity=subscription.quantity, price=_priced(price))
    further = [
        SubscriptionItemDocument(id=str(item.pk), quantity=item.quantity, price=_priced(item.price))
        for item in add_ons
    ]
    items = [anchor, *further]
    return SubscriptionDocument(
        id=str(subscription.pk),
        customer_id=str(subscription.customer_id),
        price_id=str(subscription.price_id),
        quantity=subscription.quantity,
        status=subscription.status,
        started_at=iso(subscription.started_at),
        current_period_start=iso(subscription.current_period_start),
        current_period_end=iso(subscription.current_period_end),
        next_billing_at=iso(subscription.next_billing_at),
        trial_end=iso(subscription.trial_end),
        cancel_at_period_end=subscription.cancel_at_period_end,
        cancel_at=iso(subscription.cancel_at),
        canceled_at=iso(subscription.canceled_at),
        paused_at=iso(subscription.paused_at),
        failed_cycle_count=subscription.failed_cycle_count,
        grace_cycles=subscription.grace_cycles,
        tax_rate_id=str(subscription.tax_rate_id) if subscription.tax_rate_id else None,
        discount_type=subscription.discount_type,
        discount_value=subscription.discount_value,
        amount_cents=sum(item.quantity * item.price.unit_amount_cents for item in items),
        currency=price.currency,
        interval=price.interval,
        interval_count=price.interval_count,
        items=items,
        price=_priced(price),
        customer=party(subscription.customer),
        metadata=subscription.metadata,
        livemode=subscription.is_live,
        created_at=iso(subscription.created_at),
        updated_at=iso(subscription.updated_at),
    )


def _priced(price: Price) -> PriceWithProduct:
    return PriceWithProduct(
        id=str(price.pk),
        product_id=str(price.product_id),
        product_name=price.product.name,
        unit_amount_cents=price.unit_amount_cents,
        currency=price.currency,
        interval=price.interval,
        interval_count=price.interval_count,
    )
