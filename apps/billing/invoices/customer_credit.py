"""Credit of customers: what came for an invoice beyond what is owed for it is theirs, one balance
for each currency, and the next invoice that is finalized uses it (decision 830).

The coins stay in the store's balance: a line here is what the store owes. The database keeps each
balance at zero or above under the lock of the customer's row, which is taken after the invoice's.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q, QuerySet, Sum

from apps.billing.documents.credit_notes import CustomerCreditDocument, credit_line_document
from apps.billing.invoices.counted_payments import refunding_cents, with_refunds
from apps.billing.models import Customer, CustomerCreditLine, Invoice, InvoicePayment
from apps.billing.states import OVERPAID
from apps.billing.taxes.counting import smallest_cents
from apps.payments.models import Payment

_SHOWN_MAX = 100
_PAYMENTS_SHOWN_MAX = 5
_KIND = CustomerCreditLine.Kind


def balance_cents(customer: Customer, currency: str) -> int:
    """Credit that the customer has left in this currency."""
    return _sum(CustomerCreditLine.objects.filter(customer=customer, currency=currency))


def with_balance(invoices: Sequence[Invoice]) -> set[uuid.UUID]:
    """The customers of invoices who have credit left in a currency."""
    customers = [invoice.customer_id for invoice in invoices]
    lines = CustomerCreditLine.objects.filter(customer__in=customers).order_by()
    sums = lines.values_list("customer", "currency").annotate(sum=Sum("amount_cents"))
    return {customer for customer, _, sum_cents in sums if sum_cents}


def balances_of(customer: Customer) -> list[tuple[str, int]]:
    """Credit that is left, by currency."""
    lines = CustomerCreditLine.objects.filter(customer=customer).order_by()
    sums = lines.values("currency").annotate(sum=Sum("amount_cents")).order_by("currency")
    return [(row["currency"], row["sum"]) for row in sums if row["sum"]]


def credit_of(customer: Customer) -> list[CustomerCreditDocument]:
    """Balance and newest lines in each currency in which there ever was any."""
    lines = CustomerCreditLine.objects.filter(customer=customer)
    currencies = sorted(set(lines.order_by().values_list("currency", flat=True)))
    return [
        CustomerCreditDocument(
            currency=currency,
            balance_cents=balance_cents(customer, currency),
            lines=[
                credit_line_document(line)
                for line in lines.filter(currency=currency)
                .select_related("invoice")
                .order_by("-created_at", "-id")[:_SHOWN_MAX]
            ],
        )
        for currency in currencies
    ]


def payments_to_refund(customer: Customer, currency: str) -> list[tuple[Payment, int]]:
    """The payments that brought the credit that is left, the last one first, and the cents that a
    refund of each can pay back."""
    balance = balance_cents(customer, currency)
    links = sorted(_sources(customer, currency), key=lambda link: link.pk, reverse=True)
    amounts = [
        (link.payment, min(balance, link.brought_cents - link.refunded_cents)) for link in links
    ]
    return [row for row in amounts if row[1] > 0][:_PAYMENTS_SHOWN_MAX]


def moved_cents(invoice: Invoice) -> int:
    """Cents that came for the invoice and are the customer's credit, or were used from it."""
    return _sum(CustomerCreditLine.objects.filter(invoice=invoice).exclude(kind=_KIND.APPLIED))


def _sum(lines: "QuerySet[CustomerCreditLine]") -> int:
    return lines.aggregate(sum=Sum("amount_cents"))["sum"] or 0


def move_excess(invoice: Invoice, at: datetime) -> None:
    """Makes money beyond what is owed the customer's credit; what was refunded since is taken out
    of it, as far as the customer still has it. The invoice's row is locked and saved."""
    excess_cents = _excess_cents(invoice)
    if not excess_cents and not invoice.refunded_cents:
        return
    change_cents = excess_cents - moved_cents(invoice)
    if change_cents < 0:
        _lock(invoice)
        change_cents = max(change_cents, -balance_cents(invoice.customer, invoice.currency))
    if change_cents:
        _add(invoice, _KIND.OVERPAID if change_cents > 0 else _KIND.REFUNDED, change_cents, at)


def _excess_cents(invoice: Invoice) -> int:
    kept_cents = invoice.amount_paid_cents - invoice.refunded_cents
    return max(0, kept_cents - invoice.owed_cents)


def given_back_cents(invoice: Invoice) -> int:
    """Refunded part of the sum of a paid invoice: not of money beyond it."""
    kept_cents = invoice.amount_paid_cents - invoice.refunded_cents - moved_cents(invoice)
    return min(invoice.total_cents, max(0, invoice.total_cents - kept_cents))


def usable_cents(invoice: Invoice) -> int:
    """Credit that an invoice about to be finalized may take: what no refund under way gives back,
    at most its total. The customer is locked where there is any."""
    customer, currency = invoice.customer, invoice.currency
    if not invoice.total_cents or not balance_cents(customer, currency):
        return 0
    sources = _sources(customer, currency)
    payment_ids = [link.payment_id for link in sources]
    # A refund is created under the lock of its payment.
    list(Payment.objects.filter(pk__in=payment_ids).order_by("pk").select_for_update())
    _lock(invoice)
    going_cents = sum(refunding_cents(link) for link in with_refunds(sources))
    usable = min(balance_cents(customer, currency) - going_cents, invoice.total_cents)
    step = smallest_cents(currency)
    return max(0, usable) // step * step


def _sources(customer: Customer, currency: str) -> Sequence[InvoicePayment]:
    """The payments of the invoices that brought credit."""
    invoices = Invoice.objects.filter(
        credit_lines__kind=_KIND.OVERPAID, customer=customer, currency=currency
    )
    links = InvoicePayment.objects.filter(invoice__in=invoices.values("pk"))
    return list(
        links.filter(Q(counted_cents__gt=0) | Q(late_cents__gt=0)).select_related("payment")
    )


def use(invoice: Invoice, at: datetime) -> None:
    """Book what a finalized invoice has taken. Money that nothing is left of needs no attention any
    more."""
    _add(invoice, _KIND.APPLIED, -invoice.credit_applied_cents, at)
    if balance_cents(invoice.customer, invoice.currency):
        return
    flagged = Invoice.objects.filter(
        customer=invoice.customer, currency=invoice.currency, needs_attention=OVERPAID
    )
    # One that is being worked on keeps its mark: nobody waits here, who holds an invoice.
    free = list(flagged.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Invoice.objects.filter(pk__in=free).update(needs_attention=None, updated_at=at)


def _lock(invoice: Invoice) -> None:
    customers = Customer.objects.select_for_update(no_key=True).filter(pk=invoice.customer_id)
    list(customers.values_list("pk"))


def _add(invoice: Invoice, kind: str, amount_cents: int, at: datetime) -> None:
    CustomerCreditLine.objects.create(
        store=invoice.store,
        mode=invoice.mode,
        created_at=at,
        customer=invoice.customer,
        invoice=invoice,
        currency=invoice.currency,
        kind=kind,
        amount_cents=amount_cents,
    )
