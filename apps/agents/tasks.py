"""The jobs of agents: each calls one service and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.agents.services import dispatch, mandates


@shared_task(name="agents.advance_settlements")
def advance_settlements(ids: Sequence[str] = ()) -> None:
    """The ids only wake: every settlement that is to be dispatched is looked at."""
    dispatch.advance_settlements()


@shared_task(name="agents.expire_mandates")
def expire_mandates() -> None:
    mandates.expire_mandates()
