"""Old days of the request log are dropped whole, and new ones are there before their time."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from django.db import ProgrammingError, connection, transaction

from apps.access import pruning, request_log
from apps.access.models import RequestEntry
from apps.access.pruning import REQUEST_LOG
from apps.audit.grants import READER, ROLES, SIGNER, WEB, WORKER
from apps.core import clock
from apps.core.db import partitions, tenancy
from apps.core.db.partitions import DAY, Partition
from tests.cast import Cast, Shop, assemble
from tests.dashboard.browse import Browser
from tests.roles import acting_as
from tests.stage import standing

TABLE = RequestEntry._meta.db_table


def of_days() -> list[Partition]:
    return [part for part in partitions.partitions(REQUEST_LOG) if part.start is not None]


def suffix(part: Partition) -> str:
    return part.name.removeprefix(f"{TABLE}_")


def days_ahead(now: datetime) -> float:
    return float((partitions.covered_until(REQUEST_LOG, now) - now) / DAY)


def note(shop: Shop, at: datetime, **call: Any) -> None:
    """A call at that time, in the log."""
    values: dict[str, Any] = {
        "method": "GET",
        "route": "/payments",
        "path": "/payments",
        "status": 200,
        "request_id": "r",
        "duration_ms": 1,
        "idempotency_key": "",
        "is_replay": False,
        "body_digest": None,
        "error_code": "",
        "error_message": "",
        "record_id": None,
        "request_body": None,
        "response_body": None,
    }
    request_log.note(shop.access(), at, **{**values, **call})
    request_log.flush()
    check_now()


def check_now() -> None:
    """The check of a transaction at its end: no day is dropped before."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


def partition_of(at: datetime) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT tableoid::regclass FROM {TABLE} WHERE created_at = %s", [at])
        return str(cursor.fetchone()[0])


class Week(NamedTuple):
    cast: Cast
    now: datetime


def week() -> Week:
    """Now, with days since a week ago."""
    cast = assemble()
    now = clock.real_now()
    check_now()
    for partition in partitions.partitions(REQUEST_LOG):
        assert partitions.drop_before(REQUEST_LOG, partition.end) == {RequestEntry: 0}
    for n in range(REQUEST_LOG.ahead + 1):
        partitions.make_ahead(REQUEST_LOG, now - n * DAY)
    return Week(cast, now)


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[Week]:
    yield from standing(django_db_blocker, week)


@pytest.fixture
def cast(made: Week, db: None) -> Cast:
    return made.cast.again()


@pytest.fixture
def days(made: Week, db: None) -> datetime:
    return made.now


def test_a_call_is_kept_in_the_partition_of_its_day(bakery: Shop, days: datetime) -> None:
    for n in (0, 3):
        at = days - n * DAY
        note(bakery, at)
        assert partition_of(at) == f"{TABLE}_{at:%Y%m%d}"


def test_days_are_made_ahead_once(days: datetime) -> None:
    there = of_days()

    partitions.make_ahead(REQUEST_LOG, days)

    assert of_days() == there
    assert len(there) == 2 * REQUEST_LOG.ahead + 1
    assert REQUEST_LOG.ahead < days_ahead(days) <= REQUEST_LOG.ahead + 1


def test_a_call_of_a_day_that_nobody_made_is_kept_all_the_same(
    bakery: Shop, days: datetime
) -> None:
    late = days + 30 * DAY
    note(bakery, late)
    assert partition_of(late) == f"{TABLE}_rest"

    partitions.make_ahead(REQUEST_LOG, late)

    assert partition_of(late) == f"{TABLE}_rest"
    assert late.date() not in {part.start.date() for part in of_days() if part.start}
    assert (late + DAY).date() in {part.start.date() for part in of_days() if part.start}
    assert days_ahead(late) == 0
    assert pruning.prune_all(late + 31 * DAY)["request_entries"] == 1


def test_a_day_goes_when_all_of_it_was_kept_long_enough(bakery: Shop, days: datetime) -> None:
    midnight = days.replace(hour=0, minute=0, second=0, microsecond=0) - 2 * DAY
    for at in (midnight, midnight + DAY - timedelta(microseconds=1), midnight + DAY):
        note(bakery, at)
    before = f"{TABLE}_{midnight:%Y%m%d}"

    assert pruning.prune_all(midnight + 31 * DAY - timedelta(seconds=1))["request_entries"] == 0
    assert before in {part.name for part in of_days()}
    assert pruning.prune_all(midnight + 31 * DAY)["request_entries"] == 2

    assert before not in {part.name for part in of_days()}
    assert [row.created_at for row in RequestEntry.objects.all()] == [midnight + DAY]


def test_a_day_is_dropped_and_not_deleted(bakery: Shop, days: datetime) -> None:
    note(bakery, days - 2 * DAY)
    said: list[str] = []

    def listen(run: Any, text: str, *rest: Any) -> Any:
        said.append(text)
        return run(text, *rest)

    with connection.execute_wrapper(listen), acting_as(WORKER):
        assert pruning.prune_all(days + 31 * DAY)["request_entries"] == 1

    assert not [text for text in said if text.startswith(f'DELETE FROM "{TABLE}"')]


