"""The lines of an order as people read them: a merchant's items, and what is missing between their
sum and the amount asked for.

The API tells the items as they were given; anyone who reads a bill sees one that adds up.
"""

from dataclasses import dataclass

from apps.payments.documents.parts import LineItemDocument
from apps.payments.models import Payment


class OrderItem(LineItemDocument, frozen=True, kw_only=True):
    amount_cents: int


@dataclass(frozen=True)
class PaymentOrder:
    """The items with their amounts. `other_cents` is what the total holds beyond them, less than
    zero when it is below their sum."""

    items: list[OrderItem]
    other_cents: int
    total_cents: int
    currency: str

    @property
    def is_discounted(self) -> bool:
        return self.other_cents < 0


def order_of(payment: Payment) -> PaymentOrder:
    """Order of a payment. One without items has nothing to add up."""
    items = [
        OrderItem(**item, amount_cents=item["quantity"] * item["unit_amount_cents"])
        for item in payment.line_items
    ]
    total = payment.settlement_amount_cents
    other = total - sum(item.amount_cents for item in items) if items else 0
    return PaymentOrder(items, other, total, payment.settlement_currency)
