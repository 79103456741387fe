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
from apps.billing.models.credit import CreditNote, CreditNoteLine, CustomerCreditLine
from apps.billing.models.deliveries import EInvoiceDelivery
from apps.billing.models.invoices import (
    Invoice,
    InvoiceChange,
    InvoiceCounter,
    InvoiceLine,
    InvoiceParts,
    InvoicePayment,
    InvoiceTax,
)
from apps.billing.models.settings import DocumentSettings, InvoiceSettings
from apps.billing.models.tax import SupplyType, TaxCategory, TaxRate, TaxSettings, VatCheck

__all__ = [
    "CreditNote",
    "CreditNoteLine",
    "Customer",
    "CustomerCreditLine",
    "DiscountType",
    "DocumentSettings",
    "EInvoiceDelivery",
    "Interval",
    "Invoice",
    "InvoiceChange",
    "InvoiceCounter",
    "InvoiceLine",
    "InvoiceParts",
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
