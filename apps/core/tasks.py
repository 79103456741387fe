"""The jobs of core: mail and documents that wait, and what is forgotten of them and of rows that
failed."""

from collections.abc import Sequence

from celery import shared_task

from apps.core import mail, rows
from apps.core.clock import real_now
from apps.core.documents import drawings
from apps.core.process import heartbeats


@shared_task(name="core.send_mail")
def send_mail(ids: Sequence[str] = ()) -> None:
    """Sends all mail that is due, whatever its ids."""
    mail.send_due()


@shared_task(name="core.heartbeat")
def heartbeat() -> None:
    """Proof that beat, Redis and a worker do their part."""
    heartbeats.beat(heartbeats.HeartbeatPart.JOBS)


@shared_task(name="core.prune")
def prune() -> None:
    mail.forget(real_now())
    rows.forget(real_now())
    drawings.forget(real_now())


@shared_task(name=drawings.JOB, time_limit=120)
def draw() -> None:
    """Draws the oldest document first, whichever is asked for."""
    drawings.draw_due()
