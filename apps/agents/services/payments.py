"""An agent's own payments: made with fewer fields than a merchant's, called off, and refunded to where the coins came from."""

from typing import Any

from apps.access.access import Access
from apps.agents.providers.base import PAYMENT, REFUND
from apps.agents.services import authorize
from apps.agents.services.tokens import AssetNotFound
from apps.assets.models import Asset
from apps.chain.addresses import BelongsToService
from apps.core.errors import Coded, Flat
from apps.core.literal import Integer, Invalid, Metadata, Object, Pattern, Text, Url, wrapped
from apps.core.money import cents_from_text
from apps.payments.models import Payment
from apps.payments.requests import EXPIRES_IN_DEFAULT, EXPIRES_IN_MAX, EXPIRES_IN_MIN, PaymentRequest
from apps.payments.services import create, refund_shares
from apps.payments.services import fields as merchant
from apps.payments.services.refund import InsufficientForRefund, Requested, request_refund

_AMOUNT = Pattern(r"[0-9]{1,40}(\.[0-9]{1,2})?", "decimal_cents", required=True)
_REDIRECTS = {"live": Url(plain_http="localhost"), "test": Url(plain_http="any")}
_SHAPES = {
    mode: Object(
        {
            "amount": _AMOUNT,
            "currency": Text(10, required=True, shortest=1),
            "success_url": redirect,
            "failed_url": redirect,
            "order_id": Text(255),
            "expires_in": Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX, default=EXPIRES_IN_DEFAULT),
            "metadata": Metadata(),
        }
    )
    for mode, redirect in _REDIRECTS.items()
}
REFUND_FIELDS = Object({"amount": Text(100), "asset_id": Text(20)})
# The field that a refusal names first -> its code.
CODES = {"amount": "invalid_amount", "currency": "invalid_currency", "metadata": "invalid_metadata"}


class TooLarge(Coded):
    code = "amount_too_large"
    message = "amount must be at most 100000000.00"


class UnsupportedCurrency(Coded):
    code = "unsupported_currency"


class RefundRefused(Coded):
    """A merchant's sentence with an agent's code."""


REFUSALS: dict[type[Flat], str] = {
    refund_shares.NotRefundable: "not_refundable",
    refund_shares.NothingLeft: "nothing_to_refund",
    refund_shares.AmountExceeds: "invalid_amount",
    refund_shares.AmountNotAllowed: "invalid_amount",
    refund_shares.AssetRequired: "ambiguous_asset",
    refund_shares.AssetNotReceived: "asset_not_found",
    BelongsToService: "invalid_destination",
    refund_shares.PayerUnknown: "invalid_destination",
    InsufficientForRefund: "insufficient_balance",
}


def payment_intent(mode: str) -> Object:
    """What an agent may say of a payment."""
    return _SHAPES[mode]


def create_payment(access: Access, body: dict[str, Any], key: str | None, header: dict[str, Any] | None) -> tuple[Payment, bool]:
    """The intent, and whether this call made it. Raises Coded with the code of the field, or the provider's refusal."""
    request = _read(access.mode, body)
    asked = {"amount": request.amount, "currency": request.currency}
    authorize.consult(access, PAYMENT, header, details=asked)
    try:
        return create.create_payment(access, request, key)
    except merchant.UnsupportedCurrency as refusal:
        raise UnsupportedCurrency(str(refusal)) from None
    except Invalid as refusal:
        raise _coded(refusal) from None


def _read(mode: str, body: dict[str, Any]) -> PaymentRequest:
    try:
        fields = wrapped(body, "payment_intent", payment_intent(mode))
        if len(fields["amount"].partition(".")[0].lstrip("0")) > len(str(merchant.AMOUNT_CENTS_MAX)) - 2:
            raise TooLarge
        if not fields["amount"].strip("0."):
            raise Invalid("amount", "positive")
        if cents_from_text(fields["amount"]) > merchant.AMOUNT_CENTS_MAX:
            raise TooLarge
    except Invalid as refusal:
        raise _coded(refusal) from None
    return PaymentRequest(**fields)


def _coded(refusal: Invalid) -> Coded:
    return Coded(str(refusal), code=CODES.get(refusal.field.partition(".")[0]))


def refund_payment(access: Access, payment: Payment, body: dict[str, Any], key: str, header: dict[str, Any] | None) -> Requested:
    """Refunds to the paying addresses. Raises Coded, MandateRequired or the provider's refusal."""
    if not authorize.has_provider(access.store):
        raise authorize.MandateRequired
    wish = REFUND_FIELDS.check(body, "body")
    if wish["amount"] is not None:
        try:
            merchant.REFUND.fields["amount"].check(wish["amount"], "amount")
        except Invalid as refusal:
            raise _coded(refusal) from None
    if wish["asset_id"] is not None and not Asset.objects.filter(pk=wish["asset_id"]).exists():
        raise AssetNotFound
    authorize.require(access, REFUND, header, asset_id=wish["asset_id"], details={"payment_id": str(payment.pk), "amount": wish["amount"]})
    try:
        return request_refund(access, payment, refund_shares.Wish(amount=wish["amount"], asset_id=wish["asset_id"]), key)
    except Flat as refusal:
        if isinstance(refusal, refund_shares.AssetNotReceived):
            raise AssetNotFound(str(refusal)) from None
        raise RefundRefused(str(refusal), code=REFUSALS.get(type(refusal), "invalid_amount")) from None
