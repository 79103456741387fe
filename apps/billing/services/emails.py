"""Emails to a store's customers about what they owe and what they paid, in the store's name.
Queued in the caller's transaction.

Each has a key of its own and goes out once. A deleted customer only gets what the merchant sends by
hand.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from apps.billing.documents.credit_notes import credit_note_url
from apps.billing.documents.invoices import hosted_url
from apps.billing.models import CreditNote, Customer, Invoice, Subscription
from apps.billing.numbers import credit_note_number, formatted_number
from apps.billing.services.languages import language_of
from apps.billing.services.portal import portal_url
from apps.core import emails, mail
from apps.core.clock import iso, real_now
from apps.stores.emailing import customer_mail
from apps.stores.models import Store

_HOUR = 3600
_MINUTE = 60


# What is sent about one invoice, by how the keys begin.
_ABOUT_INVOICE = (
    "invoice_opened",
    "invoice_sent",
    "invoice_due_soon",
    "invoice_overdue",
    "invoice_receipt",
    "subscription_past_due",
    "credit_note",
)


def key_starts(invoice: Invoice) -> tuple[str, ...]:
    """Beginnings of the keys of all emails about an invoice."""
    return tuple(f"{name}:{invoice.pk}" for name in _ABOUT_INVOICE)


def invoice_opened(invoice: Invoice) -> None:
    """The invoice of a cycle."""
    _send(invoice, "invoice_open", _key_opened(invoice), attached=_files_of(invoice))


def live_invoices_opened(invoices: Sequence[Invoice]) -> None:
    """Emails about several invoices that were opened in live mode, in a few statements."""
    at = real_now()
    mail.send_all(
        [
            customer_mail.live_mail(
                invoice.store,
                at,
                key=_key_opened(invoice),
                to=invoice.customer.email,
                template="invoice_open",
                context={**_shared(invoice.customer), **_about(invoice)},
                language=language_of(invoice.customer),
                attached=_files_of(invoice),
            )
            for invoice in invoices
        ]
    )


def _key_opened(invoice: Invoice) -> str:
    return f"invoice_opened:{invoice.pk}"


def requested_invoice(invoice: Invoice) -> None:
    """The merchant wants it sent (again): at most one email a minute, however often it is asked
    for."""
    _send(
        invoice,
        "invoice_open",
        f"invoice_sent:{invoice.pk}:{int(real_now().timestamp()) // _MINUTE}",
        attached=_files_of(invoice),
    )


def due_soon(invoice: Invoice) -> None:
    """A reminder before it is due."""
    _remind(invoice, "invoice_due_soon")


def overdue(invoice: Invoice) -> None:
    """A reminder after it was due."""
    _remind(invoice, "invoice_overdue")


def receipt(invoice: Invoice) -> None:
    """It is paid in full."""
    _remind(invoice, "invoice_receipt")


def credit_note(note: CreditNote) -> None:
    """Something of an invoice was taken back, by a void or a refund."""
    if note.invoice.customer.deleted_at is None:
        _credit_note(note, f"credit_note:{note.invoice_id}:{note.pk}")


def requested_credit_note(note: CreditNote) -> None:
    """The merchant wants it sent (again), at most once a minute."""
    minute = int(real_now().timestamp()) // _MINUTE
    _credit_note(note, f"credit_note:{note.invoice_id}:{note.pk}:{minute}")


def _credit_note(note: CreditNote, key: str) -> None:
    context = {
        "number": credit_note_number(note),
        "invoice_number": formatted_number(note.invoice),
        "credited_cents": note.total_cents,
        "currency": note.currency,
        "memo": note.memo,
        "url": credit_note_url(note),
    }
    attached = "credit_note", str(note.pk)
    _post(note.invoice.customer, note.invoice.store, "credit_note", key, context, attached)


def subscription_past_due(subscription: Subscription, invoice: Invoice) -> None:
    """The invoice of a cycle wasn't paid in time."""
    if subscription.customer.deleted_at is None:
        more = {"product": subscription.price.product.name}
        _send(invoice, "subscription_past_due", f"subscription_past_due:{invoice.pk}", more)


def subscription_recovered(subscription: Subscription, at: datetime) -> None:
    """The overdue invoices are paid, and the subscription goes on."""
    customer = subscription.customer
    if customer.deleted_at is None:
        _post(
            customer,
            subscription.store,
            "subscription_recovered",
            f"subscription_recovered:{subscription.pk}:{iso(at)}",
            {
                "product": subscription.price.product.name,
                "period_end": subscription.current_period_end,
                "zone": subscription.zone,
            },
        )


def subscription_canceled(subscription: Subscription, at: datetime) -> None:
    """It has ended, no matter who or what ended it."""
    customer = subscription.customer
    if customer.deleted_at is not None:
        return
    context = {
        "product": subscription.price.product.name,
        "at": at,
        "zone": subscription.zone,
        "failed_cycles": subscription.failed_cycle_count,
    }
    _post(
        customer,
        subscription.store,
        "subscription_canceled",
        f"subscription_canceled:{subscription.pk}",
        context,
    )


def portal_link(customer: Customer) -> None:
    """Somebody asked for a link to the customer's page: it goes to the customer, at most once an
    hour."""
    if customer.deleted_at is None:
        _post(
            customer,
            customer.store,
            "portal_link",
            f"portal_link:{customer.pk}:{int(real_now().timestamp()) // _HOUR}",
            {},
        )


def _remind(invoice: Invoice, template: str) -> None:
    if invoice.customer.deleted_at is None:
        _send(invoice, template, f"{template}:{invoice.pk}")


def _files_of(invoice: Invoice) -> tuple[str, str]:
    return "invoice", str(invoice.pk)


def _send(
    invoice: Invoice,
    template: str,
    key: str,
    more: Mapping[str, object] | None = None,
    attached: tuple[str, str] | None = None,
) -> None:
    context = {**_about(invoice), **(more or {})}
    _post(invoice.customer, invoice.store, template, key, context, attached)


def _post(
    customer: Customer,
    store: Store,
    template: str,
    key: str,
    context: Mapping[str, object],
    attached: tuple[str, str] | None = None,
) -> None:
    customer_mail.send(
        store,
        customer.mode,
        key=key,
        to=customer.email,
        template=template,
        context={**_shared(customer), **context},
        language=language_of(customer),
        attached=attached,
    )


def _shared(customer: Customer) -> dict[str, object]:
    return {
        "name": emails.greeting_name(customer.name or ""),
        "email": customer.email,
        "portal_url": portal_url(customer) if customer.deleted_at is None else "",
        "is_test": not customer.is_live,
    }


def _about(invoice: Invoice) -> dict[str, object]:
    return {
        "number": formatted_number(invoice),
        "total_cents": invoice.total_cents,
        "paid_cents": invoice.amount_paid_cents,
        "credit_cents": invoice.credit_applied_cents,
        "left_cents": invoice.left_cents,
        "currency": invoice.currency,
        "due_at": invoice.due_at,
        "zone": invoice.zone,
        "paid_at": invoice.paid_at,
        "description": invoice.description,
        "url": hosted_url(invoice),
    }
