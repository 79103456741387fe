"""Deliveries to a receiver, their number, and their results as the merchant sees them."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import standardwebhooks
import stripe
from django.core import mail
from msgspec import to_builtins

from apps.core import clock
from apps.core.mail import send_due as send_mail_due
from apps.stores.models import Notification
from apps.webhooks import events
from apps.webhooks.catalogue import PLATFORM_ONLY, SUBSCRIBABLE
from apps.webhooks.delivery import queue, sender
from apps.webhooks.models import Delivery, Endpoint, Event
from apps.webhooks.requests import ResendRequest
from apps.webhooks.samples import sample
from apps.webhooks.services import deliveries, endpoint_emails, endpoints
from tests.cast import Cast, Shop, shop_of
from tests.webhooks.receivers import Receiver

pytestmark = pytest.mark.django_db
Register = Callable[..., tuple[Endpoint, str]]
Deliver = Callable[[], None]
CREATED = "payment_intent.created"
PAID = "invoice.paid"


def happens(shop: Shop, type: str = CREATED, mode: str = "test", **options: Any) -> None:
    values = {
        "object": {"id": "A", "metadata": {"ünïcode": "“quoted” \\ 😀"}},
        "at": clock.now(shop.store, mode),
        **options,
    }
    events.record(store_id=shop.store.pk, mode=mode, type=type, **values)


def only(endpoint: Endpoint) -> Delivery:
    return Delivery.objects.get(endpoint=endpoint)


def test_the_clients_of_stripe_and_standard_webhooks_verify_a_delivery(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    _, secret = register(receiver.url, CREATED)
    happens(bakery)
    deliver()
    (got,) = receiver.requests
    verified = stripe.Webhook.construct_event(
        got["raw"], got["headers"]["service-signature"], secret
    )
    assert verified["id"] == got["headers"]["webhook-id"]
    assert standardwebhooks.Webhook(secret).verify(got["raw"], got["headers"])["type"] == CREATED
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.Webhook.construct_event(
            got["raw"] + b" ", got["headers"]["service-signature"], secret
        )


def test_a_delivery_has_the_documented_headers_and_envelope(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    happens(bakery)
    deliver()
    (got,) = receiver.requests
    event = Event.objects.get()
    delivery = only(endpoint)
    body = json.loads(got["raw"])
    assert set(body) == {"id", "type", "created", "livemode", "api_version", "data"}
    assert body["data"] == {"object": {"id": "A", "metadata": {"ünïcode": "“quoted” \\ 😀"}}}
    assert (body["id"], body["type"], body["livemode"], body["created"]) == (
        str(event.pk),
        CREATED,
        False,
        int(event.created_at.timestamp()),
    )
    headers = got["headers"]
    assert (headers["content-type"], headers["user-agent"]) == (
        "application/json",
        "Tillgate-Webhooks/1.0",
    )
    assert (headers["service-delivery-id"], headers["service-event-id"]) == (
        str(delivery.pk),
        str(event.pk),
    )
    assert (headers["service-event-type"], headers["service-delivery-attempt"]) == (CREATED, "1")
    assert "accept-encoding" not in headers and "cookie" not in headers
    assert (
        delivery.status,
        delivery.attempts,
        delivery.response_status,
        delivery.response_body,
    ) == ("delivered", 1, 200, "ok")
    endpoint.refresh_from_db()
    assert endpoint.verified_at == delivery.delivered_at


def test_only_what_was_subscribed_in_this_mode_and_store_arrives(
    cast: Cast, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    register(receiver.url, CREATED)
    happens(cast.bakery, PAID)
    happens(cast.bakery, mode="live")
    happens(cast.strangers)
    deliver()
    assert receiver.requests == []


def test_a_platform_hears_of_its_merchants_payments_with_their_account(
    cast: Cast, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    platform = shop_of(cast.charlie, "Platform")
    merchant = cast.bakery
    own = Receiver()
    register(receiver.url, CREATED, PAID, shop=platform)
    register(own.url, CREATED, PAID)
    happens(merchant, platform_id=platform.store.pk)
    happens(merchant, PAID, platform_id=platform.store.pk)
    deliver()
    (copy,) = receiver.events()
    assert (copy["account"], copy["type"]) == (str(merchant.store.pk), CREATED)
    assert sorted(event["type"] for event in own.events()) == [PAID, CREATED]
    assert all("account" not in event and event["data"] == copy["data"] for event in own.events())
    own.close()


def test_ten_attempts_in_all_then_the_endpoint_is_in_error_and_its_owners_are_told_once(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    receiver.answer = 500
    happens(bakery)
    waits = []
    delivery = only(endpoint)
    for number in range(1, 11):
        happened_at = clock.now(bakery.store, "test")
        deliver()
        delivery.refresh_from_db()
        assert (delivery.attempts, delivery.response_status, delivery.error) == (
            number,
            500,
            "http_500",
        )
        if number < 10:
            waits.append((delivery.next_attempt_at - happened_at).total_seconds())
            bakery.store.test_offset_seconds += int(waits[-1]) + 1
            bakery.store.save()
        if number == 9:
            happens(bakery, at=clock.now(bakery.store, "test") + timedelta(hours=1))
    assert all(
        abs(wait - planned) <= planned * 0.1 + 1
        for wait, planned in zip(waits, sender.RETRY_SECONDS, strict=True)
    )
    endpoint.refresh_from_db()
    waiting = Delivery.objects.exclude(pk=delivery.pk).get()
    assert (delivery.status, endpoint.status, waiting.status) == ("failed", "error", "ignored")
    assert endpoint.disabled_at is not None
    assert len({request["raw"] for request in receiver.requests}) == 1
    assert [request["headers"]["service-delivery-attempt"] for request in receiver.requests] == [
        str(n) for n in range(1, 11)
    ]
    endpoint_emails.tell_all()
    endpoint_emails.tell_owners(endpoint.pk)
    send_mail_due()
    (email,) = mail.outbox
    assert email.to == [bakery.owner.email] and endpoint.url in email.body
    shown = Notification.objects.get(store=bakery.store)
    assert (shown.kind, shown.path) == ("endpoint_off", f"/dashboard/webhooks/{endpoint.pk}")


def test_gone_is_one_failed_attempt_like_any_other(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    receiver.answer = 410
    happens(bakery)
    deliver()
    delivery = only(endpoint)
    assert (delivery.status, delivery.attempts, delivery.response_status) == ("pending", 1, 410)


def test_the_secret_of_the_moment_signs_a_delivery_that_waited(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, old = register(receiver.url, CREATED)
    happens(bakery)
    new = endpoints.rotate_secret(endpoint, clock.now(bakery.store, "test"))
    deliver()
    (got,) = receiver.requests
    stripe.Webhook.construct_event(got["raw"], got["headers"]["service-signature"], new)
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.Webhook.construct_event(got["raw"], got["headers"]["service-signature"], old)


def test_nothing_is_sent_to_an_endpoint_that_is_off_until_it_is_redelivered(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    at = clock.now(bakery.store, "test")
    happens(bakery)
    endpoints.disable_endpoint(endpoint, at)
    happens(bakery)
    deliver()
    assert receiver.requests == []
    assert set(Delivery.objects.values_list("status", flat=True)) == {"ignored"}
    one = Delivery.objects.first()
    with pytest.raises(deliveries.DeliveryNotRetryable):
        deliveries.redeliver(endpoint, one.pk, at)
    endpoints.enable_endpoint(endpoint, at)
    deliveries.redeliver(endpoint, one.pk, at)
    deliver()
    assert len(receiver.requests) == 1


def test_a_delivered_one_and_one_that_was_never_tried_are_not_retryable(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    at = clock.now(bakery.store, "test")
    happens(bakery)
    delivery = only(endpoint)
    with pytest.raises(deliveries.DeliveryNotRetryable):
        deliveries.redeliver(endpoint, delivery.pk, at)
    deliver()
    with pytest.raises(deliveries.DeliveryNotRetryable):
        deliveries.redeliver(endpoint, delivery.pk, at)


def test_a_delivery_that_failed_for_good_begins_a_new_series(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    happens(bakery)
    Delivery.objects.update(status="failed", attempts=10, next_attempt_at=None)
    receiver.answer = 500
    deliveries.redeliver(endpoint, only(endpoint).pk, clock.now(bakery.store, "test"))
    deliver()
    delivery = only(endpoint)
    endpoint.refresh_from_db()
    assert (delivery.status, delivery.attempts, endpoint.status) == ("pending", 1, "active")


def test_what_a_dead_process_had_claimed_is_sent_after_its_lease(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    happens(bakery)
    (lost,) = queue.claim(clock.real_now(), 10)
    deliver()
    queue.tidy(clock.real_now())
    assert receiver.requests == []
    queue.tidy(clock.real_now() + timedelta(seconds=queue.LEASE_SECONDS + 1))
    deliver()
    assert len(receiver.requests) == 1
    queue.record([queue.AttemptResult(lost, "pending", clock.real_now())])
    assert (only(endpoint).status, only(endpoint).attempts) == ("delivered", 1)


def test_an_endpoint_never_has_more_than_two_attempts_under_way(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    register(receiver.url, CREATED)
    register(receiver.url, CREATED)
    for _ in range(5):
        happens(bakery)
    now = clock.real_now()
    assert len(queue.claim(now, 100)) == 4
    assert queue.claim(now, 100) == []


def test_a_retry_whose_endpoint_was_turned_off_meanwhile_is_ignored(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    endpoint, _ = register(receiver.url, CREATED)
    happens(bakery)
    now = clock.real_now()
    (attempt,) = queue.claim(now, 10)
    endpoints.disable_endpoint(endpoint, now)
    queue.record([sender.result_of(attempt, now, None, "timeout", 1)])
    assert only(endpoint).status == "ignored"
    assert only(endpoint).next_attempt_at is None


def test_a_test_event_goes_to_one_endpoint_and_looks_like_the_real_one(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    endpoint, _ = register(receiver.url, PAID, CREATED)
    register(receiver.url, PAID)
    deliveries.send_test(endpoint, None, clock.now(bakery.store, "test"))
    deliver()
    (got,) = receiver.events()
    assert (got["type"], got["data"]["object"]["status"]) == (PAID, "paid")
    assert only(endpoint).is_test
    assert len(SUBSCRIBABLE) == 23 and all(
        to_builtins(sample(item))["id"] for item in (*SUBSCRIBABLE, *PLATFORM_ONLY)
    )


def test_a_stretch_of_time_is_sent_again_without_the_tests(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Deliver
) -> None:
    start = clock.now(bakery.store, "test")
    happens(bakery)
    happens(bakery, PAID)
    endpoint, _ = register(receiver.url, CREATED)
    deliveries.send_test(endpoint, CREATED, clock.now(bakery.store, "test"))
    deliver()
    at = clock.now(bakery.store, "test")
    assert deliveries.resend_range(endpoint, ResendRequest(start, at), at) == 1
    deliver()
    assert [event["type"] for event in receiver.events()] == [CREATED, CREATED]


def test_the_same_event_gives_the_same_bytes_every_time(
    bakery: Shop, receiver: Receiver, register: Register
) -> None:
    register(receiver.url, CREATED)
    happens(bakery)
    now = clock.real_now()
    (first,) = queue.claim(now, 1)
    queue.tidy(now + timedelta(hours=1))
    (again,) = queue.claim(now + timedelta(hours=1), 1)
    assert hashlib.sha256(first.body).digest() == hashlib.sha256(again.body).digest()
    assert first.headers["Service-Signature"] != again.headers["Service-Signature"]


def test_all_endpoints_of_a_store_can_be_turned_off_at_once(
    cast: Cast, receiver: Receiver, register: Register
) -> None:
    for mode in ("test", "live"):
        register(receiver.url, CREATED, mode=mode)
        happens(cast.bakery, mode=mode)
    other, _ = register(receiver.url, CREATED, shop=cast.strangers)
    endpoints.disable_endpoints_of(cast.bakery.store)
    off = Endpoint.objects.filter(store=cast.bakery.store)
    assert set(off.values_list("status", flat=True)) == {"disabled"}
    assert set(Delivery.objects.filter(endpoint__in=off).values_list("status", flat=True)) == {
        "ignored"
    }
    other.refresh_from_db()
    assert other.status == "active"
