"""Base of the views of billing: broken rules are reported as a list, and an unknown id in one flat
sentence per noun."""

from collections.abc import Mapping
from typing import ClassVar

from apps.api.plumbing.refusals import ErrorShape, ErrorText, ErrorTexts
from apps.api.plumbing.views import ApiView
from apps.billing.invoices.payment_intents import InvoiceNotFound
from apps.core.errors import Failure, RefusalKind


class NounNotFound(Failure):
    kind = RefusalKind.NOT_FOUND


class ProductNotFound(NounNotFound):
    message = "Product not found"


class PriceNotFound(NounNotFound):
    message = "Price not found"


class CustomerNotFound(NounNotFound):
    message = "Customer not found"


class SubscriptionNotFound(NounNotFound):
    message = "Subscription not found"


class TaxRateNotFound(NounNotFound):
    message = "Tax rate not found"


class BillingView(ApiView):
    shape = ErrorTexts
    sentence_shape = ErrorText
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {
        NounNotFound: ErrorText,
        InvoiceNotFound: ErrorText,
    }
