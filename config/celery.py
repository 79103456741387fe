"""THE table of periodic jobs, and the Celery app that only wakes workers: the rows in PostgreSQL
are the queue."""

import os
import sys
from collections.abc import Iterator
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup, task_postrun, worker_before_create_process
from kombu import Exchange, Queue

from apps.core.jobs import OWN_QUEUES, QUEUES
from apps.core.process.heartbeats import BEAT_SECONDS
from config import memory
from config.broker import broker_of
from config.environment import METRICS_PORT, REDIS_URL, VAR_DIR
from config.followers import JOBS_BY_MODE

if METRICS_PORT:
    from config import celery_figures  # noqa: F401  # before anything counts

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Checking every route and page at each start would load all views into the workers; CI and
# `manage.py check` do that.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

_broker = broker_of(REDIS_URL)
app = Celery("tillgate")
# For every thread: a web server's threads would make themselves an app with a broker of its own
# invention.
app.set_default()
app.conf.update(
    broker_url=_broker.url,
    broker_transport_options=_broker.options,
    broker_connection_retry_on_startup=True,
    task_publish_retry=False,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_serializer="json",
    accept_content=["json"],
    task_time_limit=300,
    worker_prefetch_multiplier=1,
    # A worker without -Q serves all. What is long or heavy has a queue, so that it can have a
    # worker of its own: `-Q reports`. So has what test mode sends, which must never hold up live
    # money.
    task_queues=tuple(
        Queue(queue_name, Exchange(queue_name), routing_key=queue_name) for queue_name in QUEUES
    ),
    task_routes={f"{queue_name}.*": {"queue": queue_name} for queue_name in OWN_QUEUES},
    # In KiB, looked at between jobs: a child that has grown is replaced by a new one.
    worker_max_memory_per_child=400_000,
    worker_soft_shutdown_timeout=5,
    worker_hijack_root_logger=False,
    timezone="UTC",
    beat_scheduler="config.beat:Scheduler",
    beat_schedule_filename=str(VAR_DIR / "beat-schedule"),
    # Celery itself would close the database's connection before and after every job.
    CELERY_DB_REUSE_MAX=sys.maxsize,
)
app.autodiscover_tasks(
    [
        *(
            "apps.core",
            "apps.stores",
            "apps.access",
            "apps.assets",
            "apps.chain",
            "apps.ledger",
            "apps.webhooks",
            "apps.payments",
        ),
        "apps.swaps",
        "apps.payouts",
        "apps.onramp",
        "apps.billing",
        "apps.platforms",
        "apps.agents",
        "apps.reports",
    ],
)

# What these do asks for transactions, which only a process with a key can approve.
_APPROVING = {"celery", "test", "test_clocks"}


@celeryd_after_setup.connect
def _refuse_to_work_without_keys(instance: Any, **_: Any) -> None:
    from django.conf import settings

    if _APPROVING & set(instance.app.amqp.queues.consume_from) and not settings.APPROVAL_KEYS:
        raise SystemExit(
            "APPROVAL_KEYS is missing: set it in the environment of workers and of the signer"
        )


@worker_before_create_process.connect
def _share_memory_with_children(**_: Any) -> None:
    """Shares the worker's loaded memory with its children, one copy while neither writes to it."""
    memory.share_heaps()
    memory.freeze_loaded()


@task_postrun.connect
def _look_after_connections(task: Any, **_: Any) -> None:
    """The next job has the same connections, but for one that failed: its server may be another's
    standby by now."""
    from django.db import connections

    if task.request.is_eager:
        return
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close()
        connection.close_if_unusable_or_obsolete()


SECOND = 1.0
MINUTE = 60.0

# name of the job -> seconds between runs. Each run is safe to repeat and takes no argument.
PERIODIC: dict[str, float] = {
    "access.end_orphans": MINUTE,
    "access.tidy_sessions": 60 * MINUTE,
    "assets.refresh_rates": 30 * SECOND,
    "chain.send_due": 3 * SECOND,
    "core.heartbeat": BEAT_SECONDS,
    "core.send_mail": 15 * SECOND,
    "ledger.checkpoint": MINUTE,
    "ledger.mark_balances": MINUTE,
    "payments.settle_deposits": 5 * SECOND,
    "payments.settle_reviewed": 20 * SECOND,
    "payments.expire_due": 5 * SECOND,
    "payments.reconcile": 20 * SECOND,
    "payments.advance_refunds": 2 * SECOND,
    "payments.book_test_payments": 5 * SECOND,
    "chain.sweep": 5 * MINUTE,
    "chain.look_at_tokens": MINUTE,
    "chain.watch_outflow": MINUTE,
    "payments.collect_own_fees": 60 * MINUTE,
    "payments.reverse_own_losses": 5 * MINUTE,
    "chain.start_wallets": MINUTE,
    "chain.add_requested": 10 * SECOND,
    "payments.book_sweeps": 10 * SECOND,
    "payments.advance_treasury": 10 * SECOND,
    "payments.move_to_cold": 5 * MINUTE,
    "payments.seal": MINUTE,
    "payments.sum_days": MINUTE,
    "payments.sum_hours": 20 * SECOND,
    "swaps.advance": 3 * SECOND,
    "swaps.auto_swap": 3 * SECOND,
    "payouts.advance": 2 * SECOND,
    "payouts.run_schedules": 10 * SECOND,
    "payouts.release_lines": 5 * SECOND,
    "payouts.expire_approvals": MINUTE,
    "payouts.hand_back": MINUTE,
    "payouts.end_stops": 20 * SECOND,
    "reports.generate": 10 * SECOND,
    "reports.sum_bookings": MINUTE,
    "documents.draw": 5 * SECOND,
    "documents.redraw": MINUTE,
    "test_clocks.advance": 10 * SECOND,
    "platforms.put_test_data_away": 15 * SECOND,
    "agents.advance_settlements": 3 * SECOND,
    "agents.advance_x402": 3 * SECOND,
    "agents.expire_mandates": MINUTE,
    "onramp.follow": 15 * SECOND,
    "onramp.deliver": 5 * SECOND,
    "billing.update_paid_amounts": 5 * SECOND,
    "billing.run_cycles": 10 * SECOND,
    "billing.send_reminders": MINUTE,
    "billing.deliver_e_invoices": MINUTE,
    "billing.check_vat_numbers": MINUTE,
    "webhooks.deliver_due": 5 * SECOND,
    "stores.check_domains": 5 * MINUTE,
    "stores.seal_audit_log": MINUTE,
    "stores.tell_notifications": 15 * SECOND,
    "payments.tell_completed": MINUTE,
    "stores.expire_staff_requests": 10 * MINUTE,
    "access.prune": 10 * MINUTE,
    "webhooks.prune": 10 * MINUTE,
    "core.prune": 10 * MINUTE,
    "stores.prune": 10 * MINUTE,
    "payments.prune": 10 * MINUTE,
}


def _runs() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, seconds in PERIODIC.items():
        run: dict[str, Any] = {
            "task": name,
            "schedule": seconds,
            "options": {"expires": max(seconds, 5.0)},
        }
        if name not in JOBS_BY_MODE:
            yield name, run
            continue
        for mode, queue in (("live", "celery"), ("test", "test")):
            yield (
                f"{name}:{mode}",
                {**run, "kwargs": {"mode": mode}, "options": {**run["options"], "queue": queue}},
            )


app.conf.beat_schedule = dict(_runs())
