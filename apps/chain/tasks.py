"""The jobs of chains."""

from collections.abc import Sequence

from celery import shared_task
from django.conf import settings

from apps.chain import sender, signing, sweeper


@shared_task(name="chain.send")
def send(ids: Sequence[str] = ()) -> None:
    """The ids only wake: whatever waits before them on their chain goes first."""
    send_due()


@shared_task(name="chain.send_due")
def send_due() -> None:
    if settings.SIGNER_INLINE:
        signing.sign_due()
    sender.run_due()


@shared_task(name="chain.sweep")
def sweep() -> None:
    sweeper.sweep_due()
