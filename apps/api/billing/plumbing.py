"""What the doors of billing share: broken rules are told as a list, and an unknown id in one flat sentence per noun."""

from typing import ClassVar

from apps.api.plumbing.views import Door
from apps.core.errors import Failure, Flat, Listed


class ProductNotFound(Flat):
    status, message = 404, "Product not found"


class PriceNotFound(Flat):
    status, message = 404, "Price not found"


class CustomerNotFound(Flat):
    status, message = 404, "Customer not found"


class SubscriptionNotFound(Flat):
    status, message = 404, "Subscription not found"


class InvoiceNotFound(Flat):
    status, message = 404, "Invoice not found"


class BillingDoor(Door):
    shape: ClassVar[type[Failure]] = Listed
