"""Celery's connection when Redis is killed: nothing of it may end a worker."""

import logging
from contextlib import suppress
from typing import Any

import pytest
from kombu import Connection, Consumer, Exchange, Producer, Queue

from config.broker import broker_of
from tests.redis_server import own_redis

JOBS = Queue("celery")
# As that of commands to workers, which is told first that Redis is gone.
COMMANDS = Queue("commands", Exchange("commands", type="fanout"), auto_delete=True)


def test_a_connection_that_broke_while_a_job_runs_is_closed_as_one_that_broke(
    caplog: pytest.LogCaptureFixture,
) -> None:
    running: list[Any] = []
    with own_redis() as server:
        broker = broker_of(f"unix://{server.socket}")

        def connect() -> Connection:
            return Connection(broker.url, transport_options=broker.options)

        with connect() as caller:
            Producer(caller).publish({}, routing_key="celery", declare=[JOBS])
        worker = connect()
        Consumer(worker.default_channel, [JOBS], on_message=running.append).consume()
        Consumer(worker.channel(), [COMMANDS], on_message=running.append).consume()
        while not running:
            worker.drain_events(timeout=5)
        with suppress(TimeoutError):  # it waits for another job
            while True:
                worker.drain_events(timeout=0.1)
        server.kill()
        worker.collect(socket_timeout=1)
        worker.close()
    (message,) = running
    message.ack_log_error(logging.getLogger("worker"), worker.connection_errors)
    assert "Couldn't ack" in caplog.text
