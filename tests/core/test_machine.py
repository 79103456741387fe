"""The one way in which a status changes: by the table, once, with its history in the same
transaction."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, transaction

from apps.core.clock import real_now
from apps.core.machine import Change, IllegalMove, Machine, Step, StepWithNote
from apps.core.models import OutgoingMail

_Status = OutgoingMail.Status
Letters = Machine[OutgoingMail, StepWithNote]
MOVES = {
    _Status.QUEUED: {_Status.QUEUED, _Status.SENT},
    _Status.SENT: {_Status.DROPPED},
    _Status.FAILED: (),
    _Status.DROPPED: (),
}
AT = real_now()


def email() -> OutgoingMail:
    to = "ann@example.com"
    made: OutgoingMail = OutgoingMail.objects.create(
        key=str(uuid4()), to=to, mailbox=to, template="x", sealed_letter="", created_at=AT
    )
    return made


def line(change: Change[OutgoingMail, StepWithNote]) -> tuple[str, str, str]:
    return change.before, change.step.status, change.step.note


@pytest.fixture
def history() -> list[tuple[str, str, str]]:
    return []


@pytest.fixture
def machine(history: list[tuple[str, str, str]]) -> Letters:
    made = Letters(MOVES)

    @made.recorder
    def record(changes: Sequence[Change[OutgoingMail, StepWithNote]]) -> None:
        history.extend(line(change) for change in changes)

    return made


def test_every_step_is_recorded_and_the_row_is_written_once(
    db: None, machine: Letters, history: list[object]
) -> None:
    row = email()
    assert machine.change_status(
        row,
        StepWithNote(_Status.SENT),
        StepWithNote(_Status.DROPPED, "too many"),
        at=AT,
        attempts=3,
    )
    assert history == [("queued", "sent", ""), ("sent", "dropped", "too many")]
    kept = OutgoingMail.objects.get(pk=row.pk)
    assert (kept.status, kept.attempts) == (row.status, row.attempts) == ("dropped", 3)


def test_a_step_that_the_table_does_not_have_changes_nothing(
    db: None, machine: Letters, history: list[object]
) -> None:
    row = email()
    with pytest.raises(IllegalMove):
        machine.change_status(row, StepWithNote(_Status.SENT), StepWithNote(_Status.QUEUED), at=AT)
    assert history == []
    assert OutgoingMail.objects.get(pk=row.pk).status == row.status == "queued"


def test_whoever_comes_second_changes_nothing_and_is_told(
    db: None, machine: Letters, history: list[object]
) -> None:
    row = email()
    other = OutgoingMail.objects.get(pk=row.pk)
    machine.change_status(other, StepWithNote(_Status.SENT), at=AT)
    assert not machine.change_status(row, StepWithNote(_Status.SENT), at=AT, attempts=9)
    assert row.status == "queued"
    assert len(history) == 1
    assert OutgoingMail.objects.get(pk=row.pk).attempts == 0
    with pytest.raises(IllegalMove, match="somebody else"):
        machine.change_locked(row, StepWithNote(_Status.SENT), at=AT)


def test_a_history_that_cannot_be_written_leaves_nothing_of_the_change_to_be_committed(
    db: None,
) -> None:
    machine = Letters(MOVES)
    row = email()

    @machine.recorder
    def record(changes: Sequence[Change[OutgoingMail, StepWithNote]]) -> None:
        raise ZeroDivisionError

    with transaction.atomic():
        with pytest.raises(ZeroDivisionError):
            machine.change_status(row, StepWithNote(_Status.SENT), at=AT)
        assert connection.needs_rollback  # even if the caller went on
    assert OutgoingMail.objects.get(pk=row.pk).status == "queued"


def test_a_machine_whose_history_nobody_writes_changes_nothing(db: None) -> None:
    row = email()
    with pytest.raises(IllegalMove, match="Nobody records"), transaction.atomic():
        Letters(MOVES).change_status(row, StepWithNote(_Status.SENT), at=AT)
    assert OutgoingMail.objects.get(pk=row.pk).status == "queued"
    assert Machine[OutgoingMail, Step](MOVES, has_history=False).change_status(
        email(), Step(_Status.SENT), at=AT
    )


def test_many_rows_change_in_one_statement_each_with_its_own_columns(
    db: None, machine: Letters, history: list[object], django_assert_num_queries: object
) -> None:
    rows = [email() for _ in range(3)]
    OutgoingMail.objects.filter(pk=rows[1].pk).update(status=_Status.FAILED)
    ats = [AT + timedelta(minutes=number) for number in range(3)]
    with django_assert_num_queries(1):  # type: ignore[operator]  # pytest-django has no type for it
        moved = machine.change_many(
            rows, StepWithNote(_Status.SENT), ats=ats, each={"attempts": [1, 2, 3]}, error="none"
        )
    assert moved == [rows[0], rows[2]]
    assert [(row.status, row.attempts, row.error) for row in rows] == [
        ("sent", 1, "none"),
        ("queued", 0, ""),
        ("sent", 3, "none"),
    ]
    assert history == [("queued", "sent", "")] * 2
    assert machine.change_many([], StepWithNote(_Status.SENT), ats=[], each={}) == []


def test_rows_are_changed_unread_only_where_no_history_is_lost(db: None, machine: Letters) -> None:
    row = email()
    rows = OutgoingMail.objects.all()
    with pytest.raises(IllegalMove):
        machine.change_all(rows, _Status.QUEUED, StepWithNote(_Status.SENT))
    silent = Machine[OutgoingMail, Step](MOVES, has_history=False)
    with pytest.raises(IllegalMove):
        silent.change_all(rows, _Status.SENT, Step(_Status.QUEUED))
    assert silent.change_all(rows, _Status.QUEUED, Step(_Status.SENT), attempts=1) == 1
    assert silent.change_all(rows, _Status.QUEUED, Step(_Status.SENT)) == 0
    assert OutgoingMail.objects.get(pk=row.pk).attempts == 1
