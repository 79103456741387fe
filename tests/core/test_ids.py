"""Ids of rows begin with the time, and never come twice."""

import uuid
from datetime import UTC, datetime, timedelta

import time_machine
from django.apps import apps as registry
from django.db import models

from apps.core.ids import IdField, new_id, time_of


def test_an_id_is_a_uuid_of_version_seven_that_tells_its_time() -> None:
    at = datetime(2026, 11, 22, 15, 5, 7, 250_000, tzinfo=UTC)
    with time_machine.travel(at, tick=False):
        made = new_id()
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == int(at.timestamp() * 1000)


def test_later_ids_sort_after_earlier_ones_within_a_millisecond_too() -> None:
    at = datetime(2026, 11, 22, 15, 5, 7, tzinfo=UTC)
    ids = []
    for microsecond in range(0, 2_000, 10):
        with time_machine.travel(at.replace(microsecond=microsecond), tick=False):
            ids.append(new_id())
    assert ids == sorted(ids)


def test_ids_of_one_moment_differ() -> None:
    with time_machine.travel(datetime(2026, 11, 22, tzinfo=UTC), tick=False):
        assert len({new_id() for _ in range(10_000)}) == 10_000


def test_every_key_that_is_a_uuid_is_made_so() -> None:
    wrong = [
        model.__name__
        for model in registry.get_models()
        if isinstance(model._meta.pk, models.UUIDField)
        and not isinstance(model._meta.pk, IdField)
        and model.__module__.startswith("apps.")
    ]
    assert wrong == []


def test_an_id_tells_when_it_was_made_unless_it_cannot_be_true() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    made = time_of(new_id())

    assert made is not None and before <= made <= datetime.now(UTC)
    assert time_of(uuid.uuid4()) is None
    assert time_of(uuid.UUID("ffffffff-ffff-7fff-bfff-ffffffffffff")) is None
    assert time_of(uuid.UUID("00000000-0000-7000-8000-000000000000")) == datetime(
        1970, 1, 1, tzinfo=UTC
    )
