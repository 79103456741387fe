"""A range of a history is made beside those who write: in a database of its own, with threads."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from apps.assets.rates import refresh
from apps.core import clock
from apps.core.db import number_ranges, partitions
from apps.core.db.number_ranges import RANGE_ROWS
from apps.payments import seals
from tests import auditing, make
from tests.cast import Cast, assemble
from tests.growth.seed import forget
from tests.ledger.test_another_cluster import Server, _django_db_helper, address, here
from tests.stack import wait_for

__all__ = ["_django_db_helper", "here"]
# In a database of its own, which a pooler doesn't know.
pytestmark = pytest.mark.direct
TABLE = "payments_paymentevent"


def ask(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def partition_names() -> set[str]:
    return {
        str(name)
        for (name,) in ask(
            f"SELECT inhrelid::regclass::text FROM pg_inherits"
            f" WHERE inhparent = '{TABLE}'::regclass"
        )
    }


def numbered_from(number: int) -> None:
    ask(f"SELECT setval(pg_get_serial_sequence('{TABLE}', 'sequence'), {number}, false)")


def newest() -> int:
    ((number,),) = ask(f"SELECT max(sequence) FROM {TABLE}")
    return int(number)


def make_range() -> None:
    """As jobs do, run after run: PostgreSQL may be vacuuming what is to be locked."""

    def made() -> int:
        number_ranges.make_ahead()
        return number_ranges.rows_ahead()[TABLE]

    wait_for(made, lambda ahead: ahead >= RANGE_ROWS // 2)


@pytest.fixture
def cast(here: Server) -> Iterator[Cast]:
    forget()
    refresh()
    yield assemble()
    forget()


@contextmanager
def writing(work: Callable[[], object]) -> Iterator[list[float]]:
    """Somebody does it again and again meanwhile, twice at least; how long each time took."""
    times: list[float] = []
    errors: list[Exception] = []
    is_over = threading.Event()

    def run() -> None:
        try:
            while not is_over.is_set() or len(times) < 2:
                began = time.monotonic()
                work()
                times.append(time.monotonic() - began)
                time.sleep(0.02)  # fewer than a caller may
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield times
    finally:
        is_over.set()
        thread.join(30)
    assert errors == [] and len(times) > 1


def test_a_range_is_made_beside_those_who_write(cast: Cast) -> None:
    numbered_from(RANGE_ROWS // 2 + 1)
    make.payment(cast.bakery.test)

    with writing(lambda: make.payment(cast.bakery.test)) as times:
        make_range()
        numbered_from(RANGE_ROWS - 10)
        while newest() < RANGE_ROWS + 20:
            time.sleep(0.05)

    assert partition_names() == {f"{TABLE}_first", f"{TABLE}_{RANGE_ROWS}", f"{TABLE}_rest"}
    assert max(times) < 20
    counts = dict(ask(f"SELECT tableoid::regclass::text, count(*) FROM {TABLE} GROUP BY 1"))
    assert counts[f"{TABLE}_first"] > 10
    assert counts[f"{TABLE}_{RANGE_ROWS}"] > 20
    assert f"{TABLE}_rest" not in counts
    ((numbers, payments),) = ask(
        f"SELECT count(DISTINCT sequence), (SELECT count(*) FROM payments_payment) FROM {TABLE}"
    )
    assert numbers == payments
    assert seals.seal_payments(clock.real_now()) > 0
    assert auditing.breaches(has_migrated=True) == []


def test_whoever_writes_waits_only_a_moment_for_a_range_that_cannot_be_made_yet(
    cast: Cast, here: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "PAUSE_SECONDS", 0.2)
    numbered_from(RANGE_ROWS - 200)
    payment = make.payment(cast.bakery.test)

    with psycopg.connect(address(here)) as long:
        long.execute("UPDATE payments_payment SET title = 'long' WHERE id = %s", [payment["id"]])
        with writing(lambda: make.payment(cast.bakery.test)) as times:
            number_ranges.make_ahead()
        assert partition_names() == {f"{TABLE}_first", f"{TABLE}_rest"}
        assert max(times) < 20
        long.rollback()
    make_range()

    assert f"{TABLE}_{RANGE_ROWS}" in partition_names()


def test_two_who_make_a_range_make_one(cast: Cast) -> None:
    numbered_from(RANGE_ROWS - 200)
    make.payment(cast.bakery.test)

    def other() -> None:
        try:
            number_ranges.make_ahead()
        finally:
            connection.close()

    thread = threading.Thread(target=other)
    with transaction.atomic():
        number_ranges.make_ahead()
        thread.start()
        time.sleep(0.1)
    thread.join(30)

    assert partition_names() == {f"{TABLE}_first", f"{TABLE}_{RANGE_ROWS}", f"{TABLE}_rest"}
