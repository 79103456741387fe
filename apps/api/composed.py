"""Documents made from several apps."""

from typing import Any

from msgspec.structs import asdict

from apps.billing.documents.invoices import hosted_invoice
from apps.billing.models import Invoice
from apps.core import clock
from apps.onramp.documents import payment_session
from apps.onramp.selectors import latest_session
from apps.onramp.services.availability import availability
from apps.onramp.services.sessions import card_networks
from apps.payments.documents import detail
from apps.payments.documents.checkout import checkout_document
from apps.payments.models import Payment
from apps.payments.services import reconcile
from apps.payments.whole import Whole
from apps.swaps.documents import auto_swap_document
from apps.swaps.models import Swap
from apps.swaps.selectors import of_payment, swap_delta


def onramp_of(payment: Payment) -> dict[str, Any]:
    """Whether a card option may be shown on a checkout, and through whom: opaque names, to be passed back."""
    networks = card_networks(payment)
    return {"available": bool(networks), "providers": networks}


def hosted_invoice_body(invoice: Invoice, payment: Payment | None) -> dict[str, Any]:
    """An invoice as its customer sees it, with the checkout of its latest intent."""
    if payment is None:
        return {**asdict(hosted_invoice(invoice)), "payment": None}
    at = clock.now(payment.store, payment.mode)
    return {**asdict(hosted_invoice(invoice)), "payment": {**checkout_document(payment, at), "onramp": onramp_of(payment)}}


def card_of(payment: Payment) -> dict[str, Any]:
    """A payment's latest card payment, or the reason why there can't be one."""
    session = latest_session(payment)
    unavailable = availability(payment).unavailable if session is None else None
    told = unavailable.document() if unavailable is not None else None
    return {"onramp_session": None if session is None else payment_session(session), "onramp_unavailable": told}


def payment_detail(whole: Whole) -> dict[str, Any]:
    """The detail view of an intent, with what other apps add to it."""
    return {**detail.detail(whole), **auto_swap_of(whole.payment), **card_of(whole.payment)}


def auto_swap_of(payment: Payment) -> dict[str, Any]:
    """The automatic swap of a payment's coins, once it is under way and as long as it has not failed."""
    shown = (Swap.Status.SUBMITTED, Swap.Status.COMPLETED)
    swap = next((one for one in of_payment(payment) if one.status in shown), None) if payment.auto_swap_status else None
    return {"auto_swap_detail": auto_swap_document(swap) if swap is not None else None}


def reconciliation_of(payment: Payment) -> dict[str, Any]:
    """Whether chain, intent and ledger agree, and what an automatic swap brought beside its estimate."""
    document = reconcile.document(payment)
    delta = swap_delta(payment) if payment.auto_swap_status and payment.reconciled_at else None
    return {**document, **dict(zip(("swap_delta", "swap_delta_atomic"), delta, strict=True))} if delta else document
