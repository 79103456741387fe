"""Several at once, on rows that are really committed: workers on one queue, registrations of one
platform."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from apps.core import clock
from apps.core.outbound import net
from apps.stores.models import Store
from apps.webhooks import due
from apps.webhooks.delivery import dispatcher, queue
from apps.webhooks.delivery.sender import WebhookSender
from apps.webhooks.invariants import TOLD
from apps.webhooks.models import Attempt, Delivery, Endpoint, Event, Host, QueuedDelivery
from apps.webhooks.services import deliveries, endpoints
from tests.auditing import found_of
from tests.cast import Api, Shop, assemble
from tests.webhooks.receivers import CountingReceiver, Receiver
from tests.webhooks.test_delivery import CREATED, Register, happens


@pytest.fixture(autouse=True)
def _a_busy_machine_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are counted here: an attempt whose time is over before it has connected is received
    by nobody."""
    monkeypatch.setattr(net, "CONNECT_SECONDS", 60.0)


@pytest.fixture
def bakery(django_db_setup: None, django_db_blocker: Any) -> Iterator[Shop]:
    """A bakery that other connections see. Its queue is emptied afterwards; events of others are
    part of their history."""
    with django_db_blocker.unblock():
        shop = assemble().bakery
        yield shop
        Attempt.objects.filter(delivery__store=shop.store).delete()
        for model in (Delivery, Event, Endpoint):
            model.objects.filter(store=shop.store).delete()
        Host.objects.all().delete()
        connection.close()


