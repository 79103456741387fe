"""Without Redis or workers beat does what can't wait: payments expire and settle, and deposits are
booked. Without beat the watcher wakes workers."""

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery.signals import beat_init
from django.db import DatabaseError, connection, transaction
from structlog.testing import capture_logs

from apps.audit.grants import WATCHER, WORKER
from apps.chain.models import Deposit, Head
from apps.chain.simulated import put
from apps.console import fallback
from apps.console.fallback import Fallback, Waker
from apps.core import clock, tasks
from apps.core.models import Heartbeat, Lease
from apps.core.process import heartbeats
from apps.core.process.heartbeats import HeartbeatPart
from apps.core.redis import buckets
from apps.ledger.models import Movement
from apps.payments.models import Payment
from apps.payments.selectors import addresses_of
from config import beat  # noqa: F401  # what it connects
from config.celery import PERIODIC
from tests import make
from tests.cast import Shop
from tests.roles import acting_as


@pytest.fixture
def without_redis(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "redis://127.0.0.1:9"
    buckets.client.cache_clear()
    yield
    buckets.client.cache_clear()


def silent_for(seconds: float) -> None:
    Heartbeat.objects.update_or_create(
        part=HeartbeatPart.JOBS,
        defaults={"at": clock.real_now() - timedelta(seconds=seconds)},
    )


def _read_until_now(chain_id: str) -> None:
    """The watcher stood at the tip a moment ago."""
    at = clock.real_now()
    Head.objects.update_or_create(
        chain_id=chain_id,
        defaults={"number": 1, "hash": "0x" + "00" * 32, "block_time": at, "synced_at": at},
    )


def test_the_job_of_the_table_is_what_is_listened_for(db: None) -> None:
    tasks.heartbeat()
    assert PERIODIC["core.heartbeat"] == heartbeats.BEAT_SECONDS
    assert heartbeats.ages_seconds()[HeartbeatPart.JOBS] < 29
    assert not Fallback().step()


def test_nobody_stands_in_while_jobs_run(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "vital_jobs", lambda: pytest.fail("jobs run elsewhere"))
    silent_for(29)
    assert not Fallback().step()


def test_without_beat_the_watcher_wakes_workers_with_a_role_that_may_do_no_more(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = buckets.client()
    broker.delete("celery")
    silent_for(29)
    waker = Waker()
    with acting_as(WATCHER), capture_logs() as lines:
        assert not waker.step()
        assert not broker.llen("celery")
        with acting_as(WORKER):
            silent_for(31)
        assert waker.step() and waker.step()
    messages = [json.loads(item) for item in broker.lrange("celery", 0, -1)]
    assert [message["headers"]["task"] for message in messages][::-1] == [*fallback.VITAL] * 2
    assert [line["event"] for line in lines] == ["fallback_wakes"]
    assert heartbeats.ages_seconds()[HeartbeatPart.WATCHER] < 29
    broker.delete("celery")


@pytest.mark.parametrize("job", fallback.VITAL)
def test_the_watchers_role_can_not_do_the_work_itself(
    bakery: Shop, without_redis: None, job: str
) -> None:
    run = fallback.vital_jobs()[job][1]
    denied = pytest.raises(DatabaseError, match="permission denied")
    with denied, transaction.atomic(), acting_as(WATCHER):
        run()


def test_beat_stands_by_in_a_thread_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    began = threading.Event()
    monkeypatch.setattr(fallback, "stand_by", lambda stop: began.set())
    beat_init.send(sender=None)
    assert began.wait(30)


def test_a_new_database_is_given_time_for_its_first_beat(db: None) -> None:
    Heartbeat.objects.all().delete()
    assert not Fallback().step()


def test_without_redis_an_unpaid_payment_expires(bakery: Shop, without_redis: None) -> None:
    payment = Payment.objects.get(pk=make.payment(bakery.test)["id"])
    Payment.objects.filter(pk=payment.pk).update(expires_at=clock.real_now() - timedelta(minutes=5))
    _read_until_now("sepolia")
    make.looked_at(str(payment.pk))
    silent_for(31)
    watcher = Fallback()
    assert watcher.step()
    payment.refresh_from_db()
    assert payment.status == "expired"
    watcher.close()


def test_without_redis_a_deposit_is_booked_and_its_payment_completes(
    bakery: Shop, without_redis: None
) -> None:
    payment_id = make.payment(bakery.test)["id"]
    payment = Payment.objects.get(pk=payment_id)
    entry = addresses_of(payment)[0]
    put(
        entry.address_id,
        entry.asset,
        "seen by somebody",
        amount_atomic=entry.required_atomic,
        confirmations=entry.required_confirmations,
        status=Deposit.Status.CONFIRMED,
        at=clock.real_now(),
    )
    silent_for(31)
    watcher = Fallback()
    assert watcher.step()
    payment.refresh_from_db()
    assert payment.status == "completed"
    assert Movement.objects.filter(reference=payment_id, kind="deposit_confirmed").exists()
    watcher.close()


def test_a_job_that_fails_leaves_the_others_their_turn(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = list[str]()

    def fail() -> None:
        raise RuntimeError("a rate is odd")

    jobs = {"first": (5.0, fail), "second": (5.0, lambda: ran.append("second"))}
    monkeypatch.setattr(fallback, "vital_jobs", lambda: jobs)
    silent_for(31)
    watcher = Fallback()
    assert watcher.step() and watcher.step()
    assert ran == ["second"]  # once in its five seconds
    watcher.close()


def test_beat_gives_the_work_back(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "vital_jobs", dict)
    watcher = Fallback()
    silent_for(31)
    assert watcher.step()
    tasks.heartbeat()
    assert not watcher.step()
    assert not Lease.objects.filter(turn=20).exists()


def test_one_at_a_time_stands_in(
    django_db_setup: None, django_db_blocker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fallback, "vital_jobs", dict)
    with django_db_blocker.unblock():
        silent_for(31)
        first, second, others = Fallback(), Fallback(), list[bool]()
        try:
            assert first.step()
            thread = threading.Thread(target=lambda: others.append(_step_elsewhere(second)))
            thread.start()
            thread.join()
            assert others == [False] and first.step()
            first.close()
            assert second.step()
        finally:
            second.close()
            Heartbeat.objects.all().delete()


def _step_elsewhere(watcher: Fallback) -> bool:
    try:
        return watcher.step()
    finally:
        connection.close()


def test_what_stands_in_is_in_the_table_of_jobs() -> None:
    jobs = fallback.vital_jobs()
    assert {name: PERIODIC[name] for name in jobs} == {
        name: seconds for name, (seconds, _) in jobs.items()
    }
