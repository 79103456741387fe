"""The jobs of assets."""

from celery import shared_task

from apps.assets import rates


@shared_task(name="assets.refresh_rates")
def refresh_rates() -> None:
    rates.refresh()
