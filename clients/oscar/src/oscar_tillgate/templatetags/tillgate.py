"""`{% tillgate_payment_page order %}`: the way to the payment page of an unpaid order."""

from typing import Any

from django import template
from payments import PaymentStatus

from ..models import Payment

register = template.Library()
UNPAID = (PaymentStatus.WAITING, PaymentStatus.REJECTED)


@register.inclusion_tag("oscar_tillgate/payment_page.html")
def tillgate_payment_page(order: Any) -> dict[str, str]:
    """Nothing for an order that is paid, canceled, or paid by other means."""
    payments = list(Payment.objects.filter(order_number=order.number).exclude(transaction_id=""))
    if any(payment.status not in UNPAID for payment in payments):
        return {}
    asked = order.total_incl_tax, order.currency
    pages = [one.attrs.hosted_url for one in payments if (one.total, one.currency) == asked]
    return {"hosted_url": pages[-1]} if pages else {}
