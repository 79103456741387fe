"""What is answered about products, customers, subscriptions and invoices."""

from apps.api.plumbing.shapes import many, null, page, plus
from apps.api.schemas.payments import CHECKOUT
from apps.billing.documents import catalog, customers, invoices, subscriptions
from apps.core.documents import schema_of
from apps.core.literal import Schema

PRODUCT = schema_of(catalog.ProductDocument)
PRICE = schema_of(catalog.PriceDocument)
CUSTOMER = schema_of(customers.CustomerDocument)
# Parts of documents that generated clients have a class for.
_PARTY = schema_of(customers.Party)
_PRICED = schema_of(subscriptions.PricedDocument)
_LINE = schema_of(invoices.HostedLine)
SUBSCRIPTION = schema_of(subscriptions.SubscriptionDocument)
INVOICE = schema_of(invoices.InvoiceDocument)
HOSTED = plus(schema_of(invoices.HostedInvoice), payment=null(CHECKOUT))
_WITH_PRICES = schema_of(catalog.ProductWithPrices)
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
