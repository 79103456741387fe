"""The queue has deliveries that wait and that are under way, and none that has ended; writing a
delivery keeps its row of the queue, and nobody writes that alone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction

from apps.audit.grants import READER, SIGNER, WEB, WORKER
from apps.core import clock
from apps.webhooks import selectors
from apps.webhooks.attention import failing_endpoints
from apps.webhooks.delivery import queue, readiness
from apps.webhooks.invariants import TOLD
from apps.webhooks.models import Delivery, Endpoint, Host, QueuedDelivery
from apps.webhooks.services import deliveries, endpoints
from tests.cast import Shop
from tests.growth.buffers import reading
from tests.roles import acting_as
from tests.webhooks.receivers import Receiver
from tests.webhooks.test_delivery import CREATED, Register, happens

pytestmark = pytest.mark.django_db
Deliver = Callable[[], None]
COLUMNS = ("pk", "endpoint_id", "status", "attempts", "next_attempt_at", "claimed_until")
(KEPT,) = (invariant for invariant in TOLD if invariant.name == "deliveries_queued")


def breaches() -> list[tuple[str, str]]:
    """Findings of the audit about the queue."""
    with connection.cursor() as cursor:
        cursor.execute(KEPT.breaches)
        return list(cursor.fetchall())


def queued() -> list[tuple[Any, ...]]:
    """The rows of the queue, which are those of the deliveries that haven't ended."""
    rows = list(QueuedDelivery.objects.order_by("pk").values_list(*COLUMNS))
    open_ones = Delivery.objects.filter(status__in=["pending", "attempting"])
    assert rows == list(open_ones.order_by("pk").values_list(*COLUMNS))
    assert breaches() == []
    return rows


