"""Events of before become the first partition while others write, or that for the rest, and go
back; a month goes beside those who write: in a database of its own, with threads."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module

import psycopg
import pytest
from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.state import ProjectState

from apps.assets.rates import refresh
from apps.audit import grants, policies
from apps.core import clock, ids
from apps.core.db import partitions
from apps.webhooks import pruning
from apps.webhooks.models import Attempt, Delivery, Event
from apps.webhooks.pruning import MONTHS
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import auditing, make
from tests.cast import Cast, assemble
from tests.core.test_dividing_histories import ask, writing
from tests.growth.seed import forget
from tests.ledger.test_another_cluster import Server, _django_db_helper, address, here
from tests.stack import wait_for

__all__ = ["_django_db_helper", "here"]
# Migrations go around a pooler.
pytestmark = pytest.mark.direct
OPERATIONS = import_module("apps.webhooks.migrations.0002_months").Migration.operations
NOTHING = ProjectState()
TABLES = MONTHS.tables
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
# Without a column that is newer.
ROWS = "SELECT md5((to_jsonb(t) - 'is_ready')::text) FROM {} t ORDER BY 1"


def migrate() -> None:
    """Run the command on the database for this migration; its state of all models is no part of
    that."""
    with connection.schema_editor(atomic=True) as editor:
        for operation in OPERATIONS:
            operation.database_forwards("webhooks", editor, NOTHING, NOTHING)
    grants.apply()
    policies.apply()


def migrate_back() -> None:
    with connection.schema_editor(atomic=True) as editor:
        for operation in reversed(OPERATIONS):
            operation.database_backwards("webhooks", editor, NOTHING, NOTHING)
    grants.apply()
    policies.apply()


def rows() -> dict[str, list[tuple[str]]]:
    return {table: ask(ROWS.format(table)) for table in [*TABLES, "webhooks_queueddelivery"]}


def made() -> dict[str, list[tuple[str]]]:
    policies = "SELECT polname::text, pg_get_expr(polqual, polrelid) FROM pg_policy WHERE polrelid"
    triggers = "SELECT tgname::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
    return {
        table: ask(MADE.format(table=table))
        + ask(f"{policies} = '{table}'::regclass ORDER BY 1")
        + ask(f"{triggers} AND tgrelid = '{table}'::regclass ORDER BY 1")
        for table in TABLES
    }


def places(table: str) -> dict[str, int]:
    counts = ask(f"SELECT tableoid::regclass::text, count(*) FROM {table} GROUP BY 1")
    return {str(name).removeprefix(f"{table}_"): count for name, count in counts}


def partition_names() -> set[str]:
    found = ask(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'webhooks_event'::regclass"
    )
    return {str(name).removeprefix("webhooks_event_") for (name,) in found}


@pytest.fixture
def cast(here: Server) -> Iterator[Cast]:
    forget()
    refresh()
    yield assemble()
    forget()


@pytest.fixture
def town(cast: Cast) -> Cast:
    """With events, deliveries of which one has ended, and an attempt."""
    register_endpoint(
        cast.bakery.access(),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.created"]),
    )
    for _ in range(3):
        make.payment(cast.bakery.test)
    first = Delivery.objects.order_by("pk")[0]
    Attempt.objects.create(delivery=first, number=1, at=clock.real_now(), duration_ms=20)
    Delivery.objects.filter(pk=first.pk).update(
        status=Delivery.Status.FAILED, next_attempt_at=None, attempts=10
    )
    assert all(rows().values())
    return cast


def test_events_of_before_become_the_first_partition_and_go_back(town: Cast) -> None:
    divided = made()
    month = f"{clock.real_now():%Y%m}"
    assert {name: set(places(name)) for name in TABLES} == {name: {month} for name in TABLES}
    before = rows()
    migrate_back()
    assert rows() == before
    whole = made()
    assert partition_names() == set()

    with writing(lambda: make.payment(town.bakery.test) and None) as times:
        migrate()

    assert max(times) < 20
    after = rows()
    assert all(set(before[name]) <= set(after[name]) for name in before)
    assert {name: set(places(name)) for name in TABLES} == {name: {"first"} for name in TABLES}
    assert made() == divided
    assert auditing.breaches(has_migrated=True) == []
    now = clock.real_now()
    partitions.make_ahead(MONTHS, now)
    next_month = MONTHS.scale.after(MONTHS.scale.start_of(now))
    assert partition_names() == {"first", "rest", f"{next_month:%Y%m}"}
    assert partitions.covered_until(MONTHS, now) == MONTHS.scale.after(next_month)
    migrate_back()
    assert made() == whole and rows() == after
    make.payment(town.bakery.test)
    migrate()
    assert auditing.breaches(has_migrated=True) == []


def test_ids_that_do_not_say_their_time_are_found_as_before(town: Cast) -> None:
    migrate_back()
    with transaction.atomic():
        for table, column in (("webhooks_event", "id"), ("webhooks_delivery", "event_id")):
            far = f"overlay({column}::text PLACING 'f' FROM 1)::uuid"
            ask(f"UPDATE {table} SET {column} = {far}")
    before = rows()

    migrate()

    assert rows() == before
    assert partition_names() == {"rest"}
    event = Event.objects.order_by("pk")[0]
    assert str(event.pk)[0] == "f" and Delivery.objects.filter(event=event).exists()
    make.payment(town.bakery.test)
    now = clock.real_now()
    partitions.make_ahead(MONTHS, now)
    next_month = MONTHS.scale.after(MONTHS.scale.start_of(now))
    assert partition_names() == {"rest", f"{next_month:%Y%m}"}
    assert auditing.breaches(has_migrated=True) == []
    Delivery.objects.update(status=Delivery.Status.IGNORED)
    gone = pruning.prune_all(now + timedelta(days=91))
    assert gone == {"events": 4, "deliveries": 4, "attempts": 1}


def old_event(age_days: int) -> Event:
    """An event of a month that is long over, which is there for it."""
    at = clock.real_now() - timedelta(days=age_days)
    partitions.make_ahead(MONTHS, at)
    event = Event.objects.order_by("pk")[0]
    event.pk = uuid.UUID(int=ids.first_id(at).int | 1)
    event.created_at = at
    event.save(force_insert=True)
    return event


def test_whoever_writes_waits_only_a_moment_for_a_month_that_is_read(
    town: Cast, here: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "PAUSE_SECONDS", 0.2)
    now = clock.real_now()
    # Of the last month that goes as a whole: an older one would go row by row.
    kept_from = now - timedelta(days=settings.WEBHOOK_KEPT_DAYS)
    event = old_event((now - kept_from.replace(day=1)).days + 1)
    month = f"{event.created_at:%Y%m}"

    with psycopg.connect(address(here)) as long:
        long.execute("SELECT count(*) FROM webhooks_event")
        with writing(lambda: make.payment(town.bakery.test) and None) as times:
            gone = pruning.prune_all(now)
        assert gone["events"] == 0 and month in partition_names()
        assert max(times) < 20
        long.rollback()
    with writing(lambda: make.payment(town.bakery.test) and None) as times:
        wait_for(lambda: pruning.prune_all(now)["events"], lambda count: count == 1)

    assert month not in partition_names() and max(times) < 20
    assert not Event.objects.filter(pk=event.pk).exists()
    assert auditing.breaches(has_migrated=True) == []
