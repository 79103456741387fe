"""A mark moves past a number only once nobody can commit a lower one any more."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections, transaction

from apps.core.marks import Mark
from apps.core.models import RowTurn

MARK = Mark("test:read")


@pytest.fixture
def committed(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Rows that other connections see."""
    with django_db_blocker.unblock():
        yield
        RowTurn.objects.filter(job=MARK.name).delete()


def test_a_mark_begins_at_nothing_and_follows_what_was_read(committed: None) -> None:
    assert MARK.place() == 0
    MARK.move(10)
    assert MARK.place() == 0, "nobody has looked again yet whether it has settled"
    MARK.move(12)

    assert MARK.place() == 10
    MARK.move(12)
    assert MARK.place() == 12


def test_a_mark_waits_for_whoever_may_still_commit_a_lower_number(committed: None) -> None:
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
    for _ in range(3):
        MARK.move(10)
    assert MARK.place() == 0
    may_commit.set()
    writer.join()
    MARK.move(11)

    assert MARK.place() == 10
