"""The jobs of card payments: each looks up, calls one service, and is safe to run twice."""

from collections.abc import Sequence

from celery import shared_task

from apps.onramp.services import card_page, progress


@shared_task(name="onramp.follow")
def follow(ids: Sequence[str] = ()) -> None:
    progress.follow()


@shared_task(name="onramp.deliver")
def deliver(ids: Sequence[str] = ()) -> None:
    card_page.deliver_due()
