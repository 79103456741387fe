"""The jobs of stores: checkout domains, looked at again, test clocks, seals over the audit log,
staff requests that nobody decided, notifications whose emails wait, documents to be redrawn,
and what is forgotten."""

from collections.abc import Sequence

from celery import shared_task

from apps.core import clock
from apps.core.rows import Job
from apps.stores import domains
from apps.stores.auditing import seals
from apps.stores.emailing import customer_mail
from apps.stores.models import Store
from apps.stores.notices import notifications
from apps.stores.staff import four_eyes
from apps.stores.verifying import documents as verification_documents

LONGEST_SECONDS = 1800
CLOCKS = Job("test_clocks.advance", in_transaction=False)


@shared_task(name="stores.prune")
def prune() -> None:
    customer_mail.forget(clock.real_now())


@shared_task(name="stores.check_domains")
def check_domains() -> None:
    domains.check_due(clock.real_now())


@shared_task(name="stores.seal_audit_log")
def seal_audit_log() -> None:
    seals.seal_lines(clock.real_now())


@shared_task(name="stores.tell_notifications")
def tell_notifications() -> None:
    notifications.tell_due()


@shared_task(name="stores.expire_staff_requests")
def expire_staff_requests() -> None:
    four_eyes.expire_due(clock.real_now())


@shared_task(name="documents.redraw")
def redraw_documents() -> None:
    verification_documents.redraw_uploaded()


@shared_task(name="test_clocks.advance", time_limit=LONGEST_SECONDS)
def advance_test_clocks(store_ids: Sequence[str] = ()) -> None:
    """The stores that were named; unnamed, whatever a killed job has left."""
    waiting = Store.objects.exclude(test_clock_target_seconds=None).order_by("pk")
    if store_ids:
        CLOCKS.each(lambda: list(waiting.filter(pk__in=store_ids)), clock.finish)
    else:
        CLOCKS.walk(waiting, clock.finish)
