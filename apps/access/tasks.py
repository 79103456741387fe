"""The jobs of access: forgetting what ended long ago."""

from celery import shared_task

from apps.access import sessions
from apps.core.clock import real_now


@shared_task(name="access.tidy_sessions")
def tidy_sessions() -> None:
    sessions.tidy(real_now())
