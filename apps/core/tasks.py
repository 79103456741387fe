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
    """Which mail doesn't matter: everything that is due is sent."""
    mail.send_due()


@shared_task(name="core.heartbeat")
def heartbeat() -> None:
    """Whoever sees this knows that beat, Redis and a worker do their part."""
    heartbeats.beat(heartbeats.HeartbeatPart.JOBS)


@shared_task(name="core.prune")
def prune() -> None:
    mail.forget(real_now())
    rows.forget(real_now())
    drawings.forget(real_now())


@shared_task(name=drawings.JOB, time_limit=120)
def draw() -> None:
    """Which document doesn't matter: the oldest is drawn first."""
    drawings.draw_due()
