"""An endpoint that answers quickly is claimed for in batches: two attempts are under way, nobody
else claims for it meanwhile, and what waits is given back when it fails or is turned off."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest

from apps.core import clock
from apps.webhooks.delivery import dispatcher, queue
from apps.webhooks.delivery.held import BATCH_MAX, HeldAttempts
from apps.webhooks.delivery.sender import WebhookSender, result_of
from apps.webhooks.models import Delivery, Endpoint
from tests.cast import Shop
from tests.webhooks.receivers import CountingReceiver
from tests.webhooks.test_delivery import CREATED, Register, happens

pytestmark = pytest.mark.django_db
QUICK_MS = 5


@pytest.fixture
def counting() -> Iterator[CountingReceiver]:
    one = CountingReceiver()
    yield one
    one.close()


@pytest.fixture
def endpoint(bakery: Shop, register: Register) -> Endpoint:
    """One with forty deliveries that are due."""
    made, _ = register("http://127.0.0.1:9/hook", CREATED)
    for _ in range(40):
        happens(bakery)
    return made


def claimed_batch(endpoint: Endpoint) -> tuple[HeldAttempts, list[queue.DueAttempt]]:
    """A sender that has sent two, which were answered quickly, and has claimed what it may after
    that; and its deliveries under way."""
    held = HeldAttempts()
    held.add(queue.claim(clock.real_now(), 100, held=held.claims()))
    first = held.take()
    assert len(first) == 2
    answer = [
        queue.AttemptResult(one, "delivered", clock.real_now(), duration_ms=QUICK_MS)
        for one in first
    ]
    held.end(answer)
    queue.record(answer)
    held.add(queue.claim(clock.real_now(), 100, held=held.claims()))
    return held, held.take()


def test_an_endpoint_that_answers_is_claimed_for_in_batches_and_sent_two_at_a_time(
    bakery: Shop, counting: CountingReceiver, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(counting.url, CREATED)
    for _ in range(60):
        happens(bakery)
    claims: list[int] = []
    claim = queue.claim

    def counted(*args: object, **named: object) -> list[queue.DueAttempt]:
        attempts = claim(*args, **named)  # type: ignore[arg-type]
        claims.append(len(attempts))
        return attempts

    monkeypatch.setattr(queue, "claim", counted)
    with WebhookSender() as sender:
        dispatcher.drain(sender)
    sent = Counter(request["headers"]["service-delivery-id"] for request in counting.requests)
    assert len(sent) == 60 and set(sent.values()) == {1}
    assert max(claims) > 2 and counting.most <= 2
    assert set(Delivery.objects.values_list("status", "attempts")) == {("delivered", 1)}


def test_nobody_else_claims_for_an_endpoint_of_which_a_batch_is_held(endpoint: Endpoint) -> None:
    held, under_way = claimed_batch(endpoint)
    (mine,) = held.claims()
    assert (mine.endpoint_id, mine.held) == (endpoint.pk, BATCH_MAX) and len(under_way) == 2
    assert queue.claim(clock.real_now(), 100) == []
    assert queue.claim(clock.real_now(), 100, held=held.claims()) == []


def test_who_shares_an_endpoint_holds_no_batch(endpoint: Endpoint) -> None:
    (one,) = queue.claim(clock.real_now(), 1)
    (other,) = queue.claim(clock.real_now(), 100)
    for mine in (one, other):
        held = [queue.HeldClaims(mine.endpoint_id, 1, BATCH_MAX)]
        assert queue.claim(clock.real_now(), 100, held=held) == []


def test_what_waits_for_an_endpoint_that_fails_is_given_back(endpoint: Endpoint) -> None:
    held, under_way = claimed_batch(endpoint)
    at = clock.real_now()
    failed = result_of(under_way[0], at, None, "timeout", 10)
    held.end([failed])
    queue.record([failed])
    assert held.take() == []
    returned = held.returned()
    assert len(returned) == BATCH_MAX - 2 and held.returned() == []
    queue.release(returned)
    ids = [attempt.delivery_id for attempt in returned]
    rows = Delivery.objects.filter(pk__in=ids)
    assert set(rows.values_list("status", "attempts", "claimed_until")) == {("pending", 0, None)}
    assert len(queue.claim(clock.real_now(), 100)) == 1, "beside the one that is under way"


def test_what_waits_longer_than_a_moment_is_given_back(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, under_way = claimed_batch(endpoint)
    monkeypatch.setattr("apps.webhooks.delivery.held.WAIT_SECONDS", 0.0)
    at = clock.real_now()
    held.end([queue.AttemptResult(one, "delivered", at, duration_ms=QUICK_MS) for one in under_way])
    assert held.take() == [] and len(held.returned()) == BATCH_MAX - 2 and held.is_empty


def test_what_waits_for_an_endpoint_that_was_turned_off_is_ignored(endpoint: Endpoint) -> None:
    held, under_way = claimed_batch(endpoint)
    Endpoint.objects.filter(pk=endpoint.pk).update(status="disabled")
    held.give_back([endpoint.pk])
    queue.release(held.returned())
    ids = [attempt.delivery_id for attempt in under_way]
    others = Delivery.objects.filter(status__in=["attempting", "ignored"]).exclude(pk__in=ids)
    assert set(others.values_list("status", flat=True)) == {"ignored"}
    assert others.count() == BATCH_MAX - 2


def test_a_claim_that_has_ended_is_not_given_back(endpoint: Endpoint) -> None:
    held, _ = claimed_batch(endpoint)
    held.give_back([endpoint.pk])
    returned = held.returned()
    Delivery.objects.filter(pk=returned[0].delivery_id).update(
        claimed_until=clock.real_now() + timedelta(seconds=1)
    )
    queue.release(returned)
    assert Delivery.objects.get(pk=returned[0].delivery_id).status == "attempting"


@pytest.mark.parametrize(
    ("change", "is_changed"),
    [
        ({"sealed_secret": "another"}, True),
        ({"url": "http://127.0.0.1:9/moved"}, True),
        ({"status": "disabled"}, True),
        ({"verified_at": "2026-01-01T00:00:00Z"}, False),
    ],
)
def test_what_waits_for_an_endpoint_that_was_changed_is_not_begun(
    endpoint: Endpoint, change: dict[str, str], is_changed: bool
) -> None:
    held, under_way = claimed_batch(endpoint)
    assert queue.record([], held.waiting()) == []
    Endpoint.objects.filter(pk=endpoint.pk).update(**change)
    at = clock.real_now()
    over = [queue.AttemptResult(one, "delivered", at, duration_ms=QUICK_MS) for one in under_way]
    held.end(over)
    changed = queue.record(over, held.waiting())
    assert list(changed) == ([endpoint.pk] if is_changed else [])
    held.give_back(changed)
    assert len(held.take()) == (0 if is_changed else 2)
