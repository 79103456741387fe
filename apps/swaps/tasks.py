"""The jobs of swaps: each looks up, calls one service, and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.swaps.services import auto, progress


@shared_task(name="swaps.advance")
def advance(ids: Sequence[str] = ()) -> None:
    """The ids only wake: every open swap is looked at."""
    progress.advance_swaps()


@shared_task(name="swaps.auto_swap")
def auto_swap(ids: Sequence[str] = ()) -> None:
    auto.swap_completed_payments()
