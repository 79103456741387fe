"""The jobs of agents: each calls one service and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.agents.services import dispatch, mandates, x402_progress


@shared_task(name="agents.advance_settlements")
def advance_settlements(ids: Sequence[str] = ()) -> None:
    """The ids only wake: every settlement that is to be dispatched is looked at."""
    dispatch.advance_settlements()


@shared_task(name="agents.advance_x402")
def advance_x402(ids: Sequence[str] = ()) -> None:
    """The ids only wake: every signed payment that isn't over is looked at."""
    x402_progress.advance_signed_payments()


@shared_task(name="agents.expire_mandates")
def expire_mandates() -> None:
    mandates.expire_mandates()
