"""Ways on from an expired checkout: a new quote by one press, or the page that makes the next
payment itself."""

from dataclasses import dataclass

from apps.access.access import Access
from apps.billing.documents.invoices import hosted_url
from apps.billing.selectors import invoice_of
from apps.links.selectors import link_payment_of
from apps.links.till_selectors import is_sale
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.selectors import renewed_as
from apps.payments.services.renew import is_renewable


@dataclass(frozen=True)
class NextStep:
    """A quote that a press makes, one that was made before, or a page with a button of its own."""

    is_offered: bool = False
    quote: str = ""
    url: str = ""


def next_step(payment: Payment) -> NextStep:
    if payment.status != states.EXPIRED:
        return NextStep()
    later = renewed_as(payment)
    if later is not None:
        return NextStep(quote=f"/pay/{later.reference}")
    url = _own_page(payment)
    return (
        NextStep(url=url)
        if url
        else NextStep(is_offered=not is_sale(payment) and is_renewable(payment))
    )


def _own_page(payment: Payment) -> str:
    """Invoices and payment links make their payments themselves: of what is left, or of a piece
    that is still there."""
    made_at = link_payment_of(payment)
    if made_at is not None:
        return f"/pay/{made_at.link.token}"  # at the host that the customer is on
    invoice = invoice_of(Access.for_public(payment.store, payment.mode), payment)
    return (hosted_url(invoice) or "") if invoice is not None else ""
