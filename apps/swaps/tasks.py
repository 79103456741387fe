"""The jobs of swaps: each looks up, calls one service, and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.core import jobs
from apps.swaps.services import auto, progress


@shared_task(name="swaps.advance")
def advance(ids: Sequence[str] = (), mode: str = "") -> None:
    """The ids only wake: every open swap of the mode is looked at."""
    jobs.began("swaps.advance", mode)
    progress.advance_swaps(mode)


@shared_task(name="swaps.auto_swap")
def auto_swap(ids: Sequence[str] = (), mode: str = "") -> None:
    jobs.began("swaps.auto_swap", mode)
    auto.swap_completed_payments(mode=mode)
