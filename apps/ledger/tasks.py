"""The ledger's jobs: figures that keep reading balances cheap."""

from celery import shared_task

from apps.ledger import balance_marks, checkpoints


@shared_task(name="ledger.checkpoint")
def checkpoint() -> None:
    checkpoints.fold_long_tails()


@shared_task(name="ledger.mark_balances")
def mark_balances() -> None:
    balance_marks.mark_balances()
