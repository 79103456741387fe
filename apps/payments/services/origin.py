"""Origin of a payment, and whether a page may name its amount.

A publishable key is in the source of a page: anyone who reads it can ask for any amount under any
order's number. A live store takes its amounts only if it says so, or signed by its server.
"""

from apps.access import signing
from apps.access.access import AGENT, OAUTH, PUBLISHABLE, SECRET, SESSION, Access
from apps.core.errors import Failure, RefusalKind
from apps.payments.models import Payment
from apps.payments.requests import PaymentRequest

_Origin = Payment.Origin
_ORIGINS = {
    SECRET: _Origin.SECRET_KEY,
    OAUTH: _Origin.APP,
    AGENT: _Origin.AGENT,
    SESSION: _Origin.DASHBOARD,
}


class SignatureRequired(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "amount_signature_required"
    message = "This store takes amounts from publishable keys only with an amount_signature"


class SignatureInvalid(Failure):
    """Of other values, by another key, or over something that isn't signed."""

    code = "amount_signature_invalid"
    message = "amount_signature doesn't match amount, currency and order_id"


def origin_of(access: Access, request: PaymentRequest) -> str:
    """The payment's creator. Raises SignatureRequired or SignatureInvalid when a page may not name
    this amount."""
    if access.kind != PUBLISHABLE:
        return _ORIGINS.get(access.kind, _Origin.HOSTED_PAGE)
    if request.amount_signature is not None:
        if not _is_signed(access, request, request.amount_signature):
            raise SignatureInvalid
        return _Origin.SIGNED_AMOUNT
    if access.is_live and not access.store.publishable_key_amounts:
        raise SignatureRequired
    return _Origin.PUBLISHABLE_KEY


def _is_signed(access: Access, request: PaymentRequest, signature: str) -> bool:
    """Amount, currency and order as they were sent. Without an order one signature would do for
    any, and who pays the fee is the server's to say."""
    if not request.order_id or request.customer_pays_fee is not None:
        return False
    message = "\n".join((request.amount, request.currency, request.order_id)).encode()
    return signing.is_signed(
        access.store_id, access.mode, message, signature, scope="payments:write"
    )
