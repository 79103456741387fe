"""A webhook endpoint is changed where it is seen, and its page is about its deliveries."""

import pytest

from apps.access.factors import stepup
from apps.stores.auditing import audit
from apps.stores.models import Role
from apps.webhooks.models import Delivery, Endpoint, QueuedDelivery
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser, text
from tests.make import payment

EVENTS = ["payment_intent.completed", "payment_intent.created"]


def registered(cast: Cast) -> Endpoint:
    asked = EndpointRequest(
        url="https://1.1.1.1/hook", subscribed_events=EVENTS, description="Shop"
    )
    return register_endpoint(cast.bakery.access(), asked).endpoint


def test_an_endpoint_is_edited_and_keeps_its_secret(cast: Cast) -> None:
    endpoint = registered(cast)
    browser = Browser(cast.bob)
    page = browser.get(f"webhooks/{endpoint.pk}/edit")
    assert page.context["form"].values == {"url": endpoint.url, "description": "Shop"}
    assert page.context["form"].chosen == {"subscribed_events": EVENTS}
    saved = browser.post(
        f"webhooks/{endpoint.pk}/edit",
        url="https://1.1.1.1/other",
        description="",
        subscribed_events=["payment_intent.completed"],
    )
    assert saved.headers["Location"] == f"/dashboard/webhooks/{endpoint.pk}"
    changed = Endpoint.objects.get(pk=endpoint.pk)
    assert (changed.url, changed.description, changed.subscribed_events) == (
        "https://1.1.1.1/other",
        "",
        ["payment_intent.completed"],
    )
    assert changed.sealed_secret == endpoint.sealed_secret
    assert changed.secret_preview == endpoint.secret_preview
    line = audit.entries(cast.bakery.store.pk, action="webhook_endpoint.changed").get()
    assert line.actor_name == cast.bob.email
    assert line.details["events"] == "payment_intent.completed"


def test_an_edit_asks_for_a_code_first(cast: Cast) -> None:
    endpoint = registered(cast)
    browser = Browser(cast.alice).prove()
    session = browser.client.session
    del session[stepup.PROOF_KEY]
    session.save()
    asked = browser.get(f"webhooks/{endpoint.pk}/edit")
    assert asked.status_code == 302 and "/confirm?" in asked.headers["Location"]
    refused = browser.post(
        f"webhooks/{endpoint.pk}/edit", url="https://1.1.1.1/other", subscribed_events=EVENTS
    )
    assert "/confirm?" in refused.headers["Location"]
    assert Endpoint.objects.get(pk=endpoint.pk).url == endpoint.url


def test_a_viewer_sees_an_endpoint_and_changes_nothing(cast: Cast) -> None:
    endpoint = registered(cast)
    viewer = person("viewer")
    join(cast.bakery.store, viewer, Role.VIEWER)
    browser = Browser(viewer)
    shown = text(browser.get(f"webhooks/{endpoint.pk}?tool=resend"))
    assert "Tools" not in shown and ">Edit<" not in shown and "Resend events" not in shown
    assert browser.get(f"webhooks/{endpoint.pk}/edit").status_code == 403


def test_nobody_edits_another_stores_endpoint(cast: Cast) -> None:
    endpoint = registered(cast)
    stranger = Browser(cast.charlie)
    assert stranger.get(f"webhooks/{endpoint.pk}/edit").status_code in (403, 404)
    assert stranger.post(
        f"webhooks/{endpoint.pk}/edit", url="https://1.1.1.1/x", subscribed_events=EVENTS
    ).status_code in (403, 404)
    assert Endpoint.objects.get(pk=endpoint.pk).url == endpoint.url


def test_deliveries_are_filtered_and_their_success_rate_is_told(cast: Cast) -> None:
    endpoint = registered(cast)
    for _ in range(4):
        payment(cast.bakery.test)
    first, *rest = Delivery.objects.filter(endpoint=endpoint).values_list("pk", flat=True)
    Delivery.objects.filter(pk__in=rest).update(status="delivered", response_status=200)
    Delivery.objects.filter(pk=first).update(status="failed", response_status=500)
    browser = Browser(cast.bob)
    page = browser.get(f"webhooks/{endpoint.pk}")
    assert page.context["rate"] == 75.0 and "75.0%" in text(page)
    assert len(page.context["deliveries"]) == 4
    failed = browser.get(f"webhooks/{endpoint.pk}?status=failed").context["deliveries"]
    assert [row.pk for row, _ in failed] == [first]
    nonsense = browser.get(f"webhooks/{endpoint.pk}?status=nonsense").context["deliveries"]
    assert len(nonsense) == 4
    assert "No matching deliveries" in text(browser.get(f"webhooks/{endpoint.pk}?status=ignored"))


@pytest.mark.parametrize(
    ("tool", "heading"), [("test", "Send a test event</h2>"), ("resend", "Resend events</h2>")]
)
def test_a_tool_opens_its_form(cast: Cast, tool: str, heading: str) -> None:
    endpoint = registered(cast)
    browser = Browser(cast.bob)
    assert heading not in text(browser.get(f"webhooks/{endpoint.pk}"))
    assert heading in text(browser.get(f"webhooks/{endpoint.pk}?tool={tool}"))


def test_one_button_sends_everything_that_was_missed(cast: Cast) -> None:
    endpoint = registered(cast)
    for _ in range(2):
        payment(cast.bakery.test)
    ours = Delivery.objects.filter(endpoint=endpoint)
    ours.update(status="ignored")
    browser = Browser(cast.bob)
    path = f"webhooks/{endpoint.pk}"
    assert "Send everything missed" in text(browser.get(path))
    for sentence in ("Sending 2 events that were missed.", "No event was missed in the last"):
        assert browser.post(f"{path}/missed").status_code == 303
        assert sentence in text(browser.get(path))
    assert ours.filter(status="pending").count() == 2
    Endpoint.objects.update(status="disabled")
    assert "Send everything missed" not in text(browser.get(path))
    browser.post(f"{path}/missed")
    assert "Endpoint is not active" in text(browser.get(path))


def test_an_endpoint_says_which_order_is_about_to_turn_it_off_and_which_did(cast: Cast) -> None:
    endpoint = registered(cast)
    payment(cast.bakery.test, order_id="1042")
    ours = Delivery.objects.filter(endpoint=endpoint)
    browser = Browser(cast.bob)
    assert "1042" not in text(browser.get(f"webhooks/{endpoint.pk}")).partition("Deliveries")[0]
    ours.update(attempts=7)
    QueuedDelivery.objects.filter(endpoint=endpoint).update(attempts=7)
    event = ours.get().event.type
    shown = text(browser.get(f"webhooks/{endpoint.pk}"))
    assert f"{event} of 1042 failed 7 of 10 times." in shown
    ours.update(status="failed", attempts=10, response_status=500, error="http_500")
    Endpoint.objects.filter(pk=endpoint.pk).update(status="error")
    shown = text(browser.get(f"webhooks/{endpoint.pk}"))
    assert f"{event} of 1042 was the last to fail: HTTP 500" in shown
