"""/checkout/{reference}: what a custom checkout reads. Public, from any origin, without credentials."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.composed import onramp_of
from apps.api.plumbing.views import Door
from apps.core import clock
from apps.core.errors import Flat, RefusalKind
from apps.payments.documents.checkout import checkout_document
from apps.payments.models import Payment
from apps.payments.selectors import by_reference
from apps.payments.services.expire import expire_if_due


class CheckoutNotFound(Flat):
    kind = RefusalKind.NOT_FOUND
    message = "Checkout not found"


def checkout_payment(reference: str) -> Payment:
    """The intent behind a link, expired first when its time is past. Raises CheckoutNotFound."""
    payment = by_reference(reference) if reference.isascii() and reference.isalnum() else None
    if payment is None:
        raise CheckoutNotFound
    return expire_if_due(payment)


class Checkout(Door):
    """What a customer may see of an intent."""

    missing = CheckoutNotFound()

    def get(self, request: Request, reference: str) -> Response:
        payment = checkout_payment(reference)
        at = clock.now(payment.store, payment.mode)
        body: dict[str, Any] = {**checkout_document(payment, at), "onramp": onramp_of(payment)}
        return Response(body)
