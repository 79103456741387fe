"""Customers, products, subscriptions and invoices."""

from apps.billing.models.billing import (
    Customer,
    DiscountType,
    Interval,
    Price,
    Product,
    Subscription,
    SubscriptionChange,
    SubscriptionItem,
)
from apps.billing.models.invoices import (
    CreditNote,
    CreditNoteLine,
    Invoice,
    InvoiceChange,
    InvoiceCounter,
    InvoiceLine,
    InvoicePayment,
    InvoiceTax,
)
from apps.billing.models.settings import InvoiceSettings
from apps.billing.models.tax import SupplyType, TaxCategory, TaxRate, TaxSettings, VatCheck

__all__ = [
    "CreditNote",
    "CreditNoteLine",
    "Customer",
    "DiscountType",
    "Interval",
    "Invoice",
    "InvoiceChange",
    "InvoiceCounter",
    "InvoiceLine",
    "InvoicePayment",
    "InvoiceSettings",
    "InvoiceTax",
    "Price",
    "Product",
    "Subscription",
    "SubscriptionChange",
    "SubscriptionItem",
    "SupplyType",
    "TaxCategory",
    "TaxRate",
    "TaxSettings",
    "VatCheck",
]
