"""One bad row stops nobody: in every job everybody else's rows go on within the same run, and staff
see the bad one."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from structlog.testing import capture_logs

from apps.core import clock, rows
from apps.core.models import RowFailure, RowTurn
from apps.core.rows import Job
from apps.stores.models import Store, User
from apps.stores.requests import StoreRequest
from apps.stores.services import create_store
from apps.webhooks.delivery import queue
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.cast import Cast, Shop
from tests.console.test_figures import told
from tests.core.loops import LOOPS, Loop, poison


@pytest.mark.parametrize("make_loop", LOOPS, ids=lambda loop: loop.__name__)
def test_a_row_that_raises_stops_nobody_elses(
    make_loop: Callable[[Shop], Loop], bakery: Shop
) -> None:
    loop = make_loop(bakery)
    poison(loop.bad)
    loop.run()
    assert loop.has_moved()
    failure = RowFailure.objects.get()
    assert (failure.job, failure.row_id, failure.tries, failure.dead_at) == (
        loop.job,
        str(loop.bad.pk),
        1,
        None,
    )
    assert "apps/" in failure.error and "a row that raises" not in failure.error
    loop.run()
    assert RowFailure.objects.get().tries == 1, "it waits out its pause"


def test_an_endpoint_whose_secret_can_not_be_read_keeps_no_delivery_of_others(bakery: Shop) -> None:
    for number in range(2):
        register_endpoint(
            bakery.access(),
            EndpointRequest(
                url=f"https://1.1.1.{number + 1}/hook", subscribed_events=["payment_intent.created"]
            ),
        )
    bad, good = Endpoint.objects.order_by("pk")
    Endpoint.objects.filter(pk=bad.pk).update(sealed_secret="nothing that was sealed")
    make.payment(bakery.test)
    (attempt,) = queue.claim(clock.real_now(), 10)
    assert attempt.delivery_id == Delivery.objects.get(endpoint=good).pk
    assert RowFailure.objects.get().row_id == str(Delivery.objects.get(endpoint=bad).pk)


# --- the runner -----------------------------------------------------------------------------------

JOB = Job("tests.users", limit=3)


@pytest.fixture
def people(db: None) -> list[User]:
    """Seven rows, in the order of their names."""
    return [
        User.objects.create(email=f"{number}@rows.example", name="a row") for number in range(7)
    ]


def users() -> Any:
    return User.objects.filter(email__endswith="@rows.example").order_by("email")


class Work:
    """Notes whom it saw; raises for the emails in `bad`."""

    def __init__(self, *bad: str) -> None:
        self.bad = set(bad)
        self.seen = list[str]()

    def __call__(self, user: User) -> None:
        self.seen.append(user.email[0])
        User.objects.filter(pk=user.pk).update(name="touched")
        if user.email[0] in self.bad:
            raise ValueError("the password is hunter2")


def due_again() -> None:
    RowFailure.objects.update(not_before=clock.real_now())


def test_a_failure_is_undone_kept_without_its_text_and_forgotten_by_a_success(
    people: list[User],
) -> None:
    work = Work("0")
    first = users().filter(email__startswith="0")
    assert JOB.walk(first, work) == 1
    failure = RowFailure.objects.get()
    assert failure.error.startswith("ValueError") and "hunter2" not in failure.error
    assert User.objects.get(pk=people[0].pk).name == "a row"
    assert JOB.walk(first, work) == 0
    due_again()
    work.bad.clear()
    assert JOB.walk(first, work) == 1 and not RowFailure.objects.exists()


def test_pauses_grow_to_an_hour_and_a_vital_rows_to_a_minute() -> None:
    seconds = [JOB.pause_after(tries).total_seconds() for tries in range(1, 13)]
    assert seconds == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]
    vital = Job("tests.chain", is_vital=True)
    assert (
        vital.pause_after(1).total_seconds() == 5
        and vital.pause_after(10_000).total_seconds() == 60
    )


def test_after_its_tries_a_row_waits_for_staff_who_have_it_tried_once_more(
    people: list[User], settings: Any
) -> None:
    settings.ROW_TRIES_MAX = 3
    work = Work("0")
    first = users().filter(email__startswith="0")
    for _ in range(5):
        JOB.walk(first, work)
        due_again()
    failure = RowFailure.objects.get()
    assert len(work.seen) == failure.tries == 3 and failure.dead_at is not None
    assert told()['tillgate_rows_dead{name="tests.users"}'] == 1
    assert rows.retry(RowFailure.objects.all()) == 1
    JOB.walk(first, work)
    assert len(work.seen) == 4 and RowFailure.objects.get().dead_at is not None
    work.bad.clear()
    rows.retry(RowFailure.objects.all())
    JOB.walk(first, work)
    assert not RowFailure.objects.exists() and rows.failing() == []


def test_a_vital_row_is_never_given_up(people: list[User], settings: Any) -> None:
    settings.ROW_TRIES_MAX = 2
    vital = Job("tests.chain", is_vital=True)
    work = Work("0")
    for _ in range(4):
        vital.walk(users().filter(email__startswith="0"), work)
        due_again()
    assert len(work.seen) == 4 and RowFailure.objects.get().dead_at is None


def test_paused_rows_take_no_place_and_what_had_none_is_looked_at_next(people: list[User]) -> None:
    work = Work("0", "1", "2")
    assert JOB.walk(users(), work) == 3
    for _ in range(2):
        JOB.walk(users(), work)
    assert set(work.seen) == set("0123456")


def test_rows_that_can_not_move_yet_keep_no_later_row_from_its_turn(people: list[User]) -> None:
    work = Work()
    for _ in range(3):
        assert JOB.walk(users(), work) == 3
    assert set(work.seen) == set("0123456")
    assert RowTurn.objects.get(job__startswith="tests.").job == "tests.users"
    assert JOB.walk(users().filter(email__startswith="6"), work) == 1 and work.seen[-1] == "6"


def test_a_lost_database_is_no_rows_error_and_ends_the_run_with_one_line(
    people: list[User], caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def lose(user: User) -> None:
        seen.append(user.email)
        raise OperationalError("the connection is lost")

    assert JOB.walk(users(), lose) == 0
    assert len(seen) == 1 and not RowFailure.objects.exists()
    assert [line.message.count("run_ended") for line in caplog.records] == [1]


def test_rows_done_together_are_done_apart_when_one_of_them_raises(people: list[User]) -> None:
    apart = Work("1")
    sets = list[list[str]]()

    def together(rows: Sequence[User]) -> list[User]:
        """All but the last; the set is undone when a bad row is in it."""
        sets.append([row.email[0] for row in rows])
        for row in rows[:-1]:
            User.objects.filter(pk=row.pk).update(name="together")
            if row.email[0] in apart.bad:
                raise ValueError("the password is hunter2")
        return list(rows[-1:])

    def run(*numbers: int) -> int:
        return JOB.each(lambda: [people[n] for n in numbers], apart, together=together)

    assert run(0, 2, 3) == 3
    assert (sets, apart.seen) == ([["0", "2", "3"]], ["3"])
    assert User.objects.get(pk=people[0].pk).name == "together"
    with capture_logs() as lines:
        assert run(4, 1, 5) == 3
    assert apart.seen == ["3", "4", "1", "5"]
    assert User.objects.get(pk=people[4].pk).name == "touched"
    assert RowFailure.objects.get().row_id == str(people[1].pk)
    assert [line["event"] for line in lines] == ["rows_done_apart", "row_failed"]
    assert "hunter2" not in lines[0]["error"]
    apart.bad.clear()
    assert run(1, 5, 6) == 3  # what failed before is done alone, and forgiven
    assert sets[-1] == ["5", "6"] and apart.seen[4:] == ["6", "1"]
    assert not RowFailure.objects.exists()


def test_a_partners_error_is_raised_on(people: list[User]) -> None:
    def away(user: User) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Job("tests.users", raises=(TimeoutError,)).walk(users(), away)
    assert not RowFailure.objects.exists()


def test_failures_of_rows_that_never_came_up_again_are_forgotten_but_not_dead_ones(
    people: list[User],
) -> None:
    JOB.walk(users().filter(email__lt="2"), Work("0", "1"))
    RowFailure.objects.filter(row_id=str(people[0].pk)).update(dead_at=clock.real_now())
    rows.forget(clock.real_now() + timedelta(days=8))
    assert RowFailure.objects.get().row_id == str(people[0].pk)


def test_stores_whose_clocks_are_ahead_are_asked_in_turns(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [
        create_store(cast.alice, StoreRequest(name="Branch", settlement_currency="EUR")).pk
        for _ in range(3)
    ]
    Store.objects.filter(pk__in=stores).update(test_offset_seconds=60)
    first, second, third = sorted(stores)
    job = Job("in turns")
    assert job.stores_ahead(Endpoint) == [first, second, third]
    assert not RowTurn.objects.filter(job__startswith="in turns").exists()

    monkeypatch.setattr(rows, "AHEAD_STORES_MAX", 2)
    asked = [job.stores_ahead(Endpoint) for _ in range(4)]

    assert asked == [[first, second], [third, first], [second, third], [first, second]]


def test_an_archive_takes_no_turn_of_the_clocks_that_are_ahead(cast: Cast) -> None:
    """Nothing goes on in it, whatever its clock says."""
    stores = [
        create_store(cast.alice, StoreRequest(name="Branch", settlement_currency="EUR")).pk
        for _ in range(2)
    ]
    Store.objects.filter(pk__in=stores).update(test_offset_seconds=60)
    in_use, archive = stores
    Store.objects.filter(pk=archive).update(archive_of=in_use)
    assert Job("of stores in use").stores_ahead(Endpoint) == [in_use]
