"""The jobs of payouts: each looks up, calls one service, and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.core import jobs
from apps.payouts.services import approval_decisions, batches, progress, rejection, runs, stops


@shared_task(name="payouts.advance")
def advance(ids: Sequence[str] = (), mode: str = "") -> None:
    """The ids only wake: every open payout of the mode is looked at."""
    jobs.began("payouts.advance", mode)
    progress.advance_payouts(mode)


@shared_task(name="payouts.run_schedules")
def run_schedules(ids: Sequence[str] = ()) -> None:
    runs.run_schedules()


@shared_task(name="payouts.release_lines")
def release_lines(ids: Sequence[str] = ()) -> None:
    batches.release_lines()


@shared_task(name="payouts.end_stops")
def end_stops(ids: Sequence[str] = ()) -> None:
    """The ids are of deposits, and only wake."""
    stops.end_stops()


@shared_task(name="payouts.expire_approvals")
def expire_approvals(ids: Sequence[str] = ()) -> None:
    approval_decisions.expire_approvals()


@shared_task(name="payouts.hand_back")
def hand_back() -> None:
    rejection.hand_back()
