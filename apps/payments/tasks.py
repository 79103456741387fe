"""The jobs of payments: each looks up, calls one service, and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.core import jobs
from apps.core.clock import real_now
from apps.payments import daily_sums, hourly_sums, pruning, seals
from apps.payments.documents import invoice
from apps.payments.services import (
    cold,
    completed_emails,
    corrections,
    expire,
    own_fees,
    own_losses,
    reconcile,
    refund_progress,
    reviewed,
    settle,
    sweep_books,
    test_wallet,
    transfer_returns,
    withdrawals,
)


@shared_task(name="payments.settle_deposits")
def settle_deposits(deposit_ids: Sequence[str] | None = None) -> None:
    settle.settle_deposits(deposit_ids)


@shared_task(name="payments.settle_reviewed")
def settle_reviewed() -> None:
    reviewed.settle_reviewed()


@shared_task(name="payments.expire_due")
def expire_due() -> None:
    expire.expire_due()


@shared_task(name="payments.reconcile")
def reconcile_due() -> None:
    reconcile.reconcile_due()


@shared_task(name="payments.advance_refunds")
def advance_refunds(ids: Sequence[str] = (), mode: str = "") -> None:
    """The ids only wake: every open refund of the mode is looked at."""
    jobs.began("payments.advance_refunds", mode)
    refund_progress.advance_refunds(mode)
    transfer_returns.advance_returns(mode)


@shared_task(name="payments.tell_completed")
def tell_completed() -> None:
    completed_emails.tell_all()


@shared_task(name="payments.prune")
def prune() -> None:
    pruning.prune_all(real_now())


@shared_task(name="documents.prepare_payments")
def prepare_documents(payment_ids: Sequence[str]) -> None:
    invoice.prepare_pdfs(payment_ids)


@shared_task(name="payments.book_test_payments")
def book_test_payments() -> None:
    test_wallet.request_test_payments()
    test_wallet.book_test_payments()


@shared_task(name="payments.book_sweeps")
def book_sweeps() -> None:
    sweep_books.book_sweeps()


@shared_task(name="payments.move_to_cold")
def move_to_cold() -> None:
    cold.move_to_cold()


@shared_task(name="payments.advance_treasury")
def advance_treasury() -> None:
    """Advances transfers to cold storage and to the operator, and corrections by staff."""
    corrections.book_corrections()
    cold.book_cold()
    withdrawals.advance_withdrawals()


@shared_task(name="payments.seal")
def seal() -> None:
    seals.seal_payments(real_now())


@shared_task(name="payments.sum_days")
def sum_days() -> None:
    daily_sums.sum_days()


@shared_task(name="payments.sum_hours")
def sum_hours() -> None:
    hourly_sums.sum_hours()


@shared_task(name="payments.collect_own_fees")
def collect_own_fees() -> None:
    own_fees.collect_own_fees()


@shared_task(name="payments.reverse_own_losses")
def reverse_own_losses() -> None:
    own_losses.reverse_own_losses()
