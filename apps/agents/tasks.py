"""The jobs of agents: each calls one service and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.agents.services import dispatch, mandates, x402_progress
from apps.core import jobs


@shared_task(name="agents.advance_settlements")
def advance_settlements(ids: Sequence[str] = (), mode: str = "") -> None:
    """The ids only wake: every settlement of the mode that is to be dispatched is looked at."""
    jobs.began("agents.advance_settlements", mode)
    dispatch.advance_settlements(mode)


@shared_task(name="agents.advance_x402")
def advance_x402(ids: Sequence[str] = (), mode: str = "") -> None:
    """The ids only wake: every signed payment of the mode that isn't over is looked at."""
    jobs.began("agents.advance_x402", mode)
    x402_progress.advance_signed_payments(mode)


@shared_task(name="agents.expire_mandates")
def expire_mandates() -> None:
    mandates.expire_mandates()
