"""The request log keeps what was sent and answered, without secrets and personal data, within
bounds."""

import json
import time
from typing import Any

import pytest

from apps.access import request_log
from apps.access.models import RequestEntry
from apps.api.plumbing.kept_bodies import (
    KEPT_MAX,
    MASK,
    Kept,
    kept_request,
    kept_response,
    masked,
)
from apps.core import clock
from apps.core.process.logs import REDACTED
from tests.billing import records as billing
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser, text
from tests.make import payment


def last(shop: Shop, **columns: Any) -> RequestEntry:
    request_log.flush()
    rows = RequestEntry.objects.filter(store=shop.store, **columns)
    return rows.latest("created_at")


def told(kept: Kept | None) -> str | None:
    return kept and kept()


def test_a_call_is_shown_with_what_was_sent_and_answered(cast: Cast) -> None:
    made = payment(cast.bakery.test, amount="12.50", order_id="A-1")
    entry = last(cast.bakery, route="payments", method="POST")
    assert json.loads(entry.request_body or "")["payment_intent"]["order_id"] == "A-1"
    assert json.loads(entry.response_body or "")["id"] == made["id"]
    page = text(Browser(cast.bob).get(f"requests/{entry.pk}"))
    assert "Request body" in page and "Response body" in page and "A-1" in page


def test_a_refusal_is_kept_and_a_successful_read_is_not(cast: Cast) -> None:
    cast.bakery.test.post("/payments", {"payment_intent": {"amount": "-1", "currency": "EUR"}})
    refused = last(cast.bakery, status=422)
    assert "-1" in (refused.request_body or "") and "error" in (refused.response_body or "")
    cast.bakery.test.get("/payments")
    read = last(cast.bakery, method="GET")
    assert read.request_body is None and read.response_body is None
    assert "Bodies of successful reads" in text(Browser(cast.bob).get(f"requests/{read.pk}"))


def test_customers_are_masked(cast: Cast) -> None:
    billing.customer(cast.bakery.test, email="chloe@example.com", name="Chloe Dubois")
    entry = last(cast.bakery, route__contains="customers", method="POST")
    kept = f"{entry.request_body} {entry.response_body}"
    assert "chloe" not in kept.lower() and "Dubois" not in kept and MASK in kept


def test_a_signing_secret_is_not_kept(cast: Cast) -> None:
    body = {"url": "https://1.1.1.1/hook", "subscribed_events": ["payment_intent.completed"]}
    answer = cast.bakery.test.post("/webhook_endpoints", {"webhook_endpoint": body})
    entry = last(cast.bakery, route="webhook_endpoints", method="POST")
    assert answer.json()["signing_secret"] not in (entry.response_body or "")
    assert "whsec_" + answer.json()["signing_secret"][6:] not in (entry.response_body or "")


@pytest.mark.parametrize("route", ["oauth/token", "api_keys", "merchants/oauth_apps/<str:id>"])
def test_nothing_is_kept_of_calls_that_hand_out_credentials(route: str) -> None:
    assert kept_request("POST", route, {"code": "abc"}) is None
    assert kept_response("POST", route, 201, {"access_token": "x"}) is None
    assert kept_response("POST", route, 400, {"error": "x"}) is None


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"note": "call me"}, {"note": MASK}),
        ({"customer": {"name": "Chloe", "id": "7"}}, {"customer": {"name": MASK, "id": "7"}}),
        ({"product": {"name": "Bread"}}, {"product": {"name": "Bread"}}),
        ({"title": "for chloe@example.com"}, {"title": f"for {MASK}"}),
        ({"contact": {"address": {"city": "Paris"}}}, {"contact": {"address": MASK}}),
        ({"destination_address": "0x52908400098527886E0F7030069857D2E4169EE7"},) * 2,
        ({"deactivated_at": "2026-01-01"},) * 2,
        (
            {"fiat": {"iban": "DE02120300000000202051", "holder": "A"}},
            {"fiat": {"iban": MASK, "holder": MASK}},
        ),
        (
            {"return_url": "https://shop.example/back/7?key=1"},
            {"return_url": "https://shop.example/back/…?…"},
        ),
        ({"metadata": {"email": "a@b.example", "n": 1}}, {"metadata": {"email": MASK, "n": 1}}),
        ({"customer_email": ""}, {"customer_email": ""}),
        ({"chloe@example.com": "1"}, {MASK: "1"}),
        ({"image_url": "mailto:chloe@example.com"}, {"image_url": MASK}),
        ({"success_url": "shop.example/back/7"}, {"success_url": "shop.example/…"}),
        ({"success_url": "http://[1/key"}, {"success_url": MASK}),
        ({"metadata": {"customerName": "Chloe"}}, {"metadata": {"customerName": MASK}}),
        ({"metadata": {"Full Name": "Chloe"}}, {"metadata": {"Full Name": MASK}}),
        ({"client_secret": None, "to": "whsec_00"}, {"client_secret": REDACTED, "to": REDACTED}),
    ],
)
def test_what_tells_of_a_person_is_masked(sent: dict[str, Any], kept: dict[str, Any]) -> None:
    assert masked(sent) == kept


