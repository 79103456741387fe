"""Names and addresses that billing has for the customer of a payment
(settings.PAYMENT_CONTACTS)."""

from apps.access.access import Access
from apps.billing.selectors import invoice_of
from apps.payments.models import Payment


def email_of(payment: Payment) -> str:
    """The invoice's customer, empty for a payment of no invoice."""
    invoice = invoice_of(Access.for_public(payment.store, payment.mode), payment)
    return invoice.customer.email if invoice is not None else ""
