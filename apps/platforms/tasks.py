"""The jobs of platforms: each calls one service, and is safe to run twice."""

from celery import shared_task

from apps.platforms.services import test_data


@shared_task(name="platforms.put_test_data_away")
def put_test_data_away() -> None:
    test_data.put_away()
