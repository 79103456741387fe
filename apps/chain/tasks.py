"""The jobs of chains."""

from collections.abc import Sequence

from celery import shared_task
from django.conf import settings

from apps.chain import requested_additions
from apps.chain.own import choices
from apps.chain.sending import obstacles, outflow, sender, signing_rounds, sweeper
from apps.core import clock, jobs


@shared_task(name="chain.send")
def send(ids: Sequence[str] = (), mode: str = "") -> None:
    """The ids only wake: whatever has the next turn on its chain goes first."""
    send_due(mode)


@shared_task(name="chain.send_due")
def send_due(mode: str = "") -> None:
    jobs.began("chain.send", mode)
    if settings.SIGNER_INLINE:
        signing_rounds.sign_due(mode)
    sender.run_due(mode)


@shared_task(name="chain.watch_outflow")
def watch_outflow() -> None:
    outflow.watch(clock.real_now())


@shared_task(name="chain.look_at_tokens")
def look_at_tokens(mode: str = "") -> None:
    jobs.began("chain.look_at_tokens", mode)
    obstacles.look_at_tokens(mode)


@shared_task(name="chain.sweep")
def sweep(mode: str = "") -> None:
    jobs.began("chain.sweep", mode)
    sweeper.sweep_due(mode)


@shared_task(name="chain.add_requested")
def add_requested() -> None:
    requested_additions.add_requested()


@shared_task(name="chain.start_wallets")
def start_wallets() -> None:
    choices.start_due()
