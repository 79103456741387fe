"""What is answered about products, customers, subscriptions and invoices."""

from apps.api.plumbing.shapes import many, null, of, page, plus
from apps.api.schemas.payments import CHECKOUT
from apps.billing import documents
from apps.core.documents import schema_of
from apps.core.literal import Schema

PRODUCT = schema_of(documents.ProductDocument)
PRICE = schema_of(documents.PriceDocument)
CUSTOMER = schema_of(documents.CustomerDocument)
_PARTY = of("id:uuid email name|null")
_PRICED = of("id:uuid product_id:uuid product_name unit_amount_cents:int currency interval interval_count:int")
SUBSCRIPTION = of(
    "id:uuid customer_id:uuid price_id:uuid quantity:int status started_at:time|null current_period_start:time|null "
    "current_period_end:time|null next_billing_at:time|null trial_end:time|null cancel_at_period_end:bool cancel_at:time|null "
    "canceled_at:time|null paused_at:time|null failed_cycle_count:int grace_cycles:int amount_cents:int currency interval "
    "interval_count:int livemode:bool metadata:map created_at:time updated_at:time",
    items=many(of("id:uuid|null quantity:int", price=_PRICED)),
    price=_PRICED,
    customer=_PARTY,
)
_LINE = of("description quantity:int unit_amount_cents:int amount_cents:int position:int")
_TOTALS = "subtotal_cents:int discount_cents:int tax_cents:int total_cents:int amount_paid_cents:int"
INVOICE = of(
    f"id:uuid status number:int|null formatted_number|null custom_number|null po_number|null public_token|null hosted_url|null "
    f"customer_id:uuid subscription_id:uuid|null period_key|null currency {_TOTALS} refunded_cents:int discount_type|null "
    f"discount_value:int|null tax_rate_bps:int|null due_at:time|null description|null notes|null footer|null metadata:map "
    f"needs_attention|null livemode:bool finalized_at:time|null paid_at:time|null voided_at:time|null created_at:time updated_at:time",
    customer=_PARTY,
    line_items=many(plus(_LINE, "id:uuid")),
)
HOSTED = of(
    f"public_token number:int|null formatted_number|null po_number|null status currency {_TOTALS} due_at:time|null "
    f"description|null notes|null "
    f"footer|null merchant_name livemode:bool",
    customer=of("name|null email"),
    line_items=many(_LINE),
    payment=null(CHECKOUT),
)
_WITH_PRICES = schema_of(documents.ProductWithPrices)
_PRICES = "billing/products/<str:product_id>/prices"

ANSWERS: dict[str, Schema] = {
    "GET billing/products": many(PRODUCT),
    "POST billing/products": PRODUCT,
    "GET billing/products/<str:id>": _WITH_PRICES,
    "PATCH billing/products/<str:id>": _WITH_PRICES,
    f"GET {_PRICES}": many(PRICE),
    f"POST {_PRICES}": PRICE,
    f"GET {_PRICES}/<str:id>": PRICE,
    f"POST {_PRICES}/<str:id>/archive": PRICE,
    f"POST {_PRICES}/<str:id>/activate": PRICE,
    "GET billing/customers": page(CUSTOMER),
    "POST billing/customers": CUSTOMER,
    "GET billing/customers/<str:id>": CUSTOMER,
    "PATCH billing/customers/<str:id>": CUSTOMER,
    "GET billing/subscriptions": many(SUBSCRIPTION),
    "POST billing/subscriptions": SUBSCRIPTION,
    "GET billing/subscriptions/<str:id>": SUBSCRIPTION,
    "PATCH billing/subscriptions/<str:id>": SUBSCRIPTION,
    **{f"POST billing/subscriptions/<str:id>/{verb}": SUBSCRIPTION for verb in ("cancel", "uncancel", "pause", "resume")},
    "GET billing/invoices": page(INVOICE),
    "POST billing/invoices": INVOICE,
    "GET billing/invoices/<str:id>": INVOICE,
    "PATCH billing/invoices/<str:id>": INVOICE,
    **{f"POST billing/invoices/<str:id>/{verb}": INVOICE for verb in ("finalize", "send", "void", "mark_uncollectible")},
    "GET billing/invoice/<str:token>": HOSTED,
    "POST billing/invoice/<str:token>/payment_intent": HOSTED,
}
