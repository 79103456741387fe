"""One snapshot on several connections: all of them see the same rows, whatever is committed
meanwhile."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.db import InternalError, connection, transaction

from apps.core.db.snapshot import CONNECTIONS, one_snapshot
from apps.core.models import Lease
from tests import postgres

SECONDS_MAX = 60


@pytest.fixture
def committed(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Other connections see what is written."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def somebody_commits(committed: None) -> Iterator[Callable[[], None]]:
    with psycopg.connect(postgres.direct_url(), autocommit=True) as other:
        yield lambda: _number_of_a_transaction(other)


def _number_of_a_transaction(other: psycopg.Connection) -> None:
    other.execute("SELECT pg_current_xact_id()")


def seen() -> tuple[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text, pg_backend_pid()")
        snapshot, process = cursor.fetchone()
    return snapshot, process


def test_every_connection_sees_what_the_first_one_saw(
    somebody_commits: Callable[[], None],
) -> None:
    everybody = threading.Barrier(CONNECTIONS)

    def ask(number: int) -> tuple[int, str, int]:
        if number < CONNECTIONS:  # by each connection one
            everybody.wait(SECONDS_MAX)
        somebody_commits()
        return (number, *seen())

    with one_snapshot() as snapshot:
        first = seen()[0]
        answers = snapshot.answers(ask, range(3 * CONNECTIONS))

    assert [number for number, _, _ in answers] == list(range(3 * CONNECTIONS))
    assert {snapshot for _, snapshot, _ in answers} == {first} != {seen()[0]}
    assert len({process for _, _, process in answers}) == CONNECTIONS


def test_an_error_on_another_connection_is_raised(committed: None) -> None:
    everybody = threading.Barrier(CONNECTIONS)

    def ask(number: int) -> None:
        everybody.wait(SECONDS_MAX)
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("of the other connection")

    with pytest.raises(ValueError, match="of the other"), one_snapshot() as snapshot:
        snapshot.answers(ask, range(CONNECTIONS))


def test_after_an_error_no_other_question_is_asked(committed: None) -> None:
    asked = []

    def ask(number: int) -> None:
        if number < CONNECTIONS:
            raise ValueError
        asked.append(number)

    with pytest.raises(ValueError), one_snapshot() as snapshot:
        snapshot.answers(ask, range(100))
    assert asked == []


def test_nothing_is_written_on_any_connection(committed: None) -> None:
    everybody = threading.Barrier(CONNECTIONS)

    def ask(number: int) -> str:
        everybody.wait(SECONDS_MAX)
        with pytest.raises(InternalError, match="read-only"), transaction.atomic():
            Lease.objects.all().delete()
        return "refused"

    with one_snapshot() as snapshot:
        assert snapshot.answers(ask, range(CONNECTIONS)) == ["refused"] * CONNECTIONS


def test_a_callers_transaction_is_read_by_its_own_connection(committed: None) -> None:
    with transaction.atomic():
        own = seen()[1]
        with one_snapshot() as snapshot:
            assert set(snapshot.answers(lambda _: seen()[1], range(4))) == {own}
