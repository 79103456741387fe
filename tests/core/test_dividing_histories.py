"""Histories of before become the first range while payments are made, and go back; a range is made
beside those who write: in a database of its own, with threads."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from apps.assets.rates import refresh
from apps.audit import verify
from apps.core import clock
from apps.core.db import number_ranges, partitions
from apps.core.db.first_ranges import RANGE_ROWS
from apps.payments import seals
from tests import make
from tests.cast import Cast, assemble
from tests.growth.seed import forget
from tests.ledger.test_another_cluster import Server, _django_db_helper, address, here
from tests.stack import wait_for

__all__ = ["_django_db_helper", "here"]
# Migrations go around a pooler.
pytestmark = pytest.mark.direct
BEFORE = [
    ("payments", "0040_read_by_indexes_alone"),
    ("payouts", "0022_newest_of_an_agent"),
    ("swaps", "0005_one_index_of_values"),
]
KEYS = {
    "payments_paymentevent": "sequence",
    "payouts_payouttransition": "id",
    "swaps_swapstep": "id",
}
TABLE = "payments_paymentevent"
ROW = "md5(t::text)"
# What is of a table by name: keys, references, indexes, what roles may do, how it numbers.
MADE = """
SELECT conname::text, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = '{table}'::regclass AND contype IN ('p', 'f', 'c', 'u')
UNION ALL SELECT indexrelid::regclass::text, replace(pg_get_indexdef(indexrelid), ' ONLY ', ' ')
    FROM pg_index WHERE indrelid = '{table}'::regclass
UNION ALL SELECT grantee::regrole::text, privilege_type FROM pg_class, aclexplode(relacl)
    WHERE oid = '{table}'::regclass AND grantee <> relowner
UNION ALL SELECT attname::text, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull,
    attidentity, pg_get_serial_sequence('{table}', attname)) FROM pg_attribute
    WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped
ORDER BY 1, 2
"""


def ask(statement: str, *values: object) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def migrate_back() -> None:
    MigrationExecutor(connection).migrate(BEFORE)


def migrate() -> None:
    call_command("migrate", verbosity=0)


def lines() -> dict[str, list[tuple[Any, ...]]]:
    return {
        table: ask(f"SELECT {key}, {ROW} FROM {table} t ORDER BY {key}")
        for table, key in KEYS.items()
    }


def made() -> dict[str, list[tuple[Any, ...]]]:
    return {table: ask(MADE.format(table=table)) for table in KEYS}


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
    wait_for(
        lambda: number_ranges.make_ahead() or number_ranges.rows_ahead()[TABLE],
        lambda ahead: ahead >= RANGE_ROWS // 2,
    )


@pytest.fixture
def cast(here: Server) -> Iterator[Cast]:
    forget()
    refresh()
    yield assemble()
    forget()


@pytest.fixture
def town(cast: Cast) -> Cast:
    """With lines in each history."""
    for number in range(3):
        make.paid(cast.bakery.test, key=f"paid {number}")
    make.payout(cast.bakery.test, make.funded(cast.bakery.test) // 2)
    make.swapped(cast.bakery)
    assert all(lines().values())
    return cast


@contextmanager
def writing(work: Callable[[], None]) -> Iterator[list[float]]:
    """Somebody does it again and again meanwhile; how long each time took."""
    times: list[float] = []
    errors: list[Exception] = []
    is_over = threading.Event()

    def run() -> None:
        try:
            while not is_over.is_set():
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


def test_histories_of_before_become_the_first_range_and_go_back(town: Cast) -> None:
    divided = made()
    migrate_back()
    whole = made()
    assert whole == divided
    assert partition_names() == set()
    before = lines()
    number = newest()

    with writing(lambda: make.payment(town.bakery.test) and None):
        migrate()

    assert made() == divided
    after = lines()
    for table, rows in before.items():
        assert after[table][: len(rows)] == rows
        ((count,),) = ask(f"SELECT count(*) FROM {table}_first")
        assert count == len(after[table])
    numbers = [row[0] for row in after[TABLE]]
    assert len(numbers) > len(before[TABLE])
    assert numbers == sorted(set(numbers)) and numbers[len(before[TABLE])] == number + 1
    assert seals.seal_payments(clock.real_now()) > 0
    assert verify.findings() == []

    assert number_ranges.rows_ahead()[TABLE] > RANGE_ROWS
    numbered_from(2 * RANGE_ROWS - 2)
    make.payment(town.bakery.test)
    make_range()
    for _ in range(3):
        make.payment(town.bakery.test)
    assert ask(f"SELECT count(*) FROM {TABLE}_{2 * RANGE_ROWS}") == [(2,)]
    migrate_back()
    united = lines()
    assert united[TABLE][: len(after[TABLE])] == after[TABLE]
    assert len(united[TABLE]) == len(after[TABLE]) + 4
    make.payment(town.bakery.test)
    assert newest() == 2 * RANGE_ROWS + 2
    assert made() == divided
    migrate()
    assert lines()[TABLE][:-1] == united[TABLE]
    make.payment(town.bakery.test)
    assert newest() == 2 * RANGE_ROWS + 3
    assert verify.findings() == []


def test_a_range_is_made_beside_those_who_write(cast: Cast) -> None:
    numbered_from(RANGE_ROWS // 2 + 1)
    make.payment(cast.bakery.test)

    with writing(lambda: make.payment(cast.bakery.test) and None) as times:
        make_range()
        numbered_from(RANGE_ROWS - 10)
        while newest() < RANGE_ROWS + 20:
            time.sleep(0.05)

    assert partition_names() == {f"{TABLE}_first", f"{TABLE}_{RANGE_ROWS}", f"{TABLE}_rest"}
    assert max(times) < 2
    counts = dict(ask(f"SELECT tableoid::regclass::text, count(*) FROM {TABLE} GROUP BY 1"))
    assert counts[f"{TABLE}_first"] > 10
    assert counts[f"{TABLE}_{RANGE_ROWS}"] > 20
    assert f"{TABLE}_rest" not in counts
    ((numbers, payments),) = ask(
        f"SELECT count(DISTINCT sequence), (SELECT count(*) FROM payments_payment) FROM {TABLE}"
    )
    assert numbers == payments
    assert seals.seal_payments(clock.real_now()) > 0
    assert verify.findings() == []


def test_whoever_writes_waits_only_a_moment_for_a_range_that_cannot_be_made_yet(
    cast: Cast, here: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "PAUSE_SECONDS", 0.2)
    numbered_from(RANGE_ROWS - 200)
    payment = make.payment(cast.bakery.test)

    with psycopg.connect(address(here)) as long:
        long.execute("UPDATE payments_payment SET title = 'long' WHERE id = %s", [payment["id"]])
        with writing(lambda: make.payment(cast.bakery.test) and None) as times:
            number_ranges.make_ahead()
        assert partition_names() == {f"{TABLE}_first", f"{TABLE}_rest"}
        assert max(times) < 2
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
