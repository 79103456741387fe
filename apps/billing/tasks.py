"""The jobs of billing: each looks up, calls one service, and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.billing.invoices import delivering, files, payment_intents, reminders
from apps.billing.services import vat_checks
from apps.billing.subscriptions import cycle


@shared_task(name="billing.run_cycles")
def run_cycles() -> None:
    cycle.run_cycles()


@shared_task(name="billing.update_paid_amounts")
def update_paid_amounts(payment_ids: Sequence[str] | None = None) -> None:
    payment_intents.update_paid_amounts(payment_ids)


@shared_task(name="billing.settle_invoices")
def settle_invoices(payment_ids: Sequence[str] | None = None) -> None:
    """Same job under its name of release 0.1.0, whose messages may still be queued."""
    payment_intents.update_paid_amounts(payment_ids)


@shared_task(name="documents.prepare_invoices")
def prepare_documents(invoice_ids: Sequence[str]) -> None:
    files.prepare_pdfs(invoice_ids)


@shared_task(name="billing.send_reminders")
def send_reminders() -> None:
    reminders.send_reminders()


@shared_task(name="billing.deliver_e_invoices")
def deliver_e_invoices(ids: Sequence[str] = ()) -> None:
    delivering.deliver_due(ids)


@shared_task(name="billing.check_vat_numbers")
def check_vat_numbers(ids: Sequence[str] = ()) -> None:
    vat_checks.check_due(ids)
