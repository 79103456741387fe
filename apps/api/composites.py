"""Documents made from several apps."""

from msgspec.structs import asdict, replace

from apps.billing.documents.invoices import HostedInvoice, hosted_invoice
from apps.billing.models import Invoice
from apps.chain.models import Deposit
from apps.core import clock
from apps.core.messages.documents import Digits, Document
from apps.onramp.documents import CardUnavailableDocument, PaymentCardSession, payment_session
from apps.onramp.selectors import latest_session
from apps.onramp.services.availability import availability
from apps.onramp.services.sessions import card_networks
from apps.payments.documents.checkout import CheckoutFacts, checkout_facts
from apps.payments.documents.detail import PaymentFacts, detail
from apps.payments.documents.reconciliation import ReconciliationDocument, reconciliation_document
from apps.payments.documents.values import DepositStatus, IntentStatus
from apps.payments.models import Payment
from apps.payments.selectors import received_by
from apps.payments.services.reconcile import is_balanced
from apps.payments.snapshot import PaymentSnapshot
from apps.swaps.documents import AutoSwapDocument, auto_swap_document
from apps.swaps.models import Swap
from apps.swaps.selectors import of_payment, swap_delta


class CardOption(Document, frozen=True, kw_only=True):
    """Tell whether a card option may be shown on a checkout, and through whom: opaque names, to be
    passed back."""

    available: bool
    providers: list[str]


class CheckoutDocument(CheckoutFacts, frozen=True, kw_only=True):
    onramp: CardOption


class InvoiceWithPayment(HostedInvoice, frozen=True, kw_only=True):
    payment: CheckoutDocument | None


class PaymentIntentDetail(PaymentFacts, frozen=True, kw_only=True):
    """Everything there is to know about an intent: its latest card payment, or why there can't be
    one; its automatic swap, once that is under way and as long as it has not failed."""

    onramp_session: PaymentCardSession | None
    onramp_unavailable: CardUnavailableDocument | None
    auto_swap_detail: AutoSwapDocument | None


class SimulatedDeposit(Document, frozen=True, kw_only=True):
    reference: str
    amount_atomic: Digits
    confirmations: int
    status: DepositStatus


class PaymentSimulated(PaymentIntentDetail, frozen=True, kw_only=True):
    """The intent as it is after the deposit."""

    payment_status: IntentStatus
    simulated_payment: SimulatedDeposit


def checkout_document(payment: Payment) -> CheckoutDocument:
    at = clock.now(payment.store, payment.mode)
    networks = card_networks(payment)
    onramp = CardOption(available=bool(networks), providers=networks)
    return CheckoutDocument(**asdict(checkout_facts(payment, at)), onramp=onramp)


def invoice_with_payment(invoice: Invoice, payment: Payment | None) -> InvoiceWithPayment:
    """An invoice as its customer sees it, with the checkout of its latest intent."""
    checkout = checkout_document(payment) if payment is not None else None
    return InvoiceWithPayment(**asdict(hosted_invoice(invoice)), payment=checkout)


def payment_detail(snapshot: PaymentSnapshot) -> PaymentIntentDetail:
    payment = snapshot.payment
    session = latest_session(payment)
    swap = _auto_swap_of(payment)
    unavailable = availability(payment).unavailable if session is None else None
    return PaymentIntentDetail(
        **asdict(detail(snapshot)),
        onramp_session=payment_session(session) if session is not None else None,
        onramp_unavailable=unavailable.document() if unavailable is not None else None,
        auto_swap_detail=auto_swap_document(swap) if swap is not None else None,
    )


def simulated_payment(snapshot: PaymentSnapshot, deposit: Deposit) -> PaymentSimulated:
    return PaymentSimulated(
        **asdict(payment_detail(snapshot)),
        payment_status=snapshot.payment.status,
        simulated_payment=SimulatedDeposit(
            reference=str(deposit.simulated_reference),
            amount_atomic=str(deposit.amount_atomic),
            confirmations=deposit.simulated_confirmations,
            status=deposit.status,
        ),
    )


def _auto_swap_of(payment: Payment) -> Swap | None:
    statuses = (Swap.Status.SUBMITTED, Swap.Status.COMPLETED)
    return (
        next((swap for swap in of_payment(payment) if swap.status in statuses), None)
        if payment.auto_swap_status
        else None
    )


def reconciliation_of(payment: Payment) -> ReconciliationDocument:
    """Tell whether chain, intent and ledger agree, and what an automatic swap brought beside its
    estimate."""
    received = received_by(payment)
    document = reconciliation_document(
        payment, received, is_balanced=is_balanced(payment, received)
    )
    delta = swap_delta(payment) if payment.auto_swap_status and payment.reconciled_at else None
    return (
        replace(document, swap_delta=delta[0], swap_delta_atomic=delta[1])
        if delta is not None
        else document
    )
