"""The queue has what waits and what is under way, as the deliveries say, and nothing that has
ended; whoever writes a delivery keeps it, and nobody writes it alone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction

from apps.audit.grants import READER, SIGNER, WEB, WORKER
from apps.core import clock
from apps.webhooks import selectors
from apps.webhooks.attention import failing_endpoints
from apps.webhooks.delivery import queue
from apps.webhooks.invariants import TOLD
from apps.webhooks.models import Delivery, Endpoint, Host, QueuedDelivery
from apps.webhooks.services import deliveries, endpoints
from tests.cast import Shop
from tests.roles import acting_as
from tests.webhooks.receivers import Receiver
from tests.webhooks.test_delivery import CREATED, Register, happens

pytestmark = pytest.mark.django_db
Deliver = Callable[[], None]
COLUMNS = ("pk", "endpoint_id", "status", "attempts", "next_attempt_at", "claimed_until")
(KEPT,) = (invariant for invariant in TOLD if invariant.name == "deliveries_queued")


def breaches() -> list[tuple[str, str]]:
    """What the audit says of the queue."""
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
