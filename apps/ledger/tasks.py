"""The ledger's only job."""

from celery import shared_task

from apps.ledger import checkpoints


@shared_task(name="ledger.checkpoint")
def checkpoint() -> None:
    checkpoints.fold_long_tails()
