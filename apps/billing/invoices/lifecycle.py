"""An invoice's life: finalized with the store's next number, paid, voided or written off. Each move
has its history and event.
"""

import secrets
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from importlib import import_module
from itertools import groupby
from typing import Any, Protocol, cast
from uuid import UUID

from django.conf import settings
from django.db import transaction

from apps.access.access import Access
from apps.billing import events
from apps.billing.invoices import credit_notes, customer_credit, numbering
from apps.billing.invoices.charged import (
    ON_NUMBER,
    BilledLine,
    change_lines,
    charge,
    is_as_shown,
)
from apps.billing.invoices.counted_payments import count_payments
from apps.billing.invoices.locking import locked_invoice
from apps.billing.invoices.seller_buyer import parties_to_keep
from apps.billing.models import Invoice, InvoiceParts, InvoicePayment
from apps.billing.periods import next_reminder
from apps.billing.services import audit_lines, emails, vat_checks
from apps.billing.states import (
    DRAFT,
    INVOICE_MACHINE,
    OPEN,
    PAID,
    UNCOLLECTIBLE,
    VOID,
    InvoiceMove,
)
from apps.billing.taxes.choosing import SellerRecords
from apps.core import jobs
from apps.core.errors import Failure
from apps.core.ids import led_by_shard
from apps.core.machine import IllegalMove
from apps.payments import states as payment_states
from apps.payments.services.looks import Untold, look_now
from apps.payments.services.withdraw import withdraw

TOKEN_BYTES = 24
# So few that several workers share the documents of a run.
_PREPARED_TOGETHER = 10


class OnlyDraftsFinalized(Failure):
    message = "Only draft invoices can be finalized"


class TaxesChanged(Failure):
    message = "The taxes of this draft aren't those it was saved with: save it again and check them"


class OnlyOpenSent(Failure):
    message = "Only open invoices can be sent"


class CannotVoidPaid(Failure):
    message = "Cannot void a paid invoice"


class CannotVoidUncollectible(Failure):
    message = "Cannot void an uncollectible invoice"


class PaymentInProgress(Failure):
    message = "Invoice has a payment in progress"


def finalize_invoice(access: Access, invoice: Invoice) -> Invoice:
    """Raises OnlyDraftsFinalized, TaxesChanged or Invalid. Not inside a transaction: a registry is
    asked about the buyer's VAT number where the taxes rely on it."""
    at = access.now()
    if invoice.status == DRAFT and _relies_on_number(invoice):
        vat_checks.ask_before_relying(invoice.customer, at)
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        if row.status != DRAFT:
            raise OnlyDraftsFinalized
        _charge_as_shown(row, at)
        finalize_locked(row, at)
        audit_lines.note("invoice.finalized", row)
    return row


def _relies_on_number(invoice: Invoice) -> bool:
    return invoice.taxes.filter(category__in=ON_NUMBER).exists()


def _charge_as_shown(row: Invoice, at: datetime) -> None:
    """Finalizing charges what was shown."""
    total_cents = row.total_cents
    lines = list(row.lines.select_related("tax_rate"))
    charged = charge(row, [BilledLine.of(line) for line in lines], at)
    if not is_as_shown(row, charged, total_cents):
        raise TaxesChanged
    change_lines(row, lines, charged)


def finalize_locked(
    invoice: Invoice,
    at: datetime,
    parts: InvoiceParts | None = None,
    credit_cents: int | None = None,
) -> None:
    """Number it, take the customer's credit, open it to payment, and lock it; one that nothing is
    left of is paid at once. What has no days of supply was supplied on the day of issue. `parts`
    and the credit when they are at hand."""
    if credit_cents is None:
        credit_cents = customer_credit.usable_cents(invoice)
    numbered = numbering.next_invoice_number(invoice, _day_of(invoice, at))
    _move(
        invoice,
        OPEN,
        at,
        parts,
        number=numbered.number,
        series=numbered.series,
        series_number=numbered.series_number,
        amount_paid_cents=credit_cents,
        credit_applied_cents=credit_cents,
        public_token=_public_token(),
        finalized_at=at,
        **columns_of_issue(invoice, at),
    )
    if credit_cents:
        customer_credit.use(invoice, at)
    if not invoice.left_cents:
        pay_locked(invoice, at)


def columns_of_issue(
    invoice: Invoice, at: datetime, seller: SellerRecords | None = None
) -> Mapping[str, object]:
    """Columns of an invoice that keep the day it is finalized: its parties, and the days of supply
    unless it has others. `seller` when it is at hand."""
    issued_on = _day_of(invoice, at)
    return {
        "issued_on": issued_on,
        "supplied_from": invoice.supplied_from or issued_on,
        "supplied_until": invoice.supplied_until or issued_on,
        **parties_to_keep(invoice, seller),
    }


def _day_of(invoice: Invoice, at: datetime) -> date:
    return at.astimezone(invoice.zone).date()