@pytest.mark.parametrize("role", [WEB, SIGNER, READER])
def test_only_who_may_delete_makes_and_drops_days(days: datetime, role: str) -> None:
    calls: dict[str, list[Any]] = {
        "partitions_drop(%s, %s, NULL)": [[TABLE], suffix(of_days()[0])],
        "partitions_make(%s, %s, %s, %s)": [
            *([TABLE], "later", str(days + 90 * DAY), str(days + 91 * DAY)),
        ],
    }
    for call, values in calls.items():
        with (
            pytest.raises(ProgrammingError, match="may not make or drop partitions"),
            transaction.atomic(),
            acting_as(role),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"SELECT {call}", values)


@pytest.mark.parametrize("name", ["stores_store", "webhooks_event"])
def test_a_worker_drops_nothing_else(days: datetime, name: str) -> None:
    with (
        pytest.raises(ProgrammingError),
        transaction.atomic(),
        acting_as(WORKER),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT partitions_drop(%s, %s, NULL)", [[TABLE], name])


@pytest.mark.parametrize("role", ROLES)
def test_nobody_reads_a_partition_beside_its_policies(
    bakery: Shop, days: datetime, role: str
) -> None:
    note(bakery, days)
    for part in (f"{TABLE}_{days:%Y%m%d}", f"{TABLE}_rest"):
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
            acting_as(role),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"SELECT count(*) FROM {part}")


def test_a_store_sees_the_rows_of_no_other_in_any_day(cast: Cast, days: datetime) -> None:
    note(cast.bakery, days)
    seen = []
    for shop in (cast.bakery, cast.strangers):
        with acting_as(WEB), transaction.atomic():
            tenancy.narrow(shop.store, modes=["test"])
            seen.append(RequestEntry.objects.count())
            tenancy.narrow(shop.store, modes=["live"])
            seen.append(RequestEntry.objects.count())

    assert seen == [1, 0, 0, 0]


def plan_of(rows: Any) -> dict[str, bool]:
    """The partitions in a plan, and whether any of their rows were looked for."""
    text, values = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", values)
        plans = cursor.fetchone()[0]
    found: dict[str, bool] = {}

    def walk(node: dict[str, Any]) -> None:
        name = node.get("Relation Name")
        if name and node.get("Parent Relationship") != "SubPlan":
            found[name] = found.get(name, False) or node["Actual Loops"] > 0
        for child in node.get("Plans", []):
            if child.get("Parent Relationship") != "SubPlan":
                walk(child)

    walk((json.loads(plans) if isinstance(plans, str) else plans)[0]["Plan"])
    return found


def test_the_newest_page_reads_the_newest_days_alone(
    bakery: Shop, days: datetime, settings: Any
) -> None:
    settings.REQUEST_LOG_DAYS = REQUEST_LOG.ahead
    for n in range(REQUEST_LOG.ahead):
        for second in range(3):
            note(bakery, days - n * DAY - timedelta(seconds=second))

    plan = plan_of(request_log.entries(bakery.access())[:2])

    assert f"{TABLE}_rest" not in plan
    read = {name for name, is_read in plan.items() if is_read}
    today, tomorrow = (f"{TABLE}_{days + n * DAY:%Y%m%d}" for n in (0, 1))
    yesterday = f"{TABLE}_{days - DAY:%Y%m%d}"
    assert today in read and read <= {tomorrow, today, yesterday}
    assert len(plan) > REQUEST_LOG.ahead


def test_a_page_from_a_moment_on_opens_no_later_day(bakery: Shop, days: datetime) -> None:
    for n in range(REQUEST_LOG.ahead):
        note(bakery, days - n * DAY)
    moment = days - 4 * DAY

    plan = plan_of(
        request_log.entries(bakery.access()).filter(
            created_at__lte=moment, created_at__gt=moment - DAY
        )
    )

    assert set(plan) <= {f"{TABLE}_{moment - n * DAY:%Y%m%d}" for n in (0, 1)}


def words_of(page: Any) -> str:
    """Without the places where a line may break."""
    return str(page.content.decode()).replace("<wbr>", "")


def test_pages_show_what_is_in_several_days(bakery: Shop, days: datetime) -> None:
    for n in range(3):
        note(bakery, days - n * DAY, path=f"/of/{n}")
    newest = RequestEntry.objects.order_by("created_at").first()
    assert newest is not None
    browser = Browser(bakery.owner).prove()

    listed = browser.get("/dashboard/requests?mode=test")
    shown = browser.get(f"/dashboard/requests/{newest.pk}?mode=test")

    assert [f"/of/{n}" in words_of(listed) for n in range(3)] == [True] * 3
    assert shown.status_code == 200 and "/of/2" in words_of(shown)


@pytest.mark.parametrize(
    "id",
    ["ffffffff-ffff-7fff-bfff-ffffffffffff", "00000000-0000-7000-8000-000000000000", "7", "%00"],
)
def test_a_call_that_nobody_made_is_not_found(bakery: Shop, days: datetime, id: str) -> None:
    shown = Browser(bakery.owner).prove().get(f"/dashboard/requests/{id}?mode=test")

    assert shown.status_code == 404
