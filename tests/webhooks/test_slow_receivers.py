"""A slow receiver waits for itself: receivers that hang take no place of those that answer, and
hold up no store's test clock."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from apps.core import clock
from apps.core.outbound import net
from apps.core.outbound import strangers as posting
from apps.stores.models import Store
from apps.webhooks import due
from apps.webhooks.delivery import dispatcher, queue
from apps.webhooks.delivery.sender import WebhookSender
from apps.webhooks.models import Delivery, Endpoint
from tests.cast import Cast
from tests.webhooks.receivers import RawReceiver, Receiver
from tests.webhooks.test_delivery import CREATED, Register, happens

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product's limits, many times smaller, and nothing remembered of other tests."""
    monkeypatch.setattr(net, "CONNECT_SECONDS", 2.0)
    monkeypatch.setattr(posting, "ANSWER_SECONDS", 1.5)
    monkeypatch.setattr(dispatcher, "SLOW_SECONDS", 1.0)
    monkeypatch.setattr(dispatcher, "_slow_until", {})


@pytest.fixture
def black_hole() -> Iterator[RawReceiver]:
    """Takes a connection and says nothing."""
    with RawReceiver(lambda peer: (peer.recv(1), None)[1]) as one:
        yield one


def answered(endpoint: Endpoint) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(verified_at=clock.real_now())


class TestLanes:
    def test_receivers_that_hang_take_no_place_of_one_that_answers(
        self,
        cast: Cast,
        register: Register,
        receiver: Receiver,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Twelve hang until the thirteenth has heard, which each of them would outlast."""
        monkeypatch.setattr(dispatcher, "QUICK_MAX", 1)
        monkeypatch.setattr(dispatcher, "SLOW_MAX", 4)
        monkeypatch.setattr(posting, "ANSWER_SECONDS", 60)
        let_go = threading.Event()
        heard = list[bool]()

        def listen() -> None:
            ends_at = time.monotonic() + 40
            while not receiver.requests and time.monotonic() < ends_at:
                time.sleep(0.02)
            heard.append(bool(receiver.requests))
            let_go.set()

        with RawReceiver(lambda peer: (let_go.wait(60), None)[1]) as hanging:
            for number in range(12):
                register(f"{hanging.url}?{number}", CREATED, shop=cast.strangers)
            endpoint, _ = register(receiver.url, CREATED)
            answered(endpoint)
            happens(cast.strangers)
            happens(cast.bakery)
            listener = threading.Thread(target=listen)
            listener.start()
            with WebhookSender() as sender:
                dispatcher.drain(sender)
            listener.join()
            assert heard == [True] and hanging.connections == 12

    def test_one_that_answered_and_hangs_now_is_among_the_slow_until_it_answers_again(
        self, cast: Cast, register: Register, black_hole: RawReceiver, receiver: Receiver
    ) -> None:
        endpoint, _ = register(black_hole.url, CREATED)
        answered(endpoint)
        happens(cast.bakery)
        with WebhookSender() as sender:
            dispatcher.drain(sender)
        assert dispatcher._slow() == [endpoint.pk]
        happens(cast.bakery)
        (attempt,) = queue.claim(clock.real_now(), 10, slow=dispatcher._slow())
        assert attempt.is_slow and attempt.endpoint_id == endpoint.pk
        queue.record([queue.AttemptResult(attempt, "pending", clock.real_now(), clock.real_now())])
        Endpoint.objects.filter(pk=endpoint.pk).update(url=receiver.url)
        with WebhookSender() as sender:
            dispatcher.drain(sender)
        assert receiver.requests and dispatcher._slow() == []
        happens(cast.bakery)
        assert [
            item.is_slow for item in queue.claim(clock.real_now(), 10, slow=dispatcher._slow())
        ] == [False]

    def test_a_new_endpoint_is_among_the_slow_whoever_else_answers_at_its_host(
        self, cast: Cast, register: Register
    ) -> None:
        known, _ = register("http://127.0.0.1:9/known", CREATED)
        answered(known)
        new, _ = register("http://127.0.0.1:9/new", CREATED)
        happens(cast.bakery)
        lanes = {item.endpoint_id: item.is_slow for item in queue.claim(clock.real_now(), 10)}
        assert lanes == {known.pk: False, new.pk: True}

    def test_stores_take_turns(self, cast: Cast, register: Register) -> None:
        for number in range(6):
            register(f"http://127.0.0.1:9/{number}", CREATED, shop=cast.strangers)
        register("http://127.0.0.1:9/late", CREATED)
        happens(cast.strangers)
        happens(cast.bakery)
        assert {item.url.rpartition("/")[2] for item in queue.claim(clock.real_now(), 2)} >= {
            "late"
        }


def test_a_clock_waits_for_no_receiver_that_never_answers(
    cast: Cast, register: Register, black_hole: RawReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due, "PATIENCE_SECONDS", 1.0)
    register(black_hole.url, CREATED)
    for _ in range(30):
        happens(cast.bakery)
    assert clock.ask(cast.bakery.store, int(timedelta(days=3).total_seconds()))
    assert Store.objects.get(pk=cast.bakery.store.pk).test_offset_seconds == 3 * 86400
    assert black_hole.connections <= 2 * queue.PER_ENDPOINT_MAX, (
        "30 deliveries have ten attempts each"
    )
    left = Delivery.objects.filter(status="pending")
    assert left.count() == 30 and len(queue.claim(clock.real_now(), 10)) == queue.PER_ENDPOINT_MAX
