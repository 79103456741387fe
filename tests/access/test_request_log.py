"""The request log: every call with a credential leaves a line, seconds later at most, without
anything secret in it."""

from typing import Any

import pytest
from django.db import OperationalError

from apps.access import request_log
from apps.access.models import RequestEntry
from tests import make
from tests.cast import Api, Cast, Shop
from tests.dashboard.browse import Browser

BODY = {"payment_intent": {"amount": "10.00", "currency": "EUR", "metadata": {"a": "1", "b": "2"}}}


def logged(shop: Shop, mode: str = "test", **filters: str) -> list[Any]:
    request_log.flush()
    return list(request_log.entries(shop.access(mode), **filters))


def test_a_call_is_logged_with_who_what_and_how_long(bakery: Shop) -> None:
    answer = bakery.test.get("/payments?status=pending&token=svc_sk_test_secret")
    line = logged(bakery)[0]
    assert (line.method, line.path, line.status) == ("GET", "/payments", 200)
    assert (line.credential_kind, line.credential_id) == ("secret", bakery.access().credential_id)
    assert line.request_id == answer.headers["X-Request-Id"] and 0 <= line.duration_ms < 5000
    assert "svc_sk" not in str(vars(line)).replace(line.path, "")


def test_refusals_are_logged_with_their_sentence(bakery: Shop) -> None:
    bakery.test.post("/payments", {"payment_intent": {"amount": "0", "currency": "EUR"}})
    bakery.with_scopes("payments:read").post("/payments", BODY)
    bakery.test("DELETE", "/payments")
    found = [(line.status, line.error_code, line.error_message) for line in logged(bakery)]
    assert found[::-1] == [
        (422, "", "amount must be greater than zero"),
        (403, "insufficient_scope", "Insufficient scope: payments:write required"),
        (405, "", "Method not allowed"),
    ]


def test_ids_stand_in_the_path_but_nothing_that_is_no_id(bakery: Shop) -> None:
    id = make.payment(bakery.test)["id"]
    for part in (id, "%00%0a", "x" * 300):
        bakery.test.get(f"/payments/{part}")
    assert [line.path for line in logged(bakery)][:3] == [
        "/payments/{id}",
        "/payments/{id}",
        f"/payments/{id}",
    ]


def test_a_secret_in_the_wrong_place_is_not_kept(bakery: Shop) -> None:
    secret = f"svc_sk_test_{'a1B2' * 10}"
    bakery.test.get(f"/payments/{secret}")
    bakery.test.post("/payments", BODY, key=secret)
    bakery.test.post("/payments", BODY, key=f"{secret}2")
    lines = logged(bakery)
    assert len({line.idempotency_key for line in lines}) == 3, "keys can still be told apart"
    assert lines[-1].path == "/payments/{id}"
    assert secret not in "".join(str(vars(line)) for line in lines)


def test_strangers_and_public_paths_leave_no_line(bakery: Shop) -> None:
    reference = make.payment(bakery.test)["reference"]
    request_log.forget()
    Api("svc_sk_test_wrong").get("/payments")
    Api().get(f"/checkout/{reference}")
    assert request_log.flush() == 0


def test_each_store_and_mode_sees_its_own(cast: Cast) -> None:
    cast.bakery.test.get("/payments")
    cast.bakery.live.get("/balances")
    cast.strangers.test.get("/supported_assets")
    assert [line.path for line in logged(cast.bakery)] == ["/payments"]
    assert [line.path for line in logged(cast.bakery, "live")] == ["/balances"]


@pytest.mark.parametrize(
    ("second", "differs"),
    [
        (BODY, False),
        ({"payment_intent": dict(reversed(BODY["payment_intent"].items()))}, False),
        ({"payment_intent": {**BODY["payment_intent"], "amount": "11.00"}}, True),
    ],
)
def test_a_replay_says_whether_its_body_is_the_first_ones(
    bakery: Shop, second: Any, differs: bool
) -> None:
    for body in (BODY, second):
        assert bakery.test.post("/payments", body, key="order-1").status_code == 201
    replay, first = logged(bakery)
    assert (
        first.is_replay,
        first.is_body_different,
        replay.is_replay,
        replay.is_body_different,
    ) == (False, False, True, differs)
    assert [line.idempotency_key for line in (replay, first)] == ["order-1", "order-1"]


def test_the_first_call_is_the_one_that_made_the_record_not_one_that_failed(bakery: Shop) -> None:
    bakery.test.post("/payments", {"payment_intent": {"amount": "0", "currency": "EUR"}}, key="k")
    for _ in range(2):
        bakery.test.post("/payments", BODY, key="k")
    assert [line.is_body_different for line in logged(bakery)] == [False, False, False]


def test_what_the_database_cannot_take_now_waits(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    bakery.test.get("/payments")

    def gone() -> Any:
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr("django.db.connection.cursor", gone)
        with pytest.raises(OperationalError):
            request_log.flush()
    assert [line.path for line in logged(bakery)] == ["/payments"]


def test_the_room_lists_filters_and_shows_one(cast: Cast) -> None:
    answer = cast.bakery.test.post("/payments", BODY, key="order-7")
    cast.bakery.test.post("/payments", {**BODY, "more": 1}, key="order-7")
    cast.bakery.test.get("/payments/unknown")
    request_log.flush()
    browser = Browser(cast.alice)
    assert browser.get("requests").content.count(b"<tr") == 4
    for query, count in (
        ("status=4", 2),
        ("method=GET", 2),
        ("q=order-7", 3),
        (f"q={answer.headers['X-Request-Id']}", 2),
        ("status=5", 0),
    ):
        assert browser.get(f"requests?{query}").content.count(b"<tr") == count, query
    line = RequestEntry.objects.get(is_replay=True)
    page = browser.get(f"requests/{line.pk}").content.decode()
    assert "order-7" in page and "differs from the first request" in page
    assert Browser(cast.charlie).get(f"requests/{line.pk}").status_code == 404


def test_calls_are_found_by_the_record_that_they_were_about(cast: Cast) -> None:
    shop = cast.bakery
    id, other = (make.payment(shop.test)["id"] for _ in range(2))
    for path in (f"/payments/{id}", f"/payments/{id}/events", f"/payments/{other}", "/payments"):
        shop.test.get(path)
    cast.strangers.test.get(f"/payments/{id}")

    assert [line.path for line in logged(shop, q=id)] == [
        f"/payments/{id}/events",
        f"/payments/{id}",
    ]
    assert [line.path for line in logged(shop, q=id.upper())] == [
        f"/payments/{id}/events",
        f"/payments/{id}",
    ]
    assert logged(shop, "live", q=id) == logged(shop, q="/payments") == []
    assert [line.path for line in logged(shop, q=other, method="GET")] == [f"/payments/{other}"]
