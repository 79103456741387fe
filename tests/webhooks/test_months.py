"""Events are in the month of their ID with all of their deliveries and attempts, whenever those
were made; nobody reads a month beside its table's policies."""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from apps.audit.grants import ROLES, WEB, WORKER
from apps.core import clock, ids
from apps.core.db import partitions, tenancy
from apps.webhooks.delivery import queue
from apps.webhooks.models import Attempt, Delivery, Event
from apps.webhooks.pruning import MONTHS
from apps.webhooks.requests import ResendRequest
from apps.webhooks.services import deliveries
from tests.cast import Cast, Shop
from tests.roles import acting_as
from tests.webhooks.receivers import Receiver
from tests.webhooks.test_delivery import CREATED, Register, happens

pytestmark = pytest.mark.django_db
RANDOM = uuid.UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479")
HIGHEST = "ffffffff-ffff-4fff-bfff-ffffffffffff"


@pytest.fixture
def now() -> datetime:
    """With months since two ago, and those ahead."""
    now = clock.real_now()
    for days in (62, 31, 0):
        partitions.make_ahead(MONTHS, now - timedelta(days=days))
    return now


def places(table: str, column: str = "id") -> dict[uuid.UUID, str]:
    """The partition of each row, after its table."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column}, tableoid::regclass::text FROM {table}")
        return {id: place.removeprefix(f"{table}_") for id, place in cursor}


def renamed(event_id: uuid.UUID) -> Event:
    """The event that there is, under another id; nothing refers to it yet."""
    Event.objects.update(id=event_id)
    return Event.objects.get()


def event_of(at: datetime) -> uuid.UUID:
    return uuid.UUID(int=ids.first_id(at).int | 1)


def checked() -> None:
    """Run the checks of a transaction's end."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


@pytest.mark.parametrize("other", [ids.new_id(), RANDOM, uuid.UUID(int=0), uuid.UUID(HIGHEST)])
def test_an_id_beside_another_begins_with_its_time(other: uuid.UUID) -> None:
    with connection.cursor() as cursor:
        statement = f"SELECT {ids.id_beside_sql('other')} FROM (SELECT %s::uuid AS other) asked"
        cursor.execute(statement, [other])
        made = {cursor.fetchone()[0], ids.id_beside(other), ids.id_beside(other)}

    assert len(made) == 3
    assert {str(id)[:13] for id in made} == {str(other)[:13]}
    assert {id.version for id in made} == {7} and {id.variant for id in made} == {uuid.RFC_4122}


def test_an_event_stands_in_its_month_with_its_deliveries(
    bakery: Shop, receiver: Receiver, register: Register, now: datetime
) -> None:
    register(receiver.url, CREATED)
    happens(bakery)

    (delivery,) = Delivery.objects.all()
    month = f"{now:%Y%m}"
    assert places("webhooks_event") == {delivery.event_id: month}
    assert places("webhooks_delivery") == {delivery.pk: month}
    checked()


@pytest.mark.parametrize("age", [timedelta(days=31), timedelta(days=62), None])
def test_what_is_sent_again_stands_beside_its_event(
    bakery: Shop,
    receiver: Receiver,
    register: Register,
    deliver: Callable[[], None],
    now: datetime,
    age: timedelta | None,
) -> None:
    """However old it is, or if its id doesn't say it."""
    happens(bakery)
    event = renamed(RANDOM if age is None else event_of(now - age))
    endpoint, _ = register(receiver.url, CREATED)
    order = ResendRequest(first=event.created_at, last=event.created_at)

    assert deliveries.resend_range(endpoint, order, clock.real_now()) == 1
    receiver.answer = 500
    deliver()

    place = "rest" if age is None else f"{now - age:%Y%m}"
    (delivery,) = Delivery.objects.all()
    assert places("webhooks_event") == {event.pk: place}
    assert places("webhooks_delivery") == {delivery.pk: place}
    assert places("webhooks_attempt", "delivery_id") == {delivery.pk: place}
    assert Attempt.objects.get().delivery_id == delivery.pk
    checked()


@pytest.fixture
def needed(bakery: Shop, receiver: Receiver, register: Register, now: datetime) -> Delivery:
    """A delivery of this month, with its event."""
    register(receiver.url, CREATED)
    happens(bakery)
    checked()
    return Delivery.objects.get()


@pytest.mark.parametrize("is_random", [False, True])
def test_a_delivery_of_no_event_is_refused(needed: Delivery, is_random: bool) -> None:
    other = RANDOM if is_random else ids.new_id()
    needed.id, needed.event_id = ids.id_beside(other), other

    with transaction.atomic():
        needed.save(force_insert=True)
        with pytest.raises(IntegrityError, match="webhooks_delivery"):
            checked()
        transaction.set_rollback(True)


def test_an_event_whose_delivery_is_there_stays(needed: Delivery) -> None:
    with transaction.atomic():
        Event.objects.filter(pk=needed.event_id).delete()
        with pytest.raises(IntegrityError, match="webhooks_delivery"):
            checked()
        transaction.set_rollback(True)


def test_a_claim_takes_deliveries_of_all_months(
    bakery: Shop, receiver: Receiver, register: Register, now: datetime
) -> None:
    happens(bakery)
    endpoint, _ = register(receiver.url, CREATED)
    for age in (0, 31, 62):
        event = Event.objects.get(pk=Event.objects.values("pk")[:1])
        event.pk = event_of(now - timedelta(days=age))
        event.save(force_insert=True)
        deliveries._send_now(endpoint, event, now)
    limit = 10

    claimed = [queue.claim(clock.real_now(), limit) for _ in range(2)]
    assert [len(batch) for batch in claimed] == [queue.PER_ENDPOINT_MAX, 0]
    assert set(places("webhooks_delivery").values()) == {
        f"{now - timedelta(days=age):%Y%m}" for age in (0, 31, 62)
    }


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("table", MONTHS.tables)
def test_nobody_reads_a_month_beside_its_policies(now: datetime, role: str, table: str) -> None:
    for place in (f"{now:%Y%m}", "rest"):
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
            acting_as(role),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"SELECT count(*) FROM {table}_{place}")


def test_a_store_sees_the_events_of_no_other_in_any_month(cast: Cast, now: datetime) -> None:
    happens(cast.bakery)
    seen = []
    for shop in (cast.bakery, cast.strangers):
        with acting_as(WEB), transaction.atomic():
            tenancy.narrow(shop.store, modes=["test"])
            seen.append(Event.objects.count())

    assert seen == [1, 0]


def test_only_who_may_delete_drops_a_month(now: datetime) -> None:
    values = [MONTHS.tables, f"{now - timedelta(days=62):%Y%m}", "webhooks_queueddelivery"]
    with (
        pytest.raises(ProgrammingError, match="may not make or drop partitions"),
        transaction.atomic(),
        acting_as(WEB),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT partitions_drop(%s, %s, %s)", values)

    with acting_as(WORKER):
        assert partitions.attempt("partitions_drop", values)
