"""/checkout/{reference}: what a custom checkout reads. Public, from any origin, without
credentials."""

from collections.abc import Mapping
from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.composites import CheckoutDocument, checkout_document
from apps.api.plumbing.refusals import ErrorShape, ErrorText
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure, RefusalKind
from apps.payments.models import Payment
from apps.payments.selectors import by_reference
from apps.payments.services.expire import expire_if_due


class CheckoutNotFound(Failure):
    kind = RefusalKind.NOT_FOUND
    message = "Checkout not found"


def checkout_payment(reference: str) -> Payment:
    """The intent behind a link, expired first when its time is past. Raises CheckoutNotFound."""
    payment = by_reference(reference) if reference.isascii() and reference.isalnum() else None
    if payment is None:
        raise CheckoutNotFound
    return expire_if_due(payment)


class Checkout(ApiView):
    """A payment intent as its customer may see it."""

    missing = CheckoutNotFound()
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {CheckoutNotFound: ErrorText}
    answers = {"GET": CheckoutDocument}

    def get(self, request: Request, reference: str) -> Response:
        return Response(checkout_document(checkout_payment(reference)))
