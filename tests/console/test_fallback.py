"""Without Redis, beat and workers a watcher does what can't wait: payments expire and settle, and
deposits are booked."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from apps.chain.models import Deposit, Head
from apps.chain.simulated import put
from apps.console import fallback
from apps.console.fallback import Fallback
from apps.core import buckets, clock, heartbeats, tasks
from apps.core.heartbeats import HeartbeatPart
from apps.core.models import Heartbeat, Lease
from apps.ledger.models import Movement
from apps.payments.models import Payment
from apps.payments.selectors import addresses_of
from config.celery import PERIODIC
from tests import make
from tests.cast import Shop


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
    assert heartbeats.ages_seconds()[HeartbeatPart.JOBS] < 5
    assert not Fallback().step()


def test_a_watcher_does_nothing_while_jobs_run(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "vital_jobs", lambda: pytest.fail("jobs run elsewhere"))
    silent_for(29)
    assert not Fallback().step()
    assert heartbeats.ages_seconds()[HeartbeatPart.WATCHER] < 5


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
        "seen by the watcher",
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


def test_a_watcher_gives_the_work_back(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "vital_jobs", dict)
    watcher = Fallback()
    silent_for(31)
    assert watcher.step()
    tasks.heartbeat()
    assert not watcher.step()
    assert not Lease.objects.filter(turn=20).exists()


def test_one_watcher_at_a_time_stands_in(
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
