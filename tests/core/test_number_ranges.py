"""Histories are divided by the numbers of their lines: the next range is there before its time, a
number is there once in all of them, and what was written stays as it is in each."""

import json
import re
import uuid
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from apps.access import pruning
from apps.audit import verify
from apps.audit.grants import READER, ROLES, SIGNER, WEB, WORKER
from apps.core import clock
from apps.core.db import number_ranges, partitions
from apps.core.db.number_ranges import RANGE_ROWS
from apps.payments import seals
from apps.payments.models import PaymentEvent
from tests import make
from tests.cast import Shop
from tests.roles import acting_as

TABLE = PaymentEvent._meta.db_table
HISTORIES = [TABLE, "payouts_payouttransition", "swaps_swapstep"]


def ask(statement: str, *values: object) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def write(payment_id: str, number: int) -> None:
    PaymentEvent.objects.create(
        sequence=number,
        payment_id=payment_id,
        event_type="payment_intent.noted",
        created_at=clock.real_now(),
    )
    ask("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


def partition_of(number: int) -> str:
    ((name,),) = ask(f"SELECT tableoid::regclass::text FROM {TABLE} WHERE sequence = %s", number)
    return str(name)


def ranges(table: str = TABLE) -> dict[str, str]:
    return dict(
        ask(
            "SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i"
            f" JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = '{table}'::regclass"
        )
    )


@pytest.fixture
def payment_id(bakery: Shop) -> str:
    made = str(make.payment(bakery.test)["id"])
    ask("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
    return made


def test_histories_that_grow_with_every_payment_are_divided(db: None) -> None:
    assert list(number_ranges.rows_ahead()) == sorted(HISTORIES)
    for table in HISTORIES:
        assert ranges(table) == {
            f"{table}_first": f"FOR VALUES FROM (MINVALUE) TO ('{RANGE_ROWS}')",
            f"{table}_rest": "DEFAULT",
        }


def test_nothing_is_made_while_half_a_range_is_ahead(payment_id: str) -> None:
    before = ranges()

    write(payment_id, RANGE_ROWS // 2)
    number_ranges.make_ahead()

    assert ranges() == before
    assert number_ranges.rows_ahead()[TABLE] == RANGE_ROWS // 2 - 1


def test_the_next_range_is_made_by_the_job_when_less_is_ahead(payment_id: str) -> None:
    write(payment_id, RANGE_ROWS // 2 + 1)

    with acting_as(WORKER):
        pruning.prune_all(clock.real_now())
        pruning.prune_all(clock.real_now())

    assert set(ranges()) == {f"{TABLE}_first", f"{TABLE}_{RANGE_ROWS}", f"{TABLE}_rest"}
    assert ranges()[f"{TABLE}_{RANGE_ROWS}"] == (
        f"FOR VALUES FROM ('{RANGE_ROWS}') TO ('{2 * RANGE_ROWS}')"
    )
    assert number_ranges.rows_ahead()[TABLE] == 3 * RANGE_ROWS // 2 - 2
    for number, name in ((RANGE_ROWS - 1, "first"), (RANGE_ROWS, RANGE_ROWS)):
        write(payment_id, number)
        assert partition_of(number) == f"{TABLE}_{name}"
    found = {verdict.name for verdict in verify.verdicts() if verdict.findings}
    assert not found & {"guards_stand", "grants_stand", "policies_stand"}


def test_a_line_that_has_no_range_is_kept_and_the_next_range_begins_beyond(
    payment_id: str,
) -> None:
    late = 7 * RANGE_ROWS + 123
    write(payment_id, late)
    assert partition_of(late) == f"{TABLE}_rest"
    assert number_ranges.rows_ahead()[TABLE] == 0

    number_ranges.make_ahead()

    start = 7 * RANGE_ROWS + 1_000_000
    assert ranges()[f"{TABLE}_{start}"] == (f"FOR VALUES FROM ('{start}') TO ('{8 * RANGE_ROWS}')")
    assert partition_of(late) == f"{TABLE}_rest"
    write(payment_id, start)
    assert partition_of(start) == f"{TABLE}_{start}"
    of_payment = PaymentEvent.objects.filter(payment_id=payment_id).values_list("sequence")
    assert [number for (number,) in of_payment][-2:] == [late, start]


@pytest.fixture
def three_ranges(payment_id: str) -> list[int]:
    """A line in each, and one in `rest`."""
    write(payment_id, RANGE_ROWS - 1)
    number_ranges.make_ahead()
    numbers = [RANGE_ROWS - 1, RANGE_ROWS, 3 * RANGE_ROWS]
    for number in numbers[1:]:
        write(payment_id, number)
    names = [partition_of(number) for number in numbers]
    assert names == [f"{TABLE}_{name}" for name in ("first", RANGE_ROWS, "rest")]
    return numbers


def test_a_number_is_there_once_in_all_ranges(payment_id: str, three_ranges: list[int]) -> None:
    for number in three_ranges:
        with pytest.raises(IntegrityError, match="duplicate key"), transaction.atomic():
            write(payment_id, number)
        for name in ranges():
            with pytest.raises(IntegrityError), transaction.atomic():
                ask(f"INSERT INTO {name} SELECT * FROM {TABLE} WHERE sequence = %s", number)


def test_no_range_takes_a_line_of_a_payment_that_is_not_there(three_ranges: list[int]) -> None:
    for number in three_ranges:
        with pytest.raises(IntegrityError, match="foreign key"), transaction.atomic():
            write(str(uuid.uuid4()), number - 10)


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_no_line_is_changed_or_deleted_in_any_range(three_ranges: list[int], role: str) -> None:
    for statement in (
        f"UPDATE {TABLE} SET to_status = 'completed' WHERE sequence = ANY (%s)",
        f"DELETE FROM {TABLE} WHERE sequence = ANY (%s)",
    ):
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
            acting_as(role),
        ):
            ask(statement, three_ranges)


@pytest.mark.parametrize("role", ROLES)
def test_nobody_reaches_a_range_beside_its_table(three_ranges: list[int], role: str) -> None:
    for name in ranges():
        for statement in (
            f"SELECT count(*) FROM {name}",
            f"INSERT INTO {name} SELECT * FROM {TABLE} LIMIT 0",
            f"UPDATE {name} SET to_status = NULL",
            f"DELETE FROM {name}",
            f"TRUNCATE {name}",
            f"ALTER TABLE {TABLE} DETACH PARTITION {name}",
            f"DROP TABLE {name}",
        ):
            with pytest.raises(ProgrammingError), transaction.atomic(), acting_as(role):
                ask(statement)


@pytest.mark.parametrize(
    ("role", "table"),
    [
        (SIGNER, TABLE),
        (READER, TABLE),
        (WORKER, "ledger_entry"),
        (WORKER, "access_requestentry"),
        (WORKER, f"{TABLE}_first"),
    ],
)
def test_only_who_writes_lines_makes_their_ranges(db: None, role: str, table: str) -> None:
    with (
        pytest.raises(ProgrammingError, match="may not make ranges"),
        transaction.atomic(),
        acting_as(role),
    ):
        ask("SELECT number_range_make(%s)", table)


def test_sealing_reads_on_in_one_range(payment_id: str, three_ranges: list[int]) -> None:
    statement = seals._NEXT.replace("%s", "{}").format(RANGE_ROWS, RANGE_ROWS + 1000)
    ((plan,),) = ask(f"EXPLAIN (FORMAT JSON) {statement}")
    text = json.dumps(plan)

    assert set(re.findall(rf"{TABLE}_\w+", text)) - {f"{TABLE}_{RANGE_ROWS}_pkey"} == {
        f"{TABLE}_{RANGE_ROWS}"
    }


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_what_postgresql_knows_of_a_whole_history_is_brought_up_to_date_once_a_week(
    payment_id: str, three_ranges: list[int], role: str
) -> None:
    known = f"SELECT count(*) FROM pg_stats WHERE tablename = '{TABLE}' AND inherited"
    ask("SELECT pg_stat_reset_single_table_counters(%s::regclass)", TABLE)
    assert ask(known) == [(0,)]

    with acting_as(role):
        partitions.analyze_tables()

    assert ask(known)[0][0] > 5
