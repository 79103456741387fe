"""An agent's own payments: made with fewer fields than a merchant's, called off, and refunded to
where the coins came from."""

from apps.access.access import Access
from apps.agents.providers.base import Envelope, PaymentDetails, RefundDetails
from apps.agents.requests.payments import AgentPayment, AgentRefund
from apps.agents.services import authorize
from apps.agents.services.tokens import AgentAssetNotFound
from apps.assets.models import Asset
from apps.chain.addresses import BelongsToService
from apps.core.errors import Failure, NotFound
from apps.core.messages.fields import Invalid
from apps.payments.models import Payment
from apps.payments.requests import RefundRequest
from apps.payments.services import create, prices, refund_shares
from apps.payments.services.refund import (
    InsufficientForRefund,
    Requested,
    earlier_refunds,
    request_refund,
)


class AgentCurrencyUnsupported(Failure):
    code = "unsupported_currency"


class RefundRefused(Failure):
    """A merchant's sentence with an agent's code."""


REFUSALS: dict[type[Failure], str] = {
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


def create_payment(
    access: Access, request: AgentPayment, key: str | None, envelope: Envelope | None
) -> tuple[Payment, bool]:
    """The intent, and whether this call made it. Raises Invalid, AgentCurrencyUnsupported, or the
    provider's refusal."""
    authorize.consult(
        access, PaymentDetails(amount=request.amount, currency=request.currency), envelope
    )
    try:
        return create.create_payment(access, request.request(), key)
    except prices.UnsupportedCurrency as refusal:
        raise AgentCurrencyUnsupported(str(refusal)) from None


def refund_payment(
    access: Access, payment: Payment, request: AgentRefund, key: str, envelope: Envelope | None
) -> Requested:
    """Refunds to the paying addresses. Raises Failure, also with the provider's refusal."""
    authorize.require_provider(access.store)
    earlier = earlier_refunds(access, payment, key)
    if earlier is not None:
        return earlier
    if request.asset_id is not None and not Asset.objects.filter(pk=request.asset_id).exists():
        raise AgentAssetNotFound
    details = RefundDetails(payment_id=str(payment.pk), amount=request.amount)
    authorize.require(access, details, envelope, asset_id=request.asset_id)
    try:
        return request_refund(
            access, payment, RefundRequest(amount=request.amount, asset_id=request.asset_id), key
        )
    except NotFound:
        raise
    except Failure as refusal:
        if refusal.code is not None:
            raise
        if isinstance(refusal, refund_shares.AssetNotReceived):
            raise AgentAssetNotFound(str(refusal)) from None
        raise RefundRefused(
            str(refusal), code=REFUSALS.get(type(refusal), "invalid_amount")
        ) from None


def answer_unread(access: Access, payment: Payment, refusal: Invalid, key: str) -> Requested:
    """Answer to a body that isn't an AgentRefund: first that refunds need a provider, then the
    refunds of a used key. Raises what refund_payment does, or the refusal."""
    authorize.require_provider(access.store)
    earlier = earlier_refunds(access, payment, key)
    if earlier is None:
        raise refusal
    return earlier