def test_a_delivery_is_in_the_queue_until_it_has_arrived(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    register(receiver.url, CREATED)
    happens(bakery)
    ((_, _, status, attempts, _, claimed_until),) = queued()
    assert (status, attempts, claimed_until) == ("pending", 0, None)

    receiver.answer = 500
    deliver()
    ((_, _, status, attempts, due_at, _),) = queued()
    assert (status, attempts) == ("pending", 1) and due_at > clock.real_now()

    receiver.answer = 200
    Delivery.objects.update(next_attempt_at=clock.real_now() - timedelta(days=1))
    deliver()
    assert queued() == [] and Delivery.objects.get().status == "delivered"


def test_a_claim_stands_in_the_queue_with_its_lease(bakery: Shop, register: Register) -> None:
    register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    now = clock.real_now()

    (attempt,) = queue.claim(now, 10)

    ((id, _, status, _, _, claimed_until),) = queued()
    assert (id, status, claimed_until) == (attempt.delivery_id, "attempting", attempt.claimed_until)
    queue.tidy(now)
    assert queue.claim(now, 10) == [] and queued()[0][2] == "attempting"

    queue.tidy(attempt.claimed_until)
    assert queued()[0][2] == "pending"
    assert [again.delivery_id for again in queue.claim(now, 10)] == [id]


def test_what_slips_into_the_queue_of_an_endpoint_that_is_off_is_ignored(
    bakery: Shop, register: Register
) -> None:
    endpoint, _ = register("https://1.1.1.1/hook", CREATED)
    on, _ = register("https://1.1.1.2/hook", CREATED)
    happens(bakery)
    Endpoint.objects.filter(pk=endpoint.pk).update(status="disabled")
    queue.tidy(clock.real_now())
    assert [row[1] for row in queued()] == [on.pk]

    Endpoint.objects.filter(pk=on.pk).update(deleted_at=clock.real_now())
    queue.tidy(clock.real_now())
    assert queued() == []


def test_endpoints_that_are_off_cost_nothing(bakery: Shop, register: Register) -> None:
    endpoint, _ = register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    Endpoint.objects.filter(pk=endpoint.pk).update(status="disabled")
    queue.tidy(clock.real_now())
    with reading() as few:
        queue.tidy(clock.real_now())
    copy_endpoints(2_000)
    with reading() as many:
        queue.tidy(clock.real_now())
    # Each statement goes down an index that has become deeper.
    spare = 12 * len(few.buffers)
    assert sum(many.buffers.values()) <= 1.3 * sum(few.buffers.values()) + spare


def copy_endpoints(number: int) -> None:
    """Each endpoint there is so often, with its deliveries, which a claim has put aside."""
    copied = (
        [field.column for field in model._meta.concrete_fields if not field.generated]
        for model in (Endpoint, Delivery)
    )
    of_endpoint, of_delivery = (
        ", ".join(column for column in columns if column not in ("id", "endpoint_id"))
        for columns in copied
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE copies ON COMMIT DROP AS SELECT id AS of, gen_random_uuid() AS"
            " id FROM webhooks_endpoint CROSS JOIN generate_series(1, %s)",
            [number],
        )
        cursor.execute(
            f"INSERT INTO webhooks_endpoint (id, {of_endpoint}) SELECT c.id, {of_endpoint}"
            " FROM copies c JOIN webhooks_endpoint e ON e.id = c.of"
        )
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            f"INSERT INTO webhooks_delivery (id, endpoint_id, {of_delivery})"
            " SELECT overlay(gen_random_uuid()::text PLACING left(d.id::text, 14) FROM 1)::uuid,"
            f" c.id, {of_delivery} FROM copies c"
            " JOIN webhooks_delivery d ON d.endpoint_id = c.of"
        )
        cursor.execute(
            "INSERT INTO webhooks_queueddelivery (delivery_id, endpoint_id, status, attempts,"
            " next_attempt_at, is_ready) SELECT d.id, d.endpoint_id, d.status, d.attempts,"
            " d.next_attempt_at, false FROM copies c JOIN webhooks_delivery d"
            " ON d.endpoint_id = c.id"
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("DROP TABLE copies")
        cursor.execute("ANALYZE webhooks_endpoint, webhooks_delivery, webhooks_queueddelivery")


def test_endpoints_that_wait_for_a_retry_cost_a_claim_nothing(
    bakery: Shop, register: Register
) -> None:
    register("https://1.1.1.1/hook", CREATED)
    Host.objects.create(name="1.1.1.1", answered_at=clock.real_now())
    happens(bakery)
    now = clock.real_now()
    Delivery.objects.update(next_attempt_at=now + timedelta(hours=1), attempts=3)
    assert queue.claim(now, 10) == []  # what waits is put aside
    assert not QueuedDelivery.objects.get().is_ready
    spent = []
    for number in (50, 7):
        copy_endpoints(number)
        with reading() as read:
            assert queue.claim(now, 10) == []
        spent.append(sum(read.buffers.values()))
    few, many = spent
    assert many <= 1.3 * few + 12

    # A copy's secret can't be opened: what is claimed stands in the queue.
    assert QueuedDelivery.objects.filter(status="pending").count() == 51 * 8
    queue.claim(now + timedelta(hours=2), 20)
    assert QueuedDelivery.objects.filter(status="attempting").count() == 20


def test_a_retry_is_found_by_the_clock_of_its_store(bakery: Shop, register: Register) -> None:
    """Also when the clock is moved while it waits: by the next look at all of them, or at once by
    who moves it."""
    register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    now = clock.real_now()
    Delivery.objects.update(next_attempt_at=now + timedelta(hours=1))
    assert queue.claim(now, 10) == []
    assert not QueuedDelivery.objects.get().is_ready

    bakery.store.test_offset_seconds = 3_600
    bakery.store.save()
    assert queue.claim(now, 10) == []
    queue.tidy(now)
    assert len(queue.claim(now, 10)) == 1

    Delivery.objects.update(status="pending", claimed_until=None)
    QueuedDelivery.objects.update(is_ready=False)
    assert len(queue.claim(now, 10, bakery.store.pk)) == 1


def test_a_retry_that_was_demoted_is_claimed_as_soon_as_it_is_due_without_a_job(
    bakery: Shop, register: Register
) -> None:
    register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    now = clock.real_now()
    due_at = now + timedelta(hours=1)
    Delivery.objects.update(next_attempt_at=due_at)
    assert queue.claim(now, 10) == []
    assert queue.claim(due_at - timedelta(seconds=1), 10) == []
    assert not QueuedDelivery.objects.get().is_ready

    assert len(queue.claim(due_at, 10)) == 1


def test_what_is_sent_again_while_it_waits_is_claimed_at_once(
    bakery: Shop, register: Register
) -> None:
    """Also in a store whose clock is ahead, where its time is later than the machine's."""
    endpoint, _ = register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    bakery.store.test_offset_seconds = 3_600
    bakery.store.save()
    now = clock.real_now()
    Delivery.objects.update(attempts=1, next_attempt_at=now + timedelta(hours=2))
    assert queue.claim(now, 10) == []
    assert not QueuedDelivery.objects.get().is_ready

    at = clock.now(bakery.store, "test")
    deliveries.redeliver(endpoint, Delivery.objects.get().pk, at)

    assert len(queue.claim(clock.real_now(), 10)) == 1


def test_a_retry_waits_for_a_clock_that_is_behind_without_being_written(
    bakery: Shop, register: Register
) -> None:
    register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    bakery.store.test_offset_seconds = -3_600
    bakery.store.save()
    now = clock.real_now()
    Delivery.objects.update(next_attempt_at=now - timedelta(minutes=1))
    assert queue.claim(now, 10) == []

    with connection.cursor() as cursor:
        cursor.execute("SELECT ctid FROM webhooks_queueddelivery")
        before = cursor.fetchone()
        assert queue.claim(now, 10) == []
        queue.tidy(now)
        cursor.execute("SELECT ctid FROM webhooks_queueddelivery")
        assert cursor.fetchone() == before

    assert len(queue.claim(now + timedelta(hours=1), 10)) == 1


def test_more_than_a_claim_moves_is_moved_by_the_next(
    bakery: Shop, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "MOVED_MAX", 2)
    for number in range(1, 4):
        register(f"https://1.1.1.{number}/hook", CREATED)
    happens(bakery)
    now = clock.real_now()
    Delivery.objects.update(next_attempt_at=now + timedelta(hours=1))
    left = QueuedDelivery.objects.filter(is_ready=True)
    for number in (1, 0):
        assert queue.claim(now, 10) == []
        assert left.count() == number

    later = now + timedelta(hours=2)
    assert [len(queue.claim(later, 10)) for _ in range(3)] == [2, 1, 0]


def test_what_was_ignored_is_queued_again_when_it_is_sent_again(
    bakery: Shop, register: Register
) -> None:
    endpoint, _ = register("https://1.1.1.1/hook", CREATED)
    for _ in range(3):
        happens(bakery)
    endpoints.disable_endpoint(endpoint, clock.real_now())
    assert queued() == []

    endpoints.enable_endpoint(endpoint, clock.real_now())
    one = Delivery.objects.first()
    assert one is not None
    deliveries.redeliver(endpoint, one.pk, clock.real_now())

    assert [row[0] for row in queued()] == [one.pk]


def test_what_is_deleted_leaves_the_queue(bakery: Shop, register: Register) -> None:
    register("https://1.1.1.1/hook", CREATED)
    for _ in range(2):
        happens(bakery)

    Delivery.objects.filter(pk=queued()[0][0]).delete()

    assert len(queued()) == 1


def test_a_delivery_that_has_ended_meanwhile_is_not_claimed(
    bakery: Shop, register: Register
) -> None:
    """The queue is what is looked at; the delivery has the last word."""
    register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("UPDATE webhooks_delivery SET status = 'ignored', next_attempt_at = NULL")
        cursor.execute("SET LOCAL session_replication_role = origin")

    assert queue.claim(clock.real_now(), 10) == []

    assert Delivery.objects.get().status == "ignored" and len(breaches()) == 1


@pytest.mark.parametrize("role", [WEB, WORKER, SIGNER, READER])
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM webhooks_queueddelivery",
        "UPDATE webhooks_queueddelivery SET status = 'attempting'",
        (
            "INSERT INTO webhooks_queueddelivery (delivery_id, endpoint_id, status, attempts)"
            " SELECT id, endpoint_id, 'pending', 0 FROM webhooks_delivery"
        ),
    ],
)
def test_no_process_writes_the_queue_itself(
    bakery: Shop, register: Register, role: str, statement: str
) -> None:
    register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
        acting_as(role),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert len(queued()) == 1


def test_figures_and_inbox_read_what_waits(bakery: Shop, register: Register) -> None:
    endpoint, _ = register("https://1.1.1.1/hook", CREATED, mode="live")
    Host.objects.create(name="1.1.1.1", answered_at=clock.real_now())
    happens(bakery, mode="live")
    now = clock.real_now()
    assert selectors.ours_to_deliver("live", now).count() == 1
    assert selectors.ours_to_deliver("test", now).count() == 0
    viewer = bakery.access("live")
    assert list(failing_endpoints(viewer)) == []

    Delivery.objects.update(attempts=3)
    assert list(failing_endpoints(viewer)) == [Endpoint.objects.get(pk=endpoint.pk)]
    Delivery.objects.update(is_test=True)
    assert list(failing_endpoints(viewer)) == []
    Delivery.objects.update(status="delivered")
    assert selectors.ours_to_deliver("live", now).count() == 0
