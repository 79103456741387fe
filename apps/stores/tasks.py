"""The jobs of stores: their checkout domains, looked at again, and the seals over the audit log."""

from celery import shared_task

from apps.core import clock
from apps.stores import domains, seals


@shared_task(name="stores.check_domains")
def check_domains() -> None:
    domains.check_due(clock.real_now())


@shared_task(name="stores.seal_audit_log")
def seal_audit_log() -> None:
    seals.seal_lines(clock.real_now())
