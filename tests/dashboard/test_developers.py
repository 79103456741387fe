"""API keys and webhook endpoints: a secret is on one answer and on no other."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access import scopes
from apps.access.models import ApiKey
from apps.core import clock
from apps.core.outbound import strangers as posting
from apps.dashboard.developers.scope_words import scope_groups
from apps.stores.models import Store
from apps.webhooks import pruning
from apps.webhooks.delivery import queue, sender
from apps.webhooks.models import Attempt, Delivery, Endpoint, Event
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests.cast import Api, Cast, signed_in
from tests.dashboard.browse import Browser, text
from tests.make import payment

EVENTS = ["payment_intent.completed", "payment_intent.created"]


def registered(cast: Cast) -> Endpoint:
    asked = EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=EVENTS)
    return register_endpoint(cast.bakery.access(), asked).endpoint


def make_endpoint(browser: Browser, **fields: Any) -> Any:
    return browser.post(
        "webhooks/new", **{"url": "https://1.1.1.1/hook", "subscribed_events": EVENTS, **fields}
    )


def test_a_new_key_is_shown_once_and_works_in_its_mode(cast: Cast) -> None:
    browser = Browser(cast.bob)
    answer = browser.post(
        "api-keys/new", name="Web shop", key_type="secret", scopes=["payments:read"]
    )
    secret = answer.context["secret"]
    assert (
        answer.status_code == 201 and secret.startswith("svc_sk_test_") and secret in text(answer)
    )
    assert secret not in text(browser.get("api-keys")) and "Web shop" in text(
        browser.get("api-keys")
    )
    assert Api(secret).get("/payments").status_code == 200
    assert Api(secret).get("/balances").status_code == 403


def test_keys_of_the_other_mode_are_not_listed(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.post("api-keys/new", name="Only in test", key_type="secret", scopes=["payments:read"])
    browser.switch("live")
    assert "Only in test" not in text(browser.get("api-keys"))


def test_a_refused_key_form_makes_no_key(cast: Cast) -> None:
    before = ApiKey.objects.count()
    answer = Browser(cast.alice).post(
        "api-keys/new", name="x" * 101, key_type="secret", scopes=["payments:read"]
    )
    assert answer.status_code == 422
    assert "Name is too long (maximum is 100 characters)." in text(answer)
    assert ApiKey.objects.count() == before


def scope_boxes(browser: Browser, path: str) -> dict[str, bool]:
    """Each scope that a form offers, and whether it is ticked."""
    page = browser.get(path).content.decode()
    boxes = re.findall(r'<input type="checkbox" name="scopes" value="([^"]+)"([^>]*)>', page)
    return {scope: "checked" in rest for scope, rest in boxes}


def test_nothing_is_granted_to_an_agent_before_a_person_ticks_it(cast: Cast) -> None:
    boxes = scope_boxes(Browser(cast.alice).prove(), "agents/new")
    assert len(boxes) >= 8 and not any(boxes.values())


def test_a_test_key_begins_with_full_access(cast: Cast) -> None:
    """The form as it comes makes a key: nobody meets a refusal by accident."""
    browser = Browser(cast.alice)
    boxes = scope_boxes(browser, "api-keys/new")
    assert {scope for scope, is_ticked in boxes.items() if is_ticked} == set(scopes.MERCHANT)
    made = browser.post("api-keys/new", name="Laptop", key_type="secret", access="full")
    assert made.status_code == 201 and made.context["key"].scopes == list(scopes.MERCHANT)
    Store.objects.filter(pk=cast.bakery.store.pk).update(is_platform=True)
    made = browser.post("api-keys/new", name="Market", key_type="secret", access="full")
    assert made.context["key"].scopes == list(scopes.ALL)


def test_full_access_is_at_most_what_the_person_may(cast: Cast) -> None:
    browser = Browser(cast.bob)
    made = browser.post("api-keys/new", name="Laptop", key_type="secret", access="full")
    assert made.status_code == 201
    assert "payouts:write" not in made.context["key"].scopes
    assert {"payments:write", "webhooks:write"} <= set(made.context["key"].scopes)


@pytest.mark.parametrize(
    ("way", "expected", "missing"),
    [
        ("links", {"payments:read", "balances:read"}, {"payments:write", "payouts:write"}),
        ("website", {"payments:write", "refunds:write", "webhooks:write"}, {"payouts:write"}),
        ("", {"payments:write", "webhooks:write"}, {"payouts:write", "accounts:act"}),
    ],
)
def test_a_live_key_begins_with_what_the_way_of_selling_needs(
    cast: Cast, way: str, expected: set[str], missing: set[str]
) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(way_of_selling=way)
    browser = Browser(cast.alice).prove()
    browser.switch("live")
    boxes = scope_boxes(browser, "api-keys/new")
    ticked = {scope for scope, is_ticked in boxes.items() if is_ticked}
    assert expected <= ticked and not ticked & missing
    assert missing - {"accounts:act"} <= boxes.keys()


def test_each_scope_of_a_key_is_in_one_group_with_words(cast: Cast) -> None:
    groups = scope_groups(signed_in(cast.alice, cast.bakery.store))
    offered = [scope for group in groups for scope, _ in group.scopes]
    assert sorted(offered) == sorted(scopes.ALL)
    assert all(words for group in groups for _, words in group.scopes)


@pytest.mark.parametrize(
    ("path", "among"), [("agents/new", scopes.AGENT), ("apps/own/new", scopes.ALL)]
)
def test_forms_of_agents_and_apps_have_their_scopes_in_groups_with_words(
    cast: Cast, path: str, among: tuple[str, ...]
) -> None:
    browser = Browser(cast.alice).prove()
    groups = browser.get(path).context["groups"]
    page = text(browser.get(path))
    offered = [scope for group in groups for scope, _ in group.scopes]
    assert sorted(offered) == sorted(among)
    assert all(group.sentence in page for group in groups)
    assert all(words in page for group in groups for _, words in group.scopes)


def test_a_key_is_revoked_after_asking(cast: Cast) -> None:
    browser = Browser(cast.alice)
    secret = browser.post(
        "api-keys/new", name="Old", key_type="secret", scopes=["payments:read"]
    ).context["secret"]
    key = ApiKey.objects.get(name="Old")
    assert "This can’t be undone" in text(browser.get(f"api-keys/{key.pk}/revoke"))
    assert Api(secret).get("/payments").status_code == 200
    browser.post(f"api-keys/{key.pk}/revoke")
    assert Api(secret).get("/payments").status_code == 401
    assert browser.post(f"api-keys/{key.pk}/revoke").status_code == 404


def test_a_new_endpoint_shows_its_signing_secret_once(cast: Cast) -> None:
    browser = Browser(cast.bob)
    answer = make_endpoint(browser, description="Orders")
    endpoint = Endpoint.objects.get()
    secret = answer.context["secret"]
    assert answer.status_code == 201 and secret.startswith("whsec_") and secret in text(answer)
    shown = text(browser.get(f"webhooks/{endpoint.pk}"))
    assert secret not in shown and f"{secret[:12]}…" in shown and "Orders" in shown
    assert "1.1.1.1" in text(browser.get("webhooks"))


def test_events_that_only_a_test_sends_stand_apart(cast: Cast) -> None:
    page = text(Browser(cast.bob).get("webhooks/new"))
    before, _, after = page.partition("Sent only when you send a test event")
    assert 'value="payment_intent.completed"' in before and 'value="payout.' not in before
    assert after.count('name="subscribed_events"') == 5 and "test deliveries only" not in page


def test_an_event_without_an_endpoint_leads_to_one(cast: Cast) -> None:
    payment(cast.bakery.test)
    event = Event.objects.filter(store=cast.bakery.store).latest("created_at")
    page = text(Browser(cast.bob).get(f"events/{event.pk}"))
    assert 'href="/dashboard/webhooks/new"' in page.partition("No deliveries")[2]


def test_a_long_address_of_an_endpoint_is_whole_on_its_page(cast: Cast) -> None:
    browser = Browser(cast.bob)
    url = "https://1.1.1.1/" + "hooks/" * 60
    make_endpoint(browser, url=url)
    shown = text(browser.get(f"webhooks/{Endpoint.objects.get().pk}"))
    assert f'<code id="url">{url}</code>' in shown


def test_a_refused_endpoint_form_says_why_at_each_input_and_keeps_what_was_typed(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    for fields, errors in (
        ({"url": "ftp://1.1.1.1"}, {"url": "URL must be http or https."}),
        ({"url": "https://127.0.0.1/"}, {"url": "URL must resolve to a public address."}),
        ({"url": ""}, {"url": "URL can’t be blank."}),
        ({"subscribed_events": []}, {"subscribed_events": "Events can’t be blank."}),
        (
            {"url": "https://127.0.0.1/", "subscribed_events": ["nonsense"]},
            {
                "url": "URL must resolve to a public address.",
                "subscribed_events": "Events contains unknown events: nonsense.",
            },
        ),
    ):
        answer = make_endpoint(browser, **{"description": "kept", **fields})
        page = text(answer)
        assert answer.status_code == 422 and 'value="kept"' in page
        assert (
            dict(
                re.findall(
                    r'<span class="error" id="(\w+)-error" role="alert">([^<]+)</span>', page
                )
            )
            == errors
        )
        assert all(
            f'aria-describedby="{"url-hint " if name == "url" else ""}{name}-error"' in page
            for name in errors
        )
        (focused,) = re.findall(r'id="(\w+)-error" role="alert"', page)[:1]
        assert (
            re.search(rf'aria-describedby="[^"]*{focused}-error" autofocus', page)
            and page.count("autofocus") == 1
        )
    assert not Endpoint.objects.exists()


def test_an_endpoint_is_turned_off_and_on(cast: Cast) -> None:
    browser = Browser(cast.alice)
    endpoint = registered(cast)
    for to in ("disabled", "active"):
        assert (
            browser.post(f"webhooks/{endpoint.pk}/switch", to=to).headers["Location"]
            == f"/dashboard/webhooks/{endpoint.pk}"
        )
        endpoint.refresh_from_db()
        assert endpoint.status == to


def test_a_replaced_secret_is_a_new_one_shown_once(cast: Cast) -> None:
    browser = Browser(cast.alice)
    first = make_endpoint(browser).context["secret"]
    endpoint = Endpoint.objects.get()
    assert "stops working immediately" in text(browser.get(f"webhooks/{endpoint.pk}/secret"))
    second = browser.post(f"webhooks/{endpoint.pk}/secret").context["secret"]
    assert second != first and second not in text(browser.get(f"webhooks/{endpoint.pk}"))


def test_a_test_event_is_queued_for_this_endpoint(cast: Cast) -> None:
    browser = Browser(cast.alice)
    endpoint = registered(cast)
    browser.post(f"webhooks/{endpoint.pk}/test", event_type="invoice.paid")
    delivery = Delivery.objects.select_related("event").get()
    assert delivery.is_test and delivery.event.type == "invoice.paid"
    assert "invoice.paid" in text(browser.get(f"webhooks/{endpoint.pk}"))
    refused = browser.post(f"webhooks/{endpoint.pk}/test", event_type="nonsense")
    assert "Unknown event type." in text(browser.get(refused.headers["Location"]))


def test_a_delivery_is_sent_again_only_when_it_can_be(cast: Cast) -> None:
    browser = Browser(cast.alice)
    endpoint = registered(cast)
    made = payment(cast.bakery.test)
    delivery = Delivery.objects.get(endpoint=endpoint)
    assert "payment_intent.created" in text(browser.get(f"payments/{made['id']}"))
    path = f"webhooks/{endpoint.pk}/deliveries/{delivery.pk}"
    refused = browser.post(path)
    assert "Delivery is not retryable." in text(browser.get(refused.headers["Location"]))
    Delivery.objects.filter(pk=delivery.pk).update(status="failed", attempts=10)
    browser.post(path)
    delivery.refresh_from_db()
    assert delivery.status == "pending"


def test_a_delivery_shows_what_was_sent_and_what_each_attempt_brought(cast: Cast) -> None:
    browser = Browser(cast.alice)
    registered(cast)
    payment(cast.bakery.test)
    delivery = Delivery.objects.select_related("event").get()
    path = f"webhooks/{delivery.endpoint_id}/deliveries/{delivery.pk}"
    assert "No attempts yet" in text(browser.get(path))
    sent = []
    for code, body in ((500, b"<b>down</b>"), (200, b"thanks")):
        Delivery.objects.update(next_attempt_at=clock.real_now())
        (attempt,) = queue.claim(clock.real_now(), 10)
        sent.append(attempt)
        answer = posting.Answer(code, body)
        queue.record([sender.result_of(attempt, clock.real_now(), answer, None, 120 + code)])
    page = browser.get(path)
    assert page.context["raw"].encode() == sent[0].body == sent[1].body
    told = [
        (
            attempt.number,
            attempt.response_status,
            attempt.duration_ms,
            attempt.answer,
            attempt.is_arrived,
        )
        for attempt in page.context["attempts"]
    ]
    assert told == [(2, 200, 320, "thanks", True), (1, 500, 620, "<b>down</b>", False)]
    shown = page.content.decode()
    assert "&lt;b&gt;down&lt;/b&gt;" in shown
    for name, value in sent[1].headers.items() - {
        ("webhook-timestamp", sent[1].headers["webhook-timestamp"])
    }:
        assert (value in shown) is ("ignature" not in name), name
        assert name in shown
    assert "whsec_" not in shown
    event = browser.get(f"events/{delivery.event_id}")
    assert path in event.content.decode()
    listed = text(browser.get("events"))
    for page_text in (listed, text(event), text(page)):
        assert "A payment was created" in page_text and "payment_intent.created" in page_text


def test_an_attempt_goes_with_its_delivery(cast: Cast) -> None:
    Attempt.objects.create(
        delivery_id=uuid.uuid4(),
        number=1,
        at=clock.real_now() - timedelta(days=4000),
        duration_ms=1,
    )
    assert pruning.prune_all(clock.real_now())["attempts"] == 1


def test_the_page_of_an_event_asks_as_much_for_many_deliveries_as_for_one(cast: Cast) -> None:
    browser = Browser(cast.alice)
    registered(cast)
    payment(cast.bakery.test)
    delivery = Delivery.objects.get()

    def asked(path: str) -> int:
        browser.get(path)
        with CaptureQueriesContext(connection) as seen:
            browser.get(path)
        return len(seen)

    pages = (
        "events",
        f"events/{delivery.event_id}",
        f"webhooks/{delivery.endpoint_id}/deliveries/{delivery.pk}",
    )
    few = [asked(page) for page in pages]
    for number in range(5):
        Attempt.objects.create(delivery=delivery, number=number, at=clock.real_now(), duration_ms=1)
        payment(cast.bakery.test)
        Delivery.objects.create(
            store=delivery.store,
            mode="test",
            event=delivery.event,
            endpoint=delivery.endpoint,
            created_at=clock.real_now(),
        )
    assert [asked(page) for page in pages] == few


def test_a_deleted_endpoint_is_gone_after_asking(cast: Cast) -> None:
    browser = Browser(cast.alice)
    endpoint = registered(cast)
    assert "permanently removed" in text(browser.get(f"webhooks/{endpoint.pk}/delete"))
    browser.post(f"webhooks/{endpoint.pk}/delete")
    assert browser.get(f"webhooks/{endpoint.pk}").status_code == 404


def test_a_range_of_events_is_sent_again(cast: Cast) -> None:
    browser = Browser(cast.bob)
    endpoint = registered(cast)
    payment(cast.bakery.test)
    before = Delivery.objects.count()
    shown = text(browser.get(f"webhooks/{endpoint.pk}?tool=resend"))
    begins, ends = re.findall(r'datetime-local" required value="([^"]+)"', shown)
    assert (
        browser.post(f"webhooks/{endpoint.pk}/resend", **{"from": begins, "to": ends}).status_code
        == 303
    )
    assert "Resending 1 event." in text(browser.get(f"webhooks/{endpoint.pk}"))
    assert Delivery.objects.count() == before + 1


def test_what_is_wrong_about_a_range_is_said_at_its_input(cast: Cast) -> None:
    browser = Browser(cast.alice)
    registered(cast)
    path = f"webhooks/{Endpoint.objects.get().pk}/resend"
    for begins, ends, name, sentence in (
        ("", "", "from", "Choose a start and an end."),
        ("2026-01-01", "x", "from", "Choose a start and an end."),
        ("2026-01-01T00:00", "x", "to", "Choose a start and an end."),
        (
            "2026-01-02T00:00",
            "2026-01-01T00:00",
            "to",
            "The end of the range is before its start.",
        ),
    ):
        answer = browser.post(path, **{"from": begins, "to": ends})
        page = text(answer)
        told = f'id="{name}-error" role="alert">{sentence}<'
        assert answer.status_code == 422 and told in page, (begins, ends)
        assert f'required value="{begins}"' in page, (begins, ends)
        assert f'aria-describedby="{name}-error" autofocus' in page, (begins, ends)


def test_a_range_without_events_sends_none(cast: Cast) -> None:
    browser = Browser(cast.alice)
    registered(cast)
    path = f"webhooks/{Endpoint.objects.get().pk}"
    for begins, ends in (
        ("2020-01-01T00:00", "2020-01-02T00:00"),
        ("9999-12-31T23:59", "9999-12-31T23:59"),
    ):
        browser.post(f"{path}/resend", **{"from": begins, "to": ends})
        shown = text(browser.get(path))
        assert "There are no events to resend in this period." in shown, begins


def test_a_range_of_too_many_events_is_refused_at_its_end(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(cast.alice)
    registered(cast)
    monkeypatch.setattr("apps.webhooks.services.deliveries.RESEND_MAX", 1)
    for _ in range(2):
        payment(cast.bakery.test)
    path = f"webhooks/{Endpoint.objects.get().pk}"
    shown = text(browser.get(f"{path}?tool=resend"))
    begins, ends = re.findall(r'datetime-local" required value="([^"]+)"', shown)
    answer = browser.post(f"{path}/resend", **{"from": begins, "to": ends})
    assert answer.status_code == 422 and 'id="to-error"' in text(answer)


def test_nothing_is_sent_again_to_an_endpoint_that_is_off(cast: Cast) -> None:
    browser = Browser(cast.alice)
    endpoint = registered(cast)
    browser.post(f"webhooks/{endpoint.pk}/switch", to="disabled")
    assert "Resend events" not in text(browser.get(f"webhooks/{endpoint.pk}"))
    browser.post(
        f"webhooks/{endpoint.pk}/resend", **{"from": "2026-01-01T00:00", "to": "2026-01-02T00:00"}
    )
    assert (
        "again."
        not in text(browser.get(f"webhooks/{endpoint.pk}")).split("<main")[1].split("Deliveries")[0]
    )


def test_why_a_delivery_got_no_answer_is_said_in_words_with_its_code(cast: Cast) -> None:
    browser = Browser(cast.alice)
    registered(cast)
    payment(cast.bakery.test)
    delivery = Delivery.objects.get()
    Delivery.objects.update(status="failed", error="name_not_resolved", attempts=10)
    code = 'Host name not found <code class="small muted">name_not_resolved</code>'
    page = f"webhooks/{delivery.endpoint_id}"
    assert code in text(browser.get(page))
    assert code in text(browser.get(f"{page}/deliveries/{delivery.pk}"))
