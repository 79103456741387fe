"""GET /events: events, newest first, for stores without an endpoint; GET /request_log beside it,
page by page without counting."""

import json
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access import request_log
from apps.access.models import RequestEntry
from apps.webhooks import signing
from apps.webhooks.models import Event
from tests import make
from tests.cast import Api, Cast, Shop
from tests.dashboard.browse import Browser

BODY = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}


def types(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [item["type"] for item in answer.json()["data"]]


def test_an_event_is_told_as_it_would_be_delivered_though_nobody_asked_for_it(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    told = bakery.test.get("/events").json()
    assert [item["type"] for item in told["data"]] == ["payment_intent.created"] and told[
        "has_more"
    ] is False
    event = Event.objects.get()
    delivered = signing.body(
        event_id=event.pk,
        type=event.type,
        created=int(event.created_at.timestamp()),
        is_live=False,
        api_version=told["data"][0]["api_version"],
        account_id=None,
        object_json=json.dumps(event.object),
    )
    assert told["data"][0] == json.loads(delivered)
    assert told["data"][0]["data"]["object"]["id"] == made["reference"]


def test_newest_first_and_on_from_any_of_them(bakery: Shop) -> None:
    make.paid(bakery.test)
    make.payment(bakery.test)
    every = [item["id"] for item in bakery.test.get("/events").json()["data"]]
    rows = Event.objects.order_by("-created_at", "-pk").values_list("pk", flat=True)
    assert every == [str(pk) for pk in rows] and len(every) >= 4
    first = bakery.test.get("/events?per_page=3").json()
    rest = bakery.test.get(f"/events?per_page=100&before={first['data'][-1]['id']}").json()
    assert [item["id"] for item in first["data"] + rest["data"]] == every
    assert (first["has_more"], rest["has_more"]) == (True, False)


def test_events_of_one_moment_are_each_told_once(bakery: Shop) -> None:
    make.paid(bakery.test)
    moment = Event.objects.latest("created_at").created_at
    Event.objects.update(created_at=moment)
    seen: list[str] = []
    while True:
        query = f"&before={seen[-1]}" if seen else ""
        told = bakery.test.get(f"/events?per_page=1{query}").json()
        seen += [item["id"] for item in told["data"]]
        if not told["has_more"]:
            break
    assert len(seen) == len(set(seen)) == Event.objects.count()


@pytest.mark.parametrize("before", ["x", "%00", "", str(uuid.UUID(int=1))])
def test_nothing_is_older_than_an_unknown_record(bakery: Shop, before: str) -> None:
    make.payment(bakery.test)
    for path in ("/events", "/request_log"):
        assert bakery.test.get(f"{path}?before={before}").json() == {"data": [], "has_more": False}


def test_each_store_and_mode_has_its_own_events(cast: Cast) -> None:
    make.payment(cast.bakery.test)
    theirs = Event.objects.get().pk
    assert types(cast.bakery.live.get("/events")) == [] == types(cast.strangers.test.get("/events"))
    make.payment(cast.strangers.test)
    assert types(cast.strangers.test.get(f"/events?before={theirs}")) == []


def test_who_may_read_them(bakery: Shop) -> None:
    assert bakery.with_scopes("webhooks:read").get("/events").status_code == 200
    assert bakery.with_scopes("payments:read").get("/events").status_code == 403
    assert bakery.with_scopes("stores:read").get("/request_log").status_code == 200
    assert bakery.with_scopes("webhooks:read").get("/request_log").status_code == 403
    assert Api(bakery.secrets["test_publishable"]).get("/events").status_code == 403
    assert Api().get("/request_log").status_code == 401


def test_calls_are_told_newest_first_by_status_and_method(bakery: Shop) -> None:
    bakery.test.get("/balances")
    bakery.test.post("/payments", {"payment_intent": {"amount": "0", "currency": "EUR"}})
    bakery.test.post("/payments", BODY, key="one")
    bakery.test.post(
        "/payments", {"payment_intent": {**BODY["payment_intent"], "amount": "11.00"}}, key="one"
    )
    request_log.flush()
    told = bakery.test.get("/request_log").json()["data"]
    assert [(item["method"], item["path"], item["status"]) for item in told] == [
        ("POST", "/payments", 201),
        ("POST", "/payments", 201),
        ("POST", "/payments", 422),
        ("GET", "/balances", 200),
    ]
    assert (told[0]["is_replay"], told[0]["is_body_different"], told[0]["idempotency_key"]) == (
        True,
        True,
        "one",
    )
    assert (
        told[2]["error_message"] == "amount must be greater than zero"
        and told[2]["idempotency_key"] is None
    )
    assert [item["status"] for item in bakery.test.get("/request_log?status=4").json()["data"]] == [
        422
    ]
    assert [
        item["method"] for item in bakery.test.get("/request_log?method=GET").json()["data"]
    ] == ["GET"]
    assert len(bakery.test.get("/request_log?method=TRACE&status=9").json()["data"]) == 4
    first = bakery.test.get("/request_log?per_page=3").json()
    assert (
        first["has_more"]
        and len(bakery.test.get(f"/request_log?before={first['data'][-1]['id']}").json()["data"])
        == 1
    )


def test_people_of_the_dashboard_are_named_to_no_key(cast: Cast) -> None:
    Browser(cast.alice).client.get("/api/v2/balances")
    request_log.flush()
    assert RequestEntry.objects.get().credential_name == cast.alice.email
    answer = cast.bakery.test.get("/request_log")
    assert answer.json()["data"][0]["credential_kind"] == "session"
    assert (
        cast.alice.email not in answer.content.decode()
        and str(cast.alice.pk) not in answer.content.decode()
    )


def test_looking_leaves_no_line(bakery: Shop) -> None:
    for path in ("/events", "/request_log"):
        bakery.test.get(path)
    assert request_log.flush() == 0


@pytest.mark.parametrize("path", ["/events", "/request_log"])
def test_more_records_take_no_more_queries(bakery: Shop, path: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert bakery.test.get(f"{path}?per_page=100").status_code == 200
        return len(seen)

    make.payment(bakery.test)
    request_log.flush()
    few = queries()
    for _ in range(5):
        make.paid(bakery.test)
    request_log.flush()
    assert queries() == few
