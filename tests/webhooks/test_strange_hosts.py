"""Nobody's server is flooded by an endpoint that names it: one delivery at a time until it has
answered, and few endpoints."""

import threading
from typing import Any

import pytest
from django.db import connection

from apps.core import clock
from apps.core.errors import Failure
from apps.webhooks.delivery import queue
from apps.webhooks.models import Delivery, Endpoint, Host
from apps.webhooks.requests import EndpointChanges, EndpointRequest
from apps.webhooks.services import endpoints
from tests.cast import Cast, Shop, assemble
from tests.webhooks.test_delivery import CREATED, Register, happens

STRANGER = "https://1.1.1.1/a"
OTHER = "https://1.0.0.1/b"


def claimed(limit: int = 500) -> list[queue.DueAttempt]:
    return queue.claim(clock.real_now(), limit)


def ended(attempt: queue.DueAttempt, status: str = "delivered") -> None:
    at = clock.real_now()
    queue.record([queue.AttemptResult(attempt, status, at, at if status == "pending" else None)])


def test_a_host_that_has_not_answered_gets_one_delivery_at_a_time(
    cast: Cast, register: Register
) -> None:
    for n in range(6):
        shop = cast.bakery if n % 2 else cast.strangers
        register(f"https://1.1.1.1:{443 + n}/{n}", CREATED, shop=shop)
    register(OTHER, CREATED)
    for shop in (cast.bakery, cast.strangers):
        for _ in range(3):
            happens(shop)
    first = claimed()
    assert sorted(item.host for item in first) == ["1.0.0.1", "1.1.1.1"]
    assert claimed() == []
    stranger = next(item for item in first if item.host == "1.1.1.1")
    ended(stranger, "pending")
    assert [item.host for item in claimed()] == ["1.1.1.1"]


def test_a_host_that_has_answered_is_sent_to_as_any_other(cast: Cast, register: Register) -> None:
    for n in range(3):
        register(f"https://1.1.1.1/{n}", CREATED)
    for _ in range(4):
        happens(cast.bakery)
    (first,) = claimed()
    ended(first)
    assert Host.objects.get().name == "1.1.1.1"
    assert len(claimed()) == 3 * queue.PER_ENDPOINT_MAX


def test_a_url_that_is_changed_to_a_strangers_brings_no_proof_along(
    cast: Cast, register: Register
) -> None:
    made = [register(f"https://1.0.0.1/{n}", CREATED)[0] for n in range(3)]
    happens(cast.bakery)
    (first,) = claimed()
    ended(first)
    for item in made:
        endpoints.update_endpoint(cast.bakery.access(), item, EndpointChanges(url=STRANGER))
    happens(cast.bakery)
    assert [item.host for item in claimed()] == ["1.1.1.1"]


def test_strangers_do_not_take_the_place_of_those_that_answer(
    cast: Cast, register: Register
) -> None:
    for n in range(10):
        register(f"https://1.1.1.1/{n}", CREATED)
    happens(cast.bakery)
    register(OTHER, CREATED)
    happens(cast.bakery)
    Host.objects.create(name="1.0.0.1", answered_at=clock.real_now())
    assert {item.host for item in claimed(limit=2)} == {"1.1.1.1", "1.0.0.1"}
    assert Endpoint.objects.filter(status="active").count() == 11


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Shop.Example:8443/hook?x=1", "shop.example"),
        ("https://shop.example./hook", "shop.example"),
        ("https://shop.example", "shop.example"),
        ("http://[2606:4700::1111]:80/hook", "[2606:4700::1111]"),
        ("https://shop.example?x=://other.example", "shop.example"),
    ],
)
def test_the_host_of_an_endpoint_is_its_urls(
    bakery: Shop, register: Register, url: str, host: str
) -> None:
    made, _ = register(STRANGER, CREATED)
    Endpoint.objects.filter(pk=made.pk).update(url=url)
    assert Endpoint.objects.get(pk=made.pk).host == host


def test_hosts_that_the_operator_excused_need_no_proof(
    cast: Cast, register: Register, settings: Any
) -> None:
    settings.WEBHOOK_ALLOW_HOSTS = ["127.0.0.1", "Dev.Example"]
    register("http://127.0.0.1:9/hook", CREATED)
    for _ in range(2):
        happens(cast.bakery)
    assert len(claimed()) == 2


# --- how many ---


def test_a_store_has_sixteen_endpoints_in_each_mode(bakery: Shop) -> None:
    body = {"webhook_endpoint": {"url": STRANGER, "subscribed_events": [CREATED]}}
    made = [bakery.test.post("/webhook_endpoints", body) for _ in range(17)]
    assert [item.status_code for item in made] == [201] * 16 + [422]
    sentence = "Endpoints are limited to 16 per store and mode"
    assert made[-1].json() == {"errors": [sentence]}
    assert bakery.live.post("/webhook_endpoints", body).status_code == 201
    assert bakery.test.delete(f"/webhook_endpoints/{made[0].json()['id']}").status_code == 204
    assert bakery.test.post("/webhook_endpoints", body).status_code == 201


def test_of_two_that_want_the_last_place_one_has_it(
    django_db_setup: None, django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock():
        access = assemble().bakery.access()
        fields = EndpointRequest(url=STRANGER, subscribed_events=[CREATED])
        for _ in range(15):
            endpoints.register_endpoint(access, fields)
        told: list[str] = []
        start = threading.Barrier(4)

        def one() -> None:
            start.wait()
            try:
                endpoints.register_endpoint(access, fields)
                told.append("made")
            except Failure:
                told.append("refused")
            finally:
                connection.close()

        threads = [threading.Thread(target=one) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(told) == ["made"] + ["refused"] * 3
        Delivery.objects.filter(store=access.store).delete()
        Endpoint.objects.filter(store=access.store).delete()
        connection.close()
