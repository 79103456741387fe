"""A job that is named anywhere reaches a worker as the message that Celery's own client would have
sent."""

import ast
import json
from collections.abc import Iterator
from typing import Any

import pytest

from apps.chain.states import HANDLERS
from apps.core import buckets, clock, jobs
from apps.core.documents import drawings
from apps.payouts.services import batches
from apps.swaps.services.progress import FOLLOWERS
from apps.webhooks.services import deliveries
from config.celery import app
from tests.test_house import sources


@pytest.fixture(autouse=True)
def _empty_queues() -> None:
    buckets.client().delete(*jobs.QUEUES)


def taken(queue: str) -> Any:
    """The next message of a queue, as a worker takes it from the broker."""
    with app.connection_for_read() as connection:
        return connection.default_channel.basic_get(queue, no_ack=True)


def meaning(message: Any) -> tuple[Any, ...]:
    """What a worker reads of it."""
    names = ("lang", "task", "parent_id", "group", "ignore_result")
    own_number = (
        message.headers["id"] == message.headers["root_id"] == message.properties["correlation_id"]
    )
    headers = [message.headers[name] for name in names]
    return (
        message.decode(),
        message.content_type,
        message.content_encoding,
        headers,
        own_number,
        message.delivery_info["routing_key"],
    )


@pytest.mark.parametrize(
    ("name", "ids", "queue"),
    [
        ("core.send_mail", [], "celery"),
        ("payments.settle_deposits", ["a", "b"], "celery"),
        *((f"{one}.draw", ["a"], one) for one in jobs.OWN_QUEUES),
    ],
)
def test_our_message_is_the_one_that_celery_sends(name: str, ids: list[str], queue: str) -> None:
    jobs.nudge(name, ids)
    ours = taken(queue)
    app.send_task(name, args=[ids] if ids else [], ignore_result=True, retry=False)
    assert meaning(ours) == meaning(taken(queue))
    assert taken(queue) is None


@pytest.mark.parametrize(("mode", "queue"), [("live", "celery"), ("test", "test")])
def test_a_job_of_a_mode_is_one_message_in_that_modes_queue(mode: str, queue: str) -> None:
    jobs.began("payouts.advance", mode)
    for _ in range(3):
        jobs.nudge("payouts.advance", mode=mode)
    ours = taken(queue)
    app.send_task(
        "payouts.advance", kwargs={"mode": mode}, queue=queue, ignore_result=True, retry=False
    )
    assert meaning(ours) == meaning(taken(queue))
    assert taken(queue) is None


def test_the_broker_keeps_the_message_until_it_is_done() -> None:
    jobs.nudge("core.send_mail")
    (kept,) = [json.loads(one) for one in buckets.client().lrange("celery", 0, -1)]
    with app.connection_for_read() as connection:
        channel = connection.default_channel
        assert channel.basic_get("celery").delivery_tag == kept["properties"]["delivery_tag"]
        channel.basic_reject(kept["properties"]["delivery_tag"], requeue=True)
    assert taken("celery") is not None


def names_of_jobs(tree: ast.AST) -> Iterator[str]:
    """Every text of the form of a job's name: `enqueue("a.b")`, a table of them, `JOB =
    Job("a.b")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            first = node.args[0] if node.args else None
            if called in ("enqueue", "nudge") and isinstance(first, ast.Constant):
                yield str(first.value)


def test_every_job_that_is_named_is_a_task() -> None:
    """A task that was renamed would be woken by nobody, and its work come late, by the sweep
    alone."""
    app.loader.import_default_modules()
    named = {
        name
        for path in sources("apps")
        if path.suffix == ".py"
        for name in names_of_jobs(ast.parse(path.read_text()))
    }
    assert len(named) > 10
    named |= {
        *HANDLERS.values(),
        *FOLLOWERS,
        *jobs.BY_MODE,
        deliveries.DELIVER,
        clock.JOB,
        drawings.JOB,
        batches.JOB.name,
    }
    assert named <= set(app.tasks)
