"""What the views of billing share: broken rules are reported as a list, and an unknown id in one
flat sentence per noun."""

from typing import ClassVar

from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure, Flat, Listed, RefusalKind


class ProductNotFound(Flat):
    kind = RefusalKind.NOT_FOUND
    message = "Product not found"


class PriceNotFound(Flat):
    kind = RefusalKind.NOT_FOUND
    message = "Price not found"


class CustomerNotFound(Flat):
    kind = RefusalKind.NOT_FOUND
    message = "Customer not found"


class SubscriptionNotFound(Flat):
    kind = RefusalKind.NOT_FOUND
    message = "Subscription not found"


class BillingView(ApiView):
    shape: ClassVar[type[Failure]] = Listed
