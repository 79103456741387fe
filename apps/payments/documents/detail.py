"""The detail view of an intent, as far as payments know it; a view adds what higher apps have done
with it."""

from datetime import datetime
from uuid import UUID

from django.conf import settings
from msgspec.structs import asdict

from apps.chain.models import Deposit
from apps.chain.networks.families import shown_address
from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Digits, Document, Id, Time
from apps.payments import states
from apps.payments.documents import parts
from apps.payments.documents.deposits import (
    ReceivedDeposit,
    TransactionDocument,
    arrivals,
    heads_for,
    transaction_document,
    transactions,
)
from apps.payments.documents.financials import (
    FinancialsDocument,
    OverpaymentDocument,
    PaymentFeeDocument,
    accepted_cents,
    fee,
    financials,
    overpayment,
    paid_cents,
)
from apps.payments.documents.history import (
    PaymentEventDocument,
    TimelineEntry,
    event,
    timeline_entry,
)
from apps.payments.documents.values import HeldRefundReason, HeldRefundStatus
from apps.payments.models import Payment, PaymentEvent
from apps.payments.snapshot import HeldShare, PaymentSnapshot


class MerchantDocument(Document, frozen=True, kw_only=True):
    """The merchant that is paid. The first five fields come from an approved verification."""

    legal_name: str | None
    country: str | None
    registration_number: str | None
    tax_id: str | None
    website: str | None
    name: str
    support_email: str | None


class LateDepositDocument(TransactionDocument, frozen=True, kw_only=True):
    """A deposit that came too late, or that the merchant accepted though it is in another coin."""

    id: Id


class HeldRefundDocument(Document, frozen=True, kw_only=True):
    """Coins of a payment that has ended, held until it is known where a refund of them can go: of
    one sender in one asset. `reason` is null while the sender is being checked."""

    asset_id: str
    coin_symbol: str
    network: str
    from_address: str
    amount_atomic: Digits
    amount: Decimals
    status: HeldRefundStatus
    reason: HeldRefundReason | None
    created_at: Time


class PaymentFacts(parts.PaymentIntentDocument, frozen=True, kw_only=True):
    checkout_url: str
    display_image_url: str | None
    amount_paid: Decimals
    paid_at: Time | None
    financials: FinancialsDocument | None
    transaction: TransactionDocument | None
    overpayment: OverpaymentDocument | None
    fee: PaymentFeeDocument | None
    merchant: MerchantDocument
    needs_attention: str | None
    transactions: list[TransactionDocument]
    late_deposits: list[LateDepositDocument]
    accepted_late_amount: Decimals
    held_refunds: list[HeldRefundDocument]
    renewal_of: Id | None
    renewed_as: Id | None
    payment_events: list[PaymentEventDocument]
    timeline: list[TimelineEntry]


def detail(snapshot: PaymentSnapshot) -> PaymentFacts:
    payment = snapshot.payment
    received = snapshot.received
    arrived = arrivals(payment, received, snapshot.others)
    history = snapshot.history
    splits = snapshot.splits
    return PaymentFacts(
        **asdict(parts.row(payment)),
        payment_addresses=[parts.address(intake, payment) for intake in received],
        checkout_url=f"{settings.API_URL}/api/v2/checkout/{payment.reference}",
        display_image_url=payment.image_url,
        amount_paid=money.text_from_cents(paid_cents(received)),
        paid_at=iso(_paid_at(payment, history)),
        financials=financials(payment, received, splits),
        transaction=_main_transaction(arrived),
        overpayment=overpayment(payment, received),
        fee=fee(payment, received, splits),
        merchant=_merchant(snapshot),
        needs_attention=payment.needs_attention or None,
        transactions=transactions(arrived),
        late_deposits=_late_deposits(snapshot, arrived),
        accepted_late_amount=money.text_from_cents(accepted_cents(received)),
        held_refunds=[_held_refund(share) for share in snapshot.held],
        renewal_of=_id(snapshot.renewal_of),
        renewed_as=_id(snapshot.renewed_as),
        payment_events=[event(entry) for entry in history],
        timeline=[timeline_entry(entry) for entry in history],
    )


def _held_refund(share: HeldShare) -> HeldRefundDocument:
    return HeldRefundDocument(
        asset_id=share.asset_id,
        coin_symbol=share.coin_symbol,
        network=share.network,
        from_address=shown_address(share.payer_address),
        amount_atomic=str(share.amount_atomic),
        amount=money.decimal_from_atomic(share.amount_atomic, share.atomic_decimals),
        status=share.status,
        reason=share.why or None,
        created_at=iso(share.held_at),
    )


def _id(key: UUID | None) -> str | None:
    return None if key is None else str(key)


def _paid_at(payment: Payment, history: list[PaymentEvent]) -> datetime | None:
    """When it was completed, else when an intent that has ended changed last."""
    return payment.completed_at or (
        _last_move(history) if payment.status in states.TERMINAL else None
    )


def _last_move(history: list[PaymentEvent]) -> datetime | None:
    return next(
        (
            entry.created_at
            for entry in reversed(history)
            if entry.event_type.startswith("payment_intent.")
        ),
        None,
    )


def _main_transaction(arrived: list[ReceivedDeposit]) -> TransactionDocument | None:
    """The confirmed deposit, else the most recent one; another coin than asked for only when there
    is nothing else."""
    every = [arrival for arrival in arrived if not arrival.is_unexpected] or arrived
    if not every:
        return None
    confirmed = [arrival for arrival in every if arrival.deposit.status == Deposit.Status.CONFIRMED]
    main = max(confirmed or every, key=lambda arrival: arrival.deposit.detected_at)
    return transaction_document(main, heads_for([main.deposit]))


# Name in the document -> column of the verification.
_LEGAL = {
    "legal_name": "business_legal_name",
    "country": "business_country",
    "registration_number": "registration_number",
    "tax_id": "tax_id",
    "website": "business_website",
}


def _merchant(snapshot: PaymentSnapshot) -> MerchantDocument:
    legal = {name: getattr(snapshot.business, column, None) for name, column in _LEGAL.items()}
    store = snapshot.payment.store
    return MerchantDocument(**legal, name=store.name, support_email=store.support_email or None)


def _late_deposits(
    snapshot: PaymentSnapshot, arrived: list[ReceivedDeposit]
) -> list[LateDepositDocument]:
    marks = snapshot.received[0].late if snapshot.received else {}
    late = [arrival for arrival in arrived if arrival.deposit.pk in marks]
    return [
        LateDepositDocument(**asdict(document), id=str(arrival.deposit.pk))
        for arrival, document in zip(late, transactions(late), strict=True)
    ]
