"""A mark moves past a number only in a run that sees everything up to it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, connections, transaction

from apps.core.marks import ReadingMark
from apps.core.models import RowTurn

MARK = ReadingMark("test:read")


@pytest.fixture
def committed(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Rows that other connections see."""
    with django_db_blocker.unblock():
        yield
        RowTurn.objects.filter(job=MARK.name).delete()


@contextmanager
def writing() -> Iterator[None]:
    """Another transaction that writes, and commits at the end."""
    has_drawn = threading.Event()
    may_commit = threading.Event()

    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()")
            has_drawn.set()
            may_commit.wait(30)
        connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    assert has_drawn.wait(30)
    yield
    may_commit.set()
    writer.join()


def test_a_mark_begins_at_nothing_and_follows_what_was_read(committed: None) -> None:
    assert MARK.begin().place == 0
    MARK.begin().end(10)
    assert MARK.begin().place == 0, "nobody has looked again yet whether it has settled"
    MARK.begin().end(12)

    assert MARK.begin().place == 10
    MARK.begin().end(12)
    assert MARK.begin().place == 12


def test_a_mark_waits_for_whoever_may_still_commit_a_lower_number(committed: None) -> None:
    with writing():
        for _ in range(3):
            MARK.begin().end(10)
        assert MARK.begin().place == 0
    MARK.begin().end(11)

    assert MARK.begin().place == 10


def test_a_lower_number_that_is_committed_while_a_run_reads_is_read_by_the_next(
    committed: None,
) -> None:
    with writing():
        MARK.begin().end(10)
        reading = MARK.begin()
    reading.end(11)

    assert MARK.begin().place == 0
    MARK.begin().end(11)
    assert MARK.begin().place == 10


def test_a_mark_from_another_cluster_has_settled(committed: None) -> None:
    """No transaction of that cluster runs here; its numbers may be far ahead of this cluster's."""
    for number in ("9000000000000", "3"):
        RowTurn.objects.update_or_create(job=MARK.name, defaults={"row_id": f"5:9:{number}"})
        MARK.begin().end(12)
        assert MARK.begin().place >= 9