def together(count: int, act: Callable[[], None]) -> None:
    """Run it in threads that begin at the same moment, each with a connection of its own."""
    start = threading.Barrier(count)

    def run() -> None:
        start.wait()
        try:
            act()
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_workers_that_share_a_queue_send_each_delivery_once(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    for _ in range(4):
        register(receiver.url, CREATED)
    for _ in range(25):
        happens(bakery)

    def work() -> None:
        with WebhookSender() as sender:
            while Delivery.objects.exclude(status="delivered").exists():
                dispatcher.drain(sender)

    together(3, work)
    counted = Counter(request["headers"]["service-delivery-id"] for request in receiver.requests)
    assert len(counted) == 100 and set(counted.values()) == {1}
    assert set(Delivery.objects.values_list("status", "attempts")) == {("delivered", 1)}


def test_workers_that_hold_batches_keep_to_two_under_way(bakery: Shop, register: Register) -> None:
    receiver = CountingReceiver()
    endpoint, _ = register(receiver.url, CREATED)
    Endpoint.objects.filter(pk=endpoint.pk).update(verified_at=clock.real_now())
    for _ in range(80):
        happens(bakery)

    def work() -> None:
        with WebhookSender() as sender:
            while Delivery.objects.exclude(status="delivered").exists():
                dispatcher.drain(sender)

    together(3, work)
    receiver.close()
    counted = Counter(request["headers"]["service-delivery-id"] for request in receiver.requests)
    assert len(counted) == 80 and set(counted.values()) == {1}
    assert receiver.most <= 2


def test_claims_made_at_once_keep_to_two_per_endpoint(bakery: Shop, register: Register) -> None:
    register("https://1.1.1.1/hook", CREATED)
    Host.objects.create(name="1.1.1.1", answered_at=clock.real_now())
    for _ in range(20):
        happens(bakery)
    claimed: list[queue.DueAttempt] = []
    together(8, lambda: claimed.extend(queue.claim(clock.real_now(), 10)))
    assert len(claimed) == 2


def test_a_dispatcher_takes_up_work_when_woken_and_again_later(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    register(receiver.url, CREATED)
    one = dispatcher.Dispatcher()
    for count in (1, 2):
        happens(bakery)
        one.wake()
        wait_until(lambda count=count: Delivery.objects.filter(status="delivered").count() == count)
    assert len(receiver.requests) == 2


def test_a_dispatcher_that_broke_starts_anew(
    bakery: Shop, receiver: Receiver, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(receiver.url, CREATED)
    happens(bakery)
    one = dispatcher.Dispatcher()
    monkeypatch.setattr(queue, "_CLAIM", "SELECT broken")
    one.wake()
    wait_until(lambda: one._sender is None)
    monkeypatch.undo()
    one.wake()
    wait_until(lambda: Delivery.objects.filter(status="delivered").exists())


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = threading.Event()
    for _ in range(1000):
        if is_so():
            return
        deadline.wait(0.01)
    raise AssertionError("it did not happen")


def test_the_test_clock_runs_all_ten_attempts_while_a_dispatcher_works_beside_it(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    receiver.answer = 500
    beside = dispatcher.Dispatcher()
    happens(bakery)
    beside.wake()
    at = None
    for _ in range(50):
        moment = due.next_due(bakery.store.pk, at)
        if moment is None:
            break
        at = moment
        offset = int((at - clock.real_now()).total_seconds()) + 1
        bakery.store.test_offset_seconds = max(offset, bakery.store.test_offset_seconds)
        bakery.store.save()
        beside.wake()
        due.run_due(bakery.store.pk, clock.now(bakery.store, "test"))
    endpoint.refresh_from_db()
    ends = [*Attempt.objects.order_by("number").values_list("number", "error", "duration_ms")]
    assert (endpoint.status, len(receiver.requests)) == ("error", 10), ends
    assert Delivery.objects.get().attempts == 10


def test_a_delivery_that_ends_meanwhile_is_still_what_the_test_clock_waits_for(
    bakery: Shop, register: Register
) -> None:
    """The attempt fails between the statements of a walk, however many those are."""
    register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    delivery = Delivery.objects.get()
    retry_at = delivery.created_at + timedelta(hours=1)
    Delivery.objects.update(status="attempting", claimed_until=retry_at)
    ended = threading.Event()

    def end_after_the_first(execute: Any, sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if 'FROM "webhooks_queueddelivery"' in sql and not ended.is_set():
            ended.set()
            rows = Delivery.objects.filter(pk=delivery.pk)
            together(
                1,
                lambda: rows.update(status="pending", claimed_until=None, next_attempt_at=retry_at),
            )
        return result

    with connection.execute_wrapper(end_after_the_first):
        assert due.next_due(bakery.store.pk, None) is not None
    assert ended.is_set()
    assert due.next_due(bakery.store.pk, None) == retry_at


def test_registrations_that_race_leave_one_integration(bakery: Shop) -> None:
    answers: list[Any] = []
    body = {"webhook_endpoint": {"url": "https://1.1.1.1/hook", "platform": "magento"}}
    together(
        6, lambda: answers.append(Api(bakery.secrets["test"]).post("/webhook_endpoints", body))
    )
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(201) == 1 and set(statuses) <= {200, 201, 409}
    lost = [answer.json() for answer in answers if answer.status_code == 409]
    assert all(
        told == {"error": "An active magento integration already exists for this store"}
        for told in lost
    )
    assert Endpoint.objects.filter(store=bakery.store).count() == 1


def test_redelivering_twice_at_once_queues_it_once(bakery: Shop, register: Register) -> None:
    endpoint, _ = register("https://1.1.1.1/hook", CREATED)
    happens(bakery)
    Delivery.objects.update(status="failed", attempts=10, next_attempt_at=None)
    delivery = Delivery.objects.get()
    refused: list[Exception] = []

    def again() -> None:
        try:
            deliveries.redeliver(endpoint, delivery.pk, clock.real_now())
        except deliveries.DeliveryNotRetryable as refusal:
            refused.append(refusal)

    together(4, again)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts, len(refused)) == ("pending", 0, 3)


def test_a_secret_rotated_while_workers_run_signs_everything_sent_afterwards(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    import stripe

    endpoint, _ = register(receiver.url, CREATED)
    for _ in range(30):
        happens(bakery)
    with WebhookSender() as sender:
        worker = threading.Thread(target=lambda: (dispatcher.drain(sender), connection.close()))
        worker.start()
        wait_until(lambda: len(receiver.requests) > 3)
        secret = endpoints.rotate_secret(endpoint, clock.real_now())
        under_way = len(receiver.requests) + queue.PER_ENDPOINT_MAX
        worker.join()
    for got in receiver.requests[under_way:]:
        stripe.Webhook.construct_event(got["raw"], got["headers"]["service-signature"], secret)
    assert len(receiver.requests) == 30


def test_an_endpoint_that_waited_for_its_place_is_as_old_as_its_place(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    """Events while it waited are older than it: an audit asks why an endpoint that was there wasn't
    notified."""
    made: list[Endpoint] = []
    registering = threading.Thread(
        target=lambda: (made.append(register(receiver.url, CREATED)[0]), connection.close())
    )
    with transaction.atomic():
        Store.objects.select_for_update(no_key=True).get(pk=bakery.store.pk)
        registering.start()
        wait_until(waits_for_a_lock)
        happened_at = clock.now(bakery.store, "test")
    registering.join()
    assert made[0].created_at > happened_at


def test_the_audit_knows_what_an_endpoint_could_not_hear_before_it_was_committed(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    bakery.access()  # its key is made before nothing can be noted any more
    registering = threading.Thread(
        target=lambda: (register(receiver.url, CREATED), connection.close())
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "LOCK TABLE stores_auditentry IN EXCLUSIVE MODE"
        )  # it is written, and can't be committed yet
        registering.start()
        wait_until(waits_for_a_lock)
        happens(bakery)
    registering.join()
    endpoint = Endpoint.objects.get()
    assert endpoint.status == "active"
    # Other tests on this database leave events of their own.
    found = found_of(*(invariant.name for invariant in TOLD))
    assert [finding for finding in found if str(endpoint.pk) in finding.detail] == []


def waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


def test_the_queue_is_as_the_deliveries_are_while_everybody_writes_them(
    bakery: Shop, register: Register
) -> None:
    """Events, claims, results, redeliveries and switches at once: afterwards the queue has what
    waits, and nothing else."""
    endpoint, _ = register("https://1.1.1.1/hook", CREATED)
    Host.objects.create(name="1.1.1.1", answered_at=clock.real_now())
    ended = threading.Event()
    failures: list[BaseException] = []

    def until_the_end(act: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            while not ended.is_set():
                try:
                    act()
                except deliveries.DeliveryNotRetryable:
                    continue
                except BaseException as failure:
                    failures.append(failure)
                    ended.set()

        return run

    def happen() -> None:
        for _ in range(60):
            happens(bakery)
        ended.set()

    def claim_and_record() -> None:
        attempts = queue.claim(clock.real_now(), 10)
        at = clock.real_now()
        outcomes = {1: ("delivered", None, 200), 2: ("pending", at, 500)}
        results = []
        for number, attempt in enumerate(attempts):
            status, next_at, code = outcomes[number % 2 + 1]
            results.append(queue.AttemptResult(attempt, status, at, next_at, code, duration_ms=1))
        queue.record(results)

    def send_again() -> None:
        for row in Delivery.objects.exclude(status="delivered").order_by("-id")[:3]:
            deliveries.redeliver(Endpoint.objects.get(pk=endpoint.pk), row.pk, clock.real_now())

    def switch() -> None:
        row = Endpoint.objects.get(pk=endpoint.pk)
        endpoints.disable_endpoint(row, clock.real_now())
        endpoints.enable_endpoint(row, clock.real_now())
        queue.tidy(clock.real_now())

    acts = [happen, *map(until_the_end, (claim_and_record, claim_and_record, send_again, switch))]
    waiting = iter(acts)
    together(len(acts), lambda: next(waiting)())

    assert not failures
    columns = ("pk", "status", "attempts", "next_attempt_at", "claimed_until")
    still = Delivery.objects.filter(status__in=["pending", "attempting"]).order_by("pk")
    assert Delivery.objects.count() == 60
    assert list(QueuedDelivery.objects.order_by("pk").values_list(*columns)) == list(
        still.values_list(*columns)
    )