def finalize_together(
    invoices: Sequence[Invoice], parts: Mapping[UUID, InvoiceParts], at: datetime
) -> None:
    """Number and open several invoices in their order, which is that of their stores. They have the
    columns of their issue, and no customer's credit is taken."""
    numbered = [
        number
        for _, group in groupby(invoices, key=lambda invoice: (invoice.store_id, invoice.mode))
        for number in _numbers(list(group), at)
    ]
    moved = INVOICE_MACHINE.change_many(
        invoices,
        InvoiceMove(OPEN, parts),
        ats=[at] * len(invoices),
        each={
            "number": [one.number for one in numbered],
            "series": [one.series for one in numbered],
            "series_number": [one.series_number for one in numbered],
            "public_token": [_public_token() for _ in invoices],
        },
        finalized_at=at,
        updated_at=at,
    )
    if len(moved) < len(invoices):
        raise IllegalMove("An invoice was changed by somebody else")
    live = [invoice.pk for invoice in invoices if invoice.is_live]
    for start in range(0, len(live), _PREPARED_TOGETHER):
        jobs.enqueue("documents.prepare_invoices", *live[start : start + _PREPARED_TOGETHER])


def _numbers(invoices: Sequence[Invoice], at: datetime) -> list[numbering.Numbered]:
    days = [_day_of(invoice, at) for invoice in invoices]
    return numbering.next_invoice_numbers(invoices, days)


def _public_token() -> str:
    return led_by_shard(secrets.token_urlsafe(TOKEN_BYTES))


def pay_locked(invoice: Invoice, at: datetime) -> None:
    """It is paid in full; a subscription that waited for it may recover."""
    _move(invoice, PAID, at, paid_at=at)
    if invoice.total_cents:
        emails.receipt(invoice)
    _tell_followers(invoice, at)


def _move(
    invoice: Invoice,
    to: str,
    at: datetime,
    parts: InvoiceParts | None = None,
    **columns: Any,
) -> None:
    if to != OPEN:
        columns["next_letter_at"] = None
    move = InvoiceMove(to, {} if parts is None else {invoice.pk: parts})
    INVOICE_MACHINE.change_locked(invoice, move, at=at, updated_at=at, **columns)
    if invoice.is_live and to in (OPEN, PAID):
        jobs.enqueue("documents.prepare_invoices", invoice.pk)


class Follower(Protocol):
    """A module of settings.INVOICE_FOLLOWERS."""

    def invoice_closed(self, invoice: Invoice, at: datetime) -> None:
        """It was paid, voided or written off. In the transaction that did it."""


def _tell_followers(invoice: Invoice, at: datetime) -> None:
    for path in settings.INVOICE_FOLLOWERS:
        cast(Follower, import_module(path)).invoice_closed(invoice, at)


def void_invoice(access: Access, invoice: Invoice) -> Invoice:
    """An intent that waits for money expires with it; one that money came to refuses. An invoice
    that is void stays so.

    Raises CannotVoidPaid, CannotVoidUncollectible or PaymentInProgress. Not inside a transaction:
    the chains are asked.
    """
    at = access.now()
    if invoice.status == OPEN:
        _check_nothing_came(invoice)
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        if row.status == OPEN:
            _withdraw_payments(row, at)
            pay_if_covered(row, at)
        if row.status in _UNVOIDABLE:
            raise _UNVOIDABLE[row.status]
        if row.status in (DRAFT, OPEN):
            _move(row, VOID, at, voided_at=at)
            _tell_followers(row, at)
            audit_lines.note("invoice.voided", row)
            customer_credit.move_excess(row, at)
            credit_notes.credit_void(row, at)
    return row


_UNVOIDABLE: dict[str, type[Failure]] = {
    PAID: CannotVoidPaid,
    UNCOLLECTIBLE: CannotVoidUncollectible,
}


def _check_nothing_came(invoice: Invoice) -> None:
    """Coins that no block has reported are a payment in progress, and so is what can't be asked."""
    waiting = InvoicePayment.objects.filter(invoice=invoice, payment__status=payment_states.PENDING)
    for link in waiting.select_related("payment__store"):
        if look_now(link.payment) != Untold.NOTHING:
            raise PaymentInProgress


def _withdraw_payments(invoice: Invoice, at: datetime) -> None:
    waiting = InvoicePayment.objects.filter(invoice=invoice, counted_at=None).order_by("id")
    for payment_id in list(waiting.values_list("payment_id", flat=True)):
        if withdraw(payment_id, at).status not in payment_states.TERMINAL:
            raise PaymentInProgress


def mark_uncollectible(access: Access, invoice: Invoice) -> Invoice:
    """Write an open invoice off, silently; any other stays as it is."""
    at = access.now()
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        if row.status == OPEN:
            pay_if_covered(row, at)
        if row.status == OPEN:
            _move(row, UNCOLLECTIBLE, at, uncollectible_at=at)
            audit_lines.note("invoice.written_off", row)
    return row


def pay_if_covered(invoice: Invoice, at: datetime) -> None:
    """Count what its intents have brought, and what was refunded; an open invoice that is covered
    is paid."""
    if not count_payments(invoice, at):
        return
    if invoice.status == OPEN and invoice.amount_paid_cents >= invoice.total_cents:
        pay_locked(invoice, at)
    if invoice.status in (PAID, VOID, UNCOLLECTIBLE):
        customer_credit.move_excess(invoice, at)
        credit_notes.credit_refund(invoice, at)


def send_invoice(access: Access, invoice: Invoice) -> Invoice:
    """E-mail the link to the customer, at most once a minute; from now on they are reminded of it.
    Raises OnlyOpenSent."""
    at = access.now()
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        if row.status != OPEN:
            raise OnlyOpenSent
        emails.requested_invoice(row)
        if row.next_letter_at is None:
            row.next_letter_at = next_reminder(at, row.due_at, at)
            row.save(update_fields=["next_letter_at"])
        events.invoice_noted(row, "sent", at)
        audit_lines.note("invoice.sent", row, {"to": row.customer.email})
    return row
