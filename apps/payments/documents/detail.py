"""The detail view of an intent, as far as payments know it; a view adds what higher apps have done
with it."""

from datetime import datetime
from uuid import UUID

from django.conf import settings
from msgspec.structs import asdict

from apps.chain.models import Deposit
from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Document, Id, Time
from apps.payments import states
from apps.payments.documents import parts
from apps.payments.documents.deposits import TransactionDocument, heads_for, transaction_document
from apps.payments.documents.financials import (
    FinancialsDocument,
    OverpaymentDocument,
    PaymentFeeDocument,
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
from apps.payments.models import Payment, PaymentEvent
from apps.payments.selectors import Received
from apps.payments.snapshot import PaymentSnapshot


class MerchantDocument(Document, frozen=True, kw_only=True):
    """Who is paid. The first five come from an approved verification."""

    legal_name: str | None
    country: str | None
    registration_number: str | None
    tax_id: str | None
    website: str | None
    name: str
    support_email: str | None


class LateDepositDocument(TransactionDocument, frozen=True, kw_only=True):
    """A deposit that came too late, with when the merchant accepted it."""

    id: Id
    accepted_at: Time | None


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
    late_deposits: list[LateDepositDocument]
    renewal_of: Id | None
    renewed_as: Id | None
    payment_events: list[PaymentEventDocument]
    timeline: list[TimelineEntry]


def detail(snapshot: PaymentSnapshot) -> PaymentFacts:
    payment = snapshot.payment
    received = snapshot.received
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
        transaction=_main_transaction(received),
        overpayment=overpayment(received),
        fee=fee(payment, received, splits),
        merchant=_merchant(snapshot),
        needs_attention=payment.needs_attention or None,
        late_deposits=_late_deposits(snapshot),
        renewal_of=_id(snapshot.renewal_of),
        renewed_as=_id(snapshot.renewed_as),
        payment_events=[event(entry) for entry in history],
        timeline=[timeline_entry(entry) for entry in history],
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


def _main_transaction(received: list[Received]) -> TransactionDocument | None:
    """The confirmed deposit, else the most recent one."""
    every = [(deposit, intake.address.asset) for intake in received for deposit in intake.deposits]
    if not every:
        return None
    confirmed = [pair for pair in every if pair[0].status == Deposit.Status.CONFIRMED]
    deposit, asset = max(confirmed or every, key=lambda pair: pair[0].detected_at)
    return transaction_document(deposit, asset, heads_for([deposit]))


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


def _late_deposits(snapshot: PaymentSnapshot) -> list[LateDepositDocument]:
    late = [
        (deposit, intake)
        for intake in snapshot.received
        for deposit in intake.deposits
        if deposit.pk in snapshot.late
    ]
    heads = heads_for([deposit for deposit, _ in late])
    return [
        LateDepositDocument(
            **asdict(transaction_document(deposit, intake.address.asset, heads)),
            id=str(deposit.pk),
            accepted_at=iso(snapshot.late[deposit.pk]),
        )
        for deposit, intake in late
    ]
