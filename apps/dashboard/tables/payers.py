"""Payers: an invoice's customer, else the name in the payment's metadata, as payment links write
it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.billing.models import Customer
from apps.billing.selectors import customers_of
from apps.payments.models import Payment

WORDS_MAX = 255  # of what may be longer


@dataclass(frozen=True)
class Payer:
    """Without a `customer` it is plain words, which nobody has checked."""

    name: str
    email: str
    customer: Customer | None = None

    @property
    def title(self) -> str:
        return self.name or self.email


def payers_of(payments: Sequence[Payment]) -> dict[Any, Payer]:
    """By payment, in one statement; those of which nothing is known aren't in it."""
    customers = customers_of(payments)
    payers = {payment.pk: payer_of(payment, customers.get(payment.pk)) for payment in payments}
    return {id: payer for id, payer in payers.items() if payer is not None}


def payer_of(payment: Payment, customer: Customer | None) -> Payer | None:
    if customer is not None:
        return Payer(customer.name or "", customer.email, customer)
    payer = Payer(_words(payment, "customer_name"), _words(payment, "customer_email"))
    return payer if payer.title else None


def _words(payment: Payment, name: str) -> str:
    words: str = payment.metadata.get(name, "")
    return words.strip()[:WORDS_MAX]
