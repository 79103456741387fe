"""The job of stores: their checkout domains, looked at again."""

from celery import shared_task

from apps.core import clock
from apps.stores import domains


@shared_task(name="stores.check_domains")
def check_domains() -> None:
    domains.check_due(clock.real_now())
