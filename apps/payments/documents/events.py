"""The objects that payment and transaction events carry: small, and named by the contract."""

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from apps.core.messages.documents import Document, FreeForm, Id
from apps.payments.documents.deposits import TransactionDocument
from apps.payments.documents.refund import RefundDocument, refund_document
from apps.payments.documents.values import CreatedWith, IntentStatus
from apps.payments.models import Payment, Refund
from apps.payments.states import PaymentDecision

_OF_PAGES = (Payment.Origin.PUBLISHABLE_KEY, Payment.Origin.SIGNED_AMOUNT)


class IntentEvent(Document, frozen=True, kw_only=True):
    """The object of payment_intent.*: the intent as it is after the change. `id` is its
    reference. `created_with` is there when a publishable key created it, and no other key is more
    than the contract names."""

    id: str
    payment_intent_id: Id
    reference: str
    status: IntentStatus
    state_reason: str | None
    settlement_amount_cents: int
    settlement_currency: str
    from_status: IntentStatus | None
    to_status: IntentStatus
    order_id: str | None
    created_with: CreatedWith | UnsetType = UNSET
    metadata: FreeForm


class TransactionEvent(IntentEvent, frozen=True, kw_only=True):
    """The object of transaction.*: the intent before and after the transaction was seen, and the
    transaction."""

    transaction: TransactionDocument


class RefundEvent(IntentEvent, frozen=True, kw_only=True):
    """The object of refund.*: the intent, whose status it leaves as it is, and the refund."""

    refund: RefundDocument


def intent_event(payment: Payment, before: str | None, after: PaymentDecision) -> IntentEvent:
    return IntentEvent(
        id=payment.reference,
        payment_intent_id=str(payment.pk),
        reference=payment.reference,
        status=after.status,
        state_reason=after.reason,
        settlement_amount_cents=payment.settlement_amount_cents,
        settlement_currency=payment.settlement_currency,
        from_status=before,
        to_status=after.status,
        order_id=payment.order_id,
        created_with=_told_origin(payment),
        metadata=payment.metadata,
    )


def _told_origin(payment: Payment) -> str | UnsetType:
    origin = payment.created_with
    return origin if origin is not None and origin in _OF_PAGES else UNSET


def transaction_event(intent: IntentEvent, transaction: TransactionDocument) -> TransactionEvent:
    return TransactionEvent(**asdict(intent), transaction=transaction)


def refund_event(refund: Refund) -> RefundEvent:
    payment = refund.payment
    state = PaymentDecision(payment.status, payment.state_reason)
    intent = intent_event(payment, payment.status, state)
    return RefundEvent(**asdict(intent), refund=refund_document(refund))
