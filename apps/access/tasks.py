"""The jobs of access: forgetting what ended long ago, ending what hangs on it."""

from celery import shared_task

from apps.access.authorization import tokens as oauth_tokens
from apps.access.person import sessions
from apps.core.clock import real_now


@shared_task(name="access.tidy_sessions")
def tidy_sessions() -> None:
    sessions.tidy(real_now())


@shared_task(name="access.end_orphans")
def end_orphans() -> None:
    """Agent credentials of apps whose grant has run out."""
    oauth_tokens.end_orphans(real_now())


@shared_task(name="access.prune")
def prune() -> None:
    # Loaded by who prunes: most processes never do.
    from apps.access import pruning

    pruning.prune_all(real_now())
