"""Fields of an endpoint, read as a whole: every broken field is reported at once, in the order of
the fields."""

from typing import Any

import pytest

from apps.webhooks.models import Endpoint
from apps.webhooks.requests import EndpointRequest
from tests.cast import Shop

pytestmark = pytest.mark.django_db
GOOD = {"url": "https://1.1.1.1/hook", "subscribed_events": ["invoice.paid"]}
BAD = {
    "metadata": [],
    "platform_store_url": 5,
    "description": ["x"],
    "subscribed_events": ["invoice.paid", "nonsense"],
    "url": "https://10.0.0.1/hook",
}
SENTENCES = {
    "url": "Url must resolve to a public address",
    "subscribed_events": "Subscribed events contains unknown events: nonsense",
    "description": "Description must be a string",
    "platform_store_url": "Platform store url must be a string",
    "metadata": "Metadata must be an object",
}


def post(shop: Shop, **fields: Any) -> Any:
    return shop.test.post("/webhook_endpoints", {"webhook_endpoint": fields})


def patch(shop: Shop, body: dict[str, Any]) -> Any:
    return shop.test.patch(f"/webhook_endpoints/{post(shop, **GOOD).json()['id']}", body)


def told(answer: Any) -> list[str]:
    assert answer.status_code == 422, answer.content
    errors: list[str] = answer.json()["errors"]
    return errors


def test_what_cannot_be_read_is_told_with_what_the_store_forbids(bakery: Shop) -> None:
    assert told(post(bakery, **BAD)) == list(SENTENCES.values())
    assert told(post(bakery, platform="shopify", **BAD)) == list(SENTENCES.values())
    assert not Endpoint.objects.exists()


def test_a_change_is_told_of_its_own_four_fields_alone(bakery: Shop) -> None:
    names = ("url", "description", "subscribed_events", "metadata")
    assert told(patch(bakery, {"webhook_endpoint": BAD})) == [SENTENCES[name] for name in names]


def test_an_unknown_platform_is_told_before_anything_else(bakery: Shop) -> None:
    assert told(post(bakery, platform="etsy", **BAD)) == ["Platform is not included in the list"]


def test_an_integration_that_registers_again_is_told_what_is_wrong_and_stays_as_it_was(
    bakery: Shop,
) -> None:
    assert post(bakery, platform="shopify", **GOOD).status_code == 201
    before = Endpoint.objects.values().get()
    assert told(post(bakery, platform="shopify", subscribed_events=["x"], metadata=5)) == [
        "Subscribed events contains unknown events: x",
        "Metadata must be an object",
    ]
    assert Endpoint.objects.values().get() == before


def test_a_null_is_left_out_and_an_empty_store_url_is_none(bakery: Shop) -> None:
    made = post(
        bakery, **GOOD, description=None, metadata=None, platform=None, platform_store_url=""
    )
    assert made.status_code == 201
    assert {
        name: made.json()[name]
        for name in ("description", "metadata", "platform", "platform_store_url")
    } == {
        "description": "",
        "metadata": {},
        "platform": None,
        "platform_store_url": None,
    }


def test_a_change_may_come_without_the_wrapper(bakery: Shop) -> None:
    changed = patch(bakery, {"description": "Orders", "status": "disabled"})
    assert (changed.status_code, changed.json()["description"], changed.json()["status"]) == (
        200,
        "Orders",
        "active",
    )
    assert told(patch(bakery, {"url": "ftp://x"})) == ["Url must be http or https"]
    assert told(patch(bakery, {"status": "disabled"})) == ["webhook_endpoint is required"]
    assert told(patch(bakery, {"webhook_endpoint": None})) == ["webhook_endpoint is required"]


def test_reading_everything_finds_what_reading_at_all_finds_first() -> None:
    asked, broken = EndpointRequest.read_all(
        {"url": "ftp://x", "description": "kept", "metadata": 1}
    )
    assert (asked.sent(), list(broken)) == ({"description": "kept"}, ["url", "metadata"])
    asked, broken = EndpointRequest.read_all(GOOD)
    assert (asked.sent(), broken) == (GOOD, {})
