"""Document 1, platform integrations: one per store and mode, adopted when it is registered
again."""

import pytest

from apps.webhooks import catalogue
from tests.cast import Shop
from tests.contract.test_webhook_endpoints import NOT_PUBLIC, URL, create, made, refused

pytestmark = pytest.mark.django_db


def test_a_platform_integration_gets_the_six_payment_events(bakery: Shop) -> None:
    for name in ("woocommerce", "prestashop", "shopify", "magento", "custom", "n8n"):
        body = bakery.test.post(
            "/webhook_endpoints", {"webhook_endpoint": {"url": URL, "platform": name}}
        ).json()
        assert (body["platform"], body["platform_integration"]) == (name, True)
        assert body["subscribed_events"] == list(catalogue.PLATFORM_DEFAULT)
        bakery.test.delete(f"/webhook_endpoints/{body['id']}")


def test_registering_again_adopts_re_enables_and_rotates(bakery: Shop) -> None:
    first = made(
        bakery.test,
        platform="shopify",
        platform_store_url="https://a.example",
        description="Old",
        metadata={"v": "1"},
    )
    bakery.test.patch(f"/webhook_endpoints/{first['id']}/disable")
    answer = bakery.test.post(
        "/webhook_endpoints",
        {
            "webhook_endpoint": {
                "platform": "magento",
                "url": "https://1.0.0.1/",
                "subscribed_events": [],
            }
        },
    )
    adopted = answer.json()
    assert (answer.status_code, adopted["id"], adopted["status"], adopted["platform"]) == (
        200,
        first["id"],
        "active",
        "shopify",
    )
    assert (adopted["url"], adopted["description"], adopted["metadata"]) == (
        "https://1.0.0.1/",
        "Old",
        {"v": "1"},
    )
    assert adopted["subscribed_events"] == list(catalogue.PLATFORM_DEFAULT)
    assert adopted["signing_secret"] != first["signing_secret"]
    refused(create(bakery.test, platform="shopify", url="https://10.0.0.1/"), NOT_PUBLIC)


def test_one_integration_per_mode_and_any_number_of_plain_endpoints(bakery: Shop) -> None:
    assert {create(api, platform="custom").status_code for api in (bakery.test, bakery.live)} == {
        201
    }
    assert {create(bakery.test).status_code for _ in range(3)} == {201}
    assert len(bakery.test.get("/webhook_endpoints").json()) == 4
