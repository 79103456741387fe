"""A job that is named anywhere reaches a worker as the message that Celery's own client would have
sent."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from apps.chain.models import OutgoingTransaction
from apps.chain.sending.lanes import news_of
from apps.core import jobs
from apps.core.documents import drawings
from apps.core.redis import buckets
from apps.payouts.services import batches
from apps.webhooks.services import deliveries
from config.celery import PERIODIC, app
from config.followers import FOLLOWERS, JOBS_BY_MODE
from tests.house.files import ROOT, trees


@pytest.fixture(autouse=True)
def _empty_queues() -> None:
    buckets.client().delete(*jobs.QUEUES)


def taken(queue: str) -> Any:
    """The next message of a queue, as a worker takes it from the broker."""
    with app.connection_for_read() as connection:
        return connection.default_channel.basic_get(queue, no_ack=True)


def meaning(message: Any) -> tuple[Any, ...]:
    """A worker's reading of the message."""
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
        *((f"{job}.draw", ["a"], job) for job in jobs.OWN_QUEUES),
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
    (kept,) = [json.loads(bucket) for bucket in buckets.client().lrange("celery", 0, -1)]
    with app.connection_for_read() as connection:
        channel = connection.default_channel
        assert channel.basic_get("celery").delivery_tag == kept["properties"]["delivery_tag"]
        channel.basic_reject(kept["properties"]["delivery_tag"], requeue=True)
    assert taken("celery") is not None


def names_said_to(tree: ast.AST, *functions: str) -> Iterator[str]:
    """The names in `enqueue("a.b")`, if that is among the functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            first = node.args[0] if node.args else None
            if called in functions and isinstance(first, ast.Constant):
                yield str(first.value)


def sources_with(*words: str) -> Iterator[tuple[str, ast.AST]]:
    """Each source of the apps that has one of the words, with the app that it is of."""
    for path, tree in trees(rf"\b({'|'.join(map(re.escape, words))})\b", "apps"):
        yield path.relative_to(ROOT).parts[1], tree


def said_to(*functions: str) -> set[tuple[str, str]]:
    """App and name of all that is said to them."""
    return {
        (of, name)
        for of, tree in sources_with(*functions)
        for name in names_said_to(tree, *functions)
    }


def test_every_job_that_is_named_is_a_task() -> None:
    """A task that was renamed would be woken by nobody, and its work come late, by the sweep
    alone."""
    app.loader.import_default_modules()
    named = {name for _, name in said_to("enqueue", "nudge")}
    assert len(named) > 10
    followers = {job for jobs_of_one in FOLLOWERS.values() for job in jobs_of_one}
    others = {deliveries.DELIVER, drawings.JOB, batches.JOB.name}
    assert {*named, *followers, *JOBS_BY_MODE, *PERIODIC, *others} <= set(app.tasks)


def test_what_is_announced_has_followers_and_the_table_has_nothing_else() -> None:
    announced = said_to("announce", "followers")
    assert {name.partition(".")[0] for _, name in announced} == {of for of, _ in announced}
    news = {news_of(item) for item in OutgoingTransaction.Purpose.values}
    assert {name for _, name in announced} | news == set(FOLLOWERS)


@cache
def storeys() -> dict[str, int]:
    """How high each app is, the lowest being 0."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(contract for contract in contracts["contracts"] if contract["type"] == "layers")[
        "layers"
    ]
    return {
        name.strip(): height
        for height, layer in enumerate(reversed(layers))
        for name in layer.split("|")
    }


def jobs_of_others_above(tree: ast.AST, of: str, owners: dict[str, str]) -> set[str]:
    """The names of jobs anywhere in the source, of apps that it may not import."""
    heights = storeys()
    texts = {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {
        job
        for job in texts & set(owners)
        if owners[job] != of and heights[owners[job]] >= heights[of]
    }


def owners_of_jobs() -> dict[str, str]:
    app.loader.import_default_modules()
    return {
        name: task.__module__.split(".")[1]
        for name, task in app.tasks.items()
        if task.__module__.startswith("apps.")
    }


def test_no_app_names_a_job_of_an_app_above_it() -> None:
    owners = owners_of_jobs()
    assert len(owners) > 40
    found = {
        (of, job)
        for of, tree in sources_with(*owners)
        for job in jobs_of_others_above(tree, of, owners)
    }
    assert found == set()


def test_the_rule_about_jobs_above_finds_what_it_should() -> None:
    upward = ast.parse('jobs.enqueue("payouts.advance"); jobs.enqueue("webhooks.deliver")')
    owners = owners_of_jobs()
    assert jobs_of_others_above(upward, "payments", owners) == {"payouts.advance"}
    assert jobs_of_others_above(upward, "ledger", owners) == {"payouts.advance", "webhooks.deliver"}
    assert jobs_of_others_above(upward, "payouts", owners) == set()
