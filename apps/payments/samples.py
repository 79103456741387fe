"""Sample events of payments and transactions for test deliveries, of the classes of real events."""

from msgspec.structs import asdict

from apps.chain.networks.samples import sample_address, sample_hash
from apps.payments import states
from apps.payments.documents.deposits import TransactionDocument
from apps.payments.documents.events import (
    IntentEvent,
    RefundEvent,
    TransactionEvent,
    transaction_event,
)
from apps.payments.documents.refund import RefundDocument
from apps.webhooks.samples import SAMPLE_AT, SAMPLE_ID

_REFERENCE = "TESTEVENT0000001"
# Before, after, and why.
_INTENT_MOVES: dict[str, tuple[str | None, str, str | None]] = {
    "created": (None, states.PENDING, None),
    "processing": (states.PENDING, states.PROCESSING, states.PENDING_CONFIRMATIONS),
    "completed": (states.PROCESSING, states.COMPLETED, states.COMPLETED_EXACT),
    "expired": (states.PENDING, states.EXPIRED, states.EXPIRED_TIMEOUT),
    "failed": (states.PROCESSING, states.FAILED, states.FAILED_UNDERPAID),
    "refunded": (states.COMPLETED, states.REFUNDED, states.REFUND_COMPLETED),
}
_TRANSACTION_MOVES: dict[str, tuple[str, str, str | None]] = {
    "confirming": (states.PENDING, states.PROCESSING, states.PENDING_CONFIRMATIONS),
    "confirmed": (states.PROCESSING, states.COMPLETED, states.COMPLETED_EXACT),
    "failed": (states.PENDING, states.PENDING, None),
}


def intent(event_type: str) -> IntentEvent:
    return _intent(*_INTENT_MOVES[event_type.rpartition(".")[2]])


def transaction(event_type: str) -> TransactionEvent:
    name = event_type.rpartition(".")[2]
    return transaction_event(_intent(*_TRANSACTION_MOVES[name]), _transaction(name))


def refund(event_type: str) -> RefundEvent:
    told = _intent(states.COMPLETED, states.COMPLETED, states.COMPLETED_EXACT)
    return RefundEvent(**asdict(told), refund=_refund(event_type.rpartition(".")[2]))


def _refund(status: str) -> RefundDocument:
    return RefundDocument(
        id=SAMPLE_ID,
        payment_intent_id=SAMPLE_ID,
        status=status,
        reason="merchant_requested",
        destination_address=sample_address("2"),
        amount_atomic="5555560000000000",
        amount="0.00555556",
        tx_hash=sample_hash("4"),
        attempts=1,
        failure_reason="The transaction was reverted",
        asset_id="SETH",
        coin_symbol="ETH",
        chain_symbol="SETH",
        atomic_decimals=18,
        created_at=SAMPLE_AT,
        updated_at=SAMPLE_AT,
    )


def _intent(before: str | None, after: str, reason: str | None) -> IntentEvent:
    return IntentEvent(
        id=_REFERENCE,
        payment_intent_id=SAMPLE_ID,
        reference=_REFERENCE,
        status=after,
        state_reason=reason,
        settlement_amount_cents=1000,
        settlement_currency="EUR",
        from_status=before,
        to_status=after,
        order_id="order-1",
        metadata={"test": "true"},
    )


def _transaction(status: str) -> TransactionDocument:
    return TransactionDocument(
        tx_hash=sample_hash("1"),
        from_address=sample_address("2"),
        deposit_address=sample_address("3"),
        confirmations=3 if status == "confirmed" else 0,
        required_confirmations=3,
        waits_for=None if status == "confirmed" else "confirmations",
        status=status,
        asset_id="SETH",
        coin_symbol="ETH",
        chain_symbol="SETH",
        chain_name="Ethereum Sepolia",
        network="sepolia",
        amount_atomic="5555560000000000",
        atomic_decimals=18,
        block_number=None,
        explorer_url=None,
        detected_at=SAMPLE_AT,
        confirmed_at=SAMPLE_AT if status == "confirmed" else None,
        simulated=True,
        late=False,
        unexpected_asset=False,
        accepted_at=None,
        undecided=False,
    )