def test_a_long_body_is_cut_and_a_huge_one_is_not_read() -> None:
    long = told(kept_request("POST", "payments", {"metadata": {"a": "x" * 10_000}}))
    assert long is not None and KEPT_MAX < len(long) <= KEPT_MAX + 2
    huge = told(kept_request("POST", "payments", {"metadata": {"a": "x" * 100_000}}))
    assert huge is not None and huge.endswith("bytes, not kept")


def test_of_a_long_list_the_beginning_is_kept_as_it_would_be_of_a_short_one() -> None:
    entries = [{"id": str(n), "email": f"a{n}@example.com"} for n in range(500)]
    document = {"id": "7", "entries": entries, "last": "x"}
    long = told(kept_response("POST", "payments", 201, document))
    short = told(kept_response("POST", "payments", 201, {"id": "7", "entries": entries[:80]}))
    assert long is not None and short is not None
    assert len(short) < KEPT_MAX < len(long) and "@" not in long
    assert long.startswith(short[:-2])


@pytest.mark.parametrize("url", ["http://[", "https://[::1/x", "http://exa\u2100mple.com/a/b"])
def test_a_broken_address_costs_no_answer(cast: Cast, url: str) -> None:
    asked = {"amount": "1.00", "currency": "EUR", "success_url": url, "order_id": "A-9"}
    answer = cast.bakery.test.post("/payments", {"payment_intent": asked})
    assert answer.status_code == 422
    assert "A-9" in (last(cast.bakery, status=422).request_body or "")


@pytest.mark.parametrize("text", ["a" * 60_000, "a." * 30_000, "a@" * 30_000, "a@" + "a." * 29_000])
def test_a_long_word_is_masked_at_once(text: str) -> None:
    began = time.process_time()
    assert told(kept_request("POST", "payments", {"metadata": {"a": text}})) is not None
    assert time.process_time() - began < 20  # the square of its length would be an hour


def test_a_body_with_a_character_that_nothing_stores_is_kept_as_json(cast: Cast) -> None:
    asked = {"amount": "1.00", "currency": "EUR", "title": "\\u0000", "order_id": "\x00"}
    cast.bakery.test.post("/payments", {"payment_intent": asked})
    kept = json.loads(last(cast.bakery, status=422).request_body or "")
    assert kept["payment_intent"]["title"] == "\\u0000"


def test_the_api_and_the_file_have_no_bodies(cast: Cast) -> None:
    payment(cast.bakery.test, order_id="A-77")
    request_log.flush()
    told = cast.bakery.test.get("/request_log").json()["data"]
    assert told and not any({"request_body", "response_body"} & row.keys() for row in told)
    answer = Browser(cast.bob).get("requests.csv")
    assert b"A-77" not in b"".join(answer.streaming_content)


def test_a_body_that_cant_be_masked_costs_no_other_row_its_place(cast: Cast) -> None:
    def fail() -> str:
        raise RecursionError

    access = cast.bakery.access("test")
    call = {
        "method": "POST", "route": "payments", "path": "/payments", "status": 201,
        "request_id": "", "duration_ms": 1, "idempotency_key": "", "is_replay": False,
        "body_digest": None, "error_code": "", "error_message": "", "record_id": None,
    }  # fmt: skip
    request_log.note(
        access, clock.real_now(), **call, request_body=fail, response_body=lambda: "{}"
    )
    payment(cast.bakery.test)
    request_log.flush()
    rows = RequestEntry.objects.filter(store=cast.bakery.store, route="payments")
    assert sorted(row.request_body is None for row in rows) == [False, True]
