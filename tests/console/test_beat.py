"""Beat while Redis is away: a log line a minute, and nothing is to be done when it is back."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery
from structlog.testing import capture_logs

from config import beat
from config.broker import broker_of
from tests import redis_server
from tests.redis_server import OwnRedis

JOBS = 10


@pytest.fixture
def own_redis() -> Iterator[OwnRedis]:
    with redis_server.own_redis() as running:
        yield running


@pytest.fixture
def scheduler(own_redis: OwnRedis, tmp_path: Path) -> Iterator[beat.Scheduler]:
    """Beat, with jobs that are always due."""
    broker = broker_of(f"unix://{own_redis.socket}")
    app = Celery("tests", broker=broker.url, set_as_current=False)
    app.conf.update(
        broker_transport_options=broker.options,
        task_publish_retry=False,
        beat_schedule={
            f"job {number}": {"task": "tests.nothing", "schedule": 0.0} for number in range(JOBS)
        },
    )
    found = beat.Scheduler(app, schedule_filename=str(tmp_path / "schedule"))
    yield found
    found.close()


def sends(scheduler: beat.Scheduler) -> None:
    """As often as there are jobs: each tick has one."""
    for _ in range(JOBS):
        scheduler.tick()


def test_an_outage_of_redis_is_one_line_and_no_traceback(
    own_redis: OwnRedis, scheduler: beat.Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    sends(scheduler)
    assert own_redis.client.llen("celery") == JOBS
    own_redis.kill()
    with capture_logs() as lines:
        sends(scheduler)
        sends(scheduler)
    assert [(line["event"], line["log_level"]) for line in lines] == [("redis_away", "warning")]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_it_goes_on_with_redis_and_says_how_much_was_not_sent(
    own_redis: OwnRedis, scheduler: beat.Scheduler
) -> None:
    sends(scheduler)
    own_redis.kill()
    with capture_logs() as lines:
        sends(scheduler)
        own_redis.start()
        sends(scheduler)
    assert lines[-1] == {"event": "redis_back", "unsent": JOBS, "log_level": "info"}
    assert own_redis.client.llen("celery") == JOBS


def test_it_is_told_again_later(
    own_redis: OwnRedis, scheduler: beat.Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beat, "TELL_SECONDS", 0.0)
    sends(scheduler)
    own_redis.kill()
    with capture_logs() as lines:
        sends(scheduler)
    assert [line["unsent"] for line in lines] == list(range(1, JOBS + 1))


def test_what_is_wrong_with_a_job_is_told_with_its_traceback(
    scheduler: beat.Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = scheduler.schedule["job 0"]
    wrong.options["serializer"] = "no such thing"
    with capture_logs() as lines:
        scheduler.apply_entry(wrong, producer=scheduler.producer)
    assert lines == []
    assert "no such thing" in caplog.text and "Traceback" in caplog.text


@pytest.mark.parametrize("name", ["celery.beat", "celery.worker.strategy", "celery.app.trace"])
def test_a_job_that_is_due_or_done_is_no_line_in_the_log(name: str) -> None:
    """Hundreds of jobs look every minute whether there is something to do."""
    assert not logging.getLogger(name).isEnabledFor(logging.INFO)
    assert logging.getLogger(name).isEnabledFor(logging.ERROR)
