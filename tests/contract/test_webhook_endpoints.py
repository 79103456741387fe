"""Document 1, webhook endpoints: every route, every refusal, and each bad input with its
sentence."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.core import clock
from apps.webhooks import catalogue, selectors
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services import endpoints
from apps.webhooks.services.deliveries import send_test
from tests import make
from tests.cast import Api, Cast, Shop

pytestmark = pytest.mark.django_db
URL = "https://1.1.1.1/hook"
BASIC = {"url": URL, "subscribed_events": ["payment_intent.completed"]}
NOT_PUBLIC = "Url must resolve to a public address"


def create(api: Api, **fields: Any) -> Any:
    return api.post(
        "/webhook_endpoints",
        {"webhook_endpoint": {k: v for k, v in {**BASIC, **fields}.items() if v is not None}},
    )


def made(api: Api, **fields: Any) -> dict[str, Any]:
    answer = create(api, **fields)
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def refused(answer: Any, *sentences: str) -> None:
    assert (answer.status_code, answer.json()) == (422, {"errors": list(sentences)})


BAD_URLS = [
    *(
        (f"https://{host}/h", NOT_PUBLIC)
        for host in (
            "127.0.0.1",
            "localhost",
            "LOCALHOST.",
            "127.1",
            "2130706433",
            "0x7f000001",
            "[::1]",
            "[::ffff:169.254.169.254]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[fd00:ec2::254]",
            "10.0.0.1",
            "192.0.2.1",
            "nope.invalid",
            "a" * 63 + ".invalid",
        )
    ),
    ("http://169.254.170.2/", NOT_PUBLIC),
    ("http://postgres:5432/", NOT_PUBLIC),
    ("gopher://public.example/", "Url must be http or https"),
    ("ftp://1.1.1.1/", "Url must be http or https"),
    ("javascript:alert(1)", "Url must be http or https"),
    ("//1.1.1.1/", "Url must be http or https"),
    ("hook", "Url must be http or https"),
    ("", "Url can't be blank"),
    (5, "Url must be a string"),
    (["https://1.1.1.1"], "Url must be a string"),
    ("https://1.1.1.1/" + "a" * 10_000, "Url is too long (maximum is 2048 characters)"),
    *(
        (url, "Url is not valid")
        for url in (
            "https://",
            "https:///h",
            "https://u:p@1.1.1.1/h",
            "https://1.1.1.1:0/h",
            "https://1.1.1.1:99999/h",
            "https://1.1.1.1:abc/h",
            "https://pub\tlic.example/h",
            "https://public.example\\@127.0.0.1/h",
            "https://" + "a" * 64 + ".example/h",
            "https://[::1/h",
            "https://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/h",
            "https://127\u30020\u30020\u30021/h",
            "https://1.1.1.1/a b",
            "https://%31.1.1.1/",
            "https://exa_mple.com/\nX: y",
        )
    ),
]


def test_a_url_that_will_not_do_is_refused_with_its_sentence(bakery: Shop) -> None:
    for url, sentence in BAD_URLS:
        answer = create(bakery.test, url=url)
        told = (answer.status_code, answer.json())
        assert told == (422, {"errors": [sentence]}), url
    refused(create_without_url(bakery.test), "Url can't be blank")
    assert not Endpoint.objects.exists()


def create_without_url(api: Api) -> Any:
    return api.post(
        "/webhook_endpoints", {"webhook_endpoint": {"subscribed_events": ["invoice.paid"]}}
    )


BAD_FIELDS = [
    ({"subscribed_events": []}, "Subscribed events can't be blank"),
    ({"subscribed_events": ["*"]}, "Subscribed events contains unknown events: *"),
    (
        {"subscribed_events": ["invoice.paid", "invoice.*", "x"]},
        "Subscribed events contains unknown events: invoice.*, x",
    ),
    (
        {"subscribed_events": ["payment_intent.canceled"]},
        "Subscribed events contains unknown events: payment_intent.canceled",
    ),
    (
        {"subscribed_events": ["store.deleted"]},
        "Subscribed events contains unknown events: store.deleted",
    ),
    ({"subscribed_events": "invoice.paid"}, "Subscribed events must be a list of event names"),
    ({"subscribed_events": [1]}, "Subscribed events must be a list of event names"),
    (
        {"subscribed_events": ["invoice.paid"] * 101},
        "Subscribed events is too long (maximum is 100)",
    ),
    ({"metadata": []}, "Metadata must be an object"),
    ({"metadata": {"a": "x" * 17_000}}, "Metadata is too large (maximum is 16384 bytes)"),
    ({"description": 5}, "Description must be a string"),
    ({"description": "x" * 501}, "Description is too long (maximum is 500 characters)"),
    ({"platform": "etsy"}, "Platform is not included in the list"),
    ({"platform": 1}, "Platform is not included in the list"),
    (
        {"platform": "shopify", "platform_store_url": "ftp://x"},
        "Platform store url must be http or https",
    ),
]


def test_a_field_that_breaks_a_rule_is_refused_with_its_sentence(bakery: Shop) -> None:
    for fields, sentence in BAD_FIELDS:
        refused(create(bakery.test, **fields), sentence)
    assert not Endpoint.objects.exists()


def test_every_broken_rule_is_told_at_once(bakery: Shop) -> None:
    refused(
        create(bakery.test, url="x", subscribed_events=[]),
        "Url must be http or https",
        "Subscribed events can't be blank",
    )


def test_events_left_out_are_blank_and_the_wrapper_is_required(bakery: Shop) -> None:
    refused(
        bakery.test.post("/webhook_endpoints", {"webhook_endpoint": {"url": URL}}),
        "Subscribed events can't be blank",
    )
    refused(bakery.test.post("/webhook_endpoints", BASIC), "webhook_endpoint is required")
    refused(
        bakery.test.post("/webhook_endpoints", {"webhook_endpoint": [1]}),
        "webhook_endpoint must be an object",
    )
    nul = bakery.test.post(
        "/webhook_endpoints", {"webhook_endpoint": {**BASIC, "description": "a\x00"}}
    )
    assert nul.status_code == 422 and isinstance(nul.json()["errors"], list)


def test_live_endpoints_need_https_except_on_hosts_that_are_excused(
    bakery: Shop, settings: Any
) -> None:
    refused(create(bakery.live, url="http://1.1.1.1/hook"), "Url must be https")
    made(bakery.test, url="http://1.1.1.1/hook")
    settings.WEBHOOK_ALLOW_HOSTS = ["127.0.0.1"]
    made(bakery.live, url="http://127.0.0.1:9/hook")


def test_create_tells_the_whole_secret_and_stores_it_sealed(bakery: Shop) -> None:
    body = made(
        bakery.test,
        description="Orders",
        metadata={"team": {"a": 1}},
        subscribed_events=["invoice.paid", "invoice.paid"],
    )
    secret = body.pop("signing_secret")
    assert len(secret) == 70 and body["signing_secret_preview"] == secret[:12] + "..."
    assert set(body) == {
        "id",
        "url",
        "description",
        "status",
        "subscribed_events",
        "signing_secret_preview",
        "platform",
        "platform_store_url",
        "livemode",
        "platform_integration",
        "metadata",
        "api_version",
        "verified_at",
        "disabled_at",
        "created_at",
        "updated_at",
    }
    assert (body["status"], body["subscribed_events"], body["metadata"]) == (
        "active",
        ["invoice.paid"],
        {"team": {"a": 1}},
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT webhooks_endpoint::text FROM webhooks_endpoint")
        assert secret not in cursor.fetchone()[0]


def test_a_platform_may_ask_for_deleted_stores(bakery: Shop) -> None:
    bakery.store.is_platform = True
    bakery.store.save()
    body = made(Api(bakery.secrets["test"]), subscribed_events=["store.deleted"])
    assert body["subscribed_events"] == ["store.deleted"]
    assert bakery.test.get(f"/webhook_endpoints/{body['id']}").json()["available_events"] == list(
        catalogue.SUBSCRIBABLE
    )


def test_the_list_is_bare_newest_first_with_success_rates_and_without_deleted_ones(
    bakery: Shop,
) -> None:
    first, second, third = (made(bakery.test)["id"] for _ in range(3))
    assert bakery.test.delete(f"/webhook_endpoints/{second}").status_code == 204
    for status, is_test in [("delivered", False)] * 2 + [
        ("failed", False),
        ("pending", False),
        ("ignored", False),
        ("failed", True),
    ]:
        deliver(first, status, is_test=is_test)
    listed = bakery.test.get("/webhook_endpoints").json()
    assert [(item["id"], item["delivery_success_rate"]) for item in listed] == [
        (third, None),
        (first, 66.7),
    ]
    assert not {"signing_secret", "recent_deliveries"} & set(listed[0])


@pytest.mark.parametrize(
    ("rated", "looked_at", "rate"), [(2, 9, 100.0), (3, 9, 66.7), (9, 3, 100.0), (9, 9, 50.0)]
)
def test_the_success_rate_is_that_of_the_newest_deliveries(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch, rated: int, looked_at: int, rate: float
) -> None:
    monkeypatch.setattr(selectors, "RATED_MAX", rated)
    monkeypatch.setattr(selectors, "LOOKED_AT_MAX", looked_at)
    id = made(bakery.test)["id"]
    for status in ("failed", "failed", "delivered", "ignored", "delivered"):
        deliver(id, status)
    (listed,) = bakery.test.get("/webhook_endpoints").json()
    assert listed["delivery_success_rate"] == rate


def deliver(endpoint_id: str, status: str, *, is_test: bool = False) -> Delivery:
    endpoint = Endpoint.objects.select_related("store").get(pk=endpoint_id)
    delivery = send_test(endpoint, None, clock.real_now())
    delivery.status = status
    delivery.is_test = is_test
    delivery.save()
    return delivery


def test_the_list_can_be_narrowed_to_a_status(bakery: Shop) -> None:
    active = made(bakery.test)["id"]
    off = made(bakery.test)["id"]
    bakery.test.patch(f"/webhook_endpoints/{off}/disable")
    ids = {
        status: [
            item["id"] for item in bakery.test.get(f"/webhook_endpoints?status={status}").json()
        ]
        for status in ("active", "disabled", "error")
    }
    assert ids == {"active": [active], "disabled": [off], "error": []}
    assert len(bakery.test.get("/webhook_endpoints?status=x").json()) == 2


def test_retrieve_has_the_last_25_deliveries_and_the_catalogue(bakery: Shop) -> None:
    id = made(bakery.test)["id"]
    sent = [str(deliver(id, "delivered").pk) for _ in range(26)]
    body = bakery.test.get(f"/webhook_endpoints/{id}").json()
    assert [
        recent_delivery["delivery_id"] for recent_delivery in body["recent_deliveries"]
    ] == sent[:0:-1]
    assert (
        len(body["available_events"]) == 23
        and "delivery_success_rate" not in body
        and "signing_secret" not in body
    )
    assert set(body["recent_deliveries"][0]) == {
        "id",
        "delivery_id",
        "event_id",
        "event_type",
        "status",
        "attempts",
        "response_status",
        "response_body",
        "error",
        "duration_ms",
        "test",
        "next_attempt_at",
        "delivered_at",
        "created_at",
    }


def test_an_update_changes_four_fields_and_passes_over_the_rest(bakery: Shop) -> None:
    body = made(bakery.test, platform="shopify", platform_store_url="https://a.example")
    change = {
        "url": "https://1.0.0.1/new",
        "description": "New",
        "subscribed_events": ["invoice.paid"],
        "metadata": {"a": "b"},
        "platform": "custom",
        "platform_store_url": "https://b.example",
        "status": "disabled",
        "signing_secret": "whsec_x",
    }
    answer = bakery.test.patch(f"/webhook_endpoints/{body['id']}", {"webhook_endpoint": change})
    changed = answer.json()
    assert answer.status_code == 200 and "signing_secret" not in changed
    assert {key for key in changed if changed[key] != body[key]} == {
        "url",
        "description",
        "subscribed_events",
        "metadata",
        "updated_at",
    }
    refused(
        bakery.test.patch(
            f"/webhook_endpoints/{body['id']}", {"webhook_endpoint": {"url": "https://10.0.0.1/"}}
        ),
        NOT_PUBLIC,
    )
    refused(
        bakery.test.patch(
            f"/webhook_endpoints/{body['id']}", {"webhook_endpoint": {"subscribed_events": []}}
        ),
        "Subscribed events can't be blank",
    )


def test_enable_clears_what_disable_and_the_service_have_set(bakery: Shop) -> None:
    id = made(bakery.test)["id"]
    off = bakery.test.patch(f"/webhook_endpoints/{id}/disable").json()
    assert off["status"] == "disabled" and off["disabled_at"]
    assert (
        bakery.test.patch(f"/webhook_endpoints/{id}/disable").json()["disabled_at"]
        == off["disabled_at"]
    )
    on = bakery.test.patch(f"/webhook_endpoints/{id}/enable").json()
    assert (on["status"], on["disabled_at"]) == ("active", None)
    Endpoint.objects.update(status="error", disabled_at=clock.real_now(), is_notice_due=True)
    assert bakery.test.patch(f"/webhook_endpoints/{id}/disable").json()["status"] == "error"
    on = bakery.test.patch(f"/webhook_endpoints/{id}/enable").json()
    assert (on["status"], on["disabled_at"], Endpoint.objects.get().is_notice_due) == (
        "active",
        None,
        False,
    )


def test_a_deleted_endpoint_is_gone_for_every_route(bakery: Shop) -> None:
    id = made(bakery.test)["id"]
    unknown = bakery.test.get(f"/webhook_endpoints/{uuid.uuid4()}").content
    assert bakery.test.delete(f"/webhook_endpoints/{id}").status_code == 204
    for method, path in [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("PATCH", "/enable"),
        ("POST", "/send_test"),
        ("POST", "/resend_missed"),
        ("POST", "/rotate_secret"),
    ]:
        answer = bakery.test(
            method, f"/webhook_endpoints/{id}{path}", {} if method != "GET" else None
        )
        assert (answer.status_code, answer.content) == (404, unknown), path


def test_rotation_tells_a_new_secret(bakery: Shop) -> None:
    body = made(bakery.test)
    answer = bakery.test.post(f"/webhook_endpoints/{body['id']}/rotate_secret")
    new = answer.json()
    assert answer.status_code == 200 and new["signing_secret"] != body["signing_secret"]
    assert new["signing_secret_preview"] == new["signing_secret"][:12] + "..."


def test_a_test_delivery_takes_the_first_event_or_a_named_one(bakery: Shop) -> None:
    endpoint = made(bakery.test, subscribed_events=["invoice.paid", "invoice.voided"])
    path = f"/webhook_endpoints/{endpoint['id']}/send_test"
    body = bakery.test.post(path).json()
    assert (body["event_type"], set(body)) == (
        "invoice.paid",
        {"delivery_id", "event_type", "message"},
    )
    assert (
        bakery.test.post(path, {"event_type": "subscription.canceled"}).json()["event_type"]
        == "subscription.canceled"
    )
    for unknown in ("x", "payment_intent.canceled", "", 5, ["invoice.paid"], "store.deleted"):
        answer = bakery.test.post(path, {"event_type": unknown})
        assert (answer.status_code, answer.json()) == (
            422,
            {"error": "Unknown event type"},
        ), unknown


def test_redelivery_takes_the_id_in_body_or_query(bakery: Shop) -> None:
    id = made(bakery.test)["id"]
    other = made(bakery.test)["id"]
    path = f"/webhook_endpoints/{id}/redeliver"
    failed = deliver(id, "failed")
    queued = bakery.test.post(path, {"delivery_id": str(failed.pk)})
    assert (queued.status_code, queued.json()) == (200, {"message": "Redelivery queued"})
    again = bakery.test.post(f"{path}?delivery_id={failed.pk}")
    assert (again.status_code, again.json()) == (422, {"error": "Delivery is not retryable"})
    Delivery.objects.update(attempts=1)
    assert bakery.test.post(f"{path}?delivery_id={failed.pk}").status_code == 200
    assert bakery.test.post(path).json() == {"error": "delivery_id is required"}
    theirs = deliver(other, "failed")
    for unknown in (str(theirs.pk), str(uuid.uuid4()), "x", 5, [], {"a": 1}):
        answer = bakery.test.post(path, {"delivery_id": unknown})
        assert (answer.status_code, answer.json()) == (
            404,
            {"error": {"message": "Delivery not found", "code": None}},
        ), unknown
    theirs.refresh_from_db()
    assert theirs.status == "failed"


@pytest.fixture
def register(bakery: Shop) -> Callable[..., Endpoint]:
    def register(*events: str) -> Endpoint:
        return endpoints.register_endpoint(
            bakery.access(), EndpointRequest(url=URL, subscribed_events=list(events))
        ).endpoint

    return register


def test_creating_a_payment_queues_its_event_and_a_replay_queues_none(
    bakery: Shop, register: Callable[..., Endpoint]
) -> None:
    endpoint = register("payment_intent.created")
    body = make.payment(bakery.test, key="one")
    make.payment(bakery.test, key="one")
    delivery = Delivery.objects.select_related("event").get(endpoint=endpoint)
    assert delivery.status == "pending"
    assert delivery.event.object["id"] == body["reference"]
    assert {
        "status",
        "settlement_amount_cents",
        "settlement_currency",
        "from_status",
        "to_status",
        "metadata",
    } <= set(delivery.event.object)


def test_scopes_and_publishable_keys_are_kept_apart(cast: Cast) -> None:
    reader = cast.bakery.with_scopes("webhooks:read")
    assert reader.get("/webhook_endpoints").status_code == 200
    assert create(reader).status_code == 403
    assert cast.bakery.with_scopes("payments:read").get("/webhook_endpoints").status_code == 403
    assert (
        create(Api(cast.bakery.secrets["test_publishable"])).json()["error"]["code"]
        == "publishable_key_forbidden"
    )
