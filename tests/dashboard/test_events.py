"""The list of events says which record each is about, and finds events by it."""

import pytest

from apps.webhooks.models import Event
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.deliveries import send_test
from apps.webhooks.services.endpoints import register_endpoint
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.make import paid, payment


def test_an_event_names_its_payment_with_amount_and_link(cast: Cast) -> None:
    made = paid(cast.bakery.test, amount="12.50", order_id="A-77")
    browser = Browser(cast.bob)
    rows = browser.get("events").context["events"]
    assert {row.subject.name for row in rows} == {made["reference"]}
    assert {row.url for row in rows} == {f"/dashboard/payments/{made['id']}"}
    assert {row.subject.amount_cents for row in rows} == {1250}
    shown = text(browser.get("events"))
    assert made["reference"] in shown and "€12.50" in shown and "A-77" in shown
    one = browser.get(f"events/{rows[0].event.pk}")
    assert f'href="/dashboard/payments/{made["id"]}"' in text(one)
    assert browser.get(f"payments/{made['id']}").status_code == 200


@pytest.mark.parametrize("field", ["reference", "order_id", "id"])
def test_events_are_found_by_what_they_are_about(cast: Cast, field: str) -> None:
    wanted = paid(cast.bakery.test, order_id="A-77")
    payment(cast.bakery.test, order_id="A-78")
    rows = Browser(cast.bob).get(f"events?q={wanted[field]}").context["events"]
    assert len(rows) >= 2 and {row.subject.name for row in rows} == {wanted["reference"]}
    none = Browser(cast.bob).get("events?q=A-79")
    assert "No matching events" in text(none)


def test_an_event_is_still_found_by_its_own_id(cast: Cast) -> None:
    payment(cast.bakery.test)
    event = Event.objects.filter(store=cast.bakery.store).latest("created_at")
    rows = Browser(cast.bob).get(f"events?q={event.pk}").context["events"]
    assert [row.event.pk for row in rows] == [event.pk]


def test_an_event_of_an_invoice_links_to_it(cast: Cast) -> None:
    record = billing.opened(cast.bakery.test)
    rows = Browser(cast.bob).get("events?type=invoice.finalized").context["events"]
    assert [row.url for row in rows] == [f"/dashboard/invoices/{record['id']}"]
    assert rows[0].subject.name and rows[0].subject.amount_cents


def test_an_event_that_a_test_made_up_leads_nowhere(cast: Cast) -> None:
    asked = EndpointRequest(
        url="https://1.1.1.1/hook", subscribed_events=["payment_intent.completed"]
    )
    endpoint = register_endpoint(cast.bakery.access(), asked).endpoint
    send_test(endpoint, "payment_intent.completed", cast.bakery.access().now())
    (row,) = Browser(cast.bob).get("events").context["events"]
    assert row.url == "" and row.subject.name == "TESTEVENT0000001"


def test_another_stores_record_is_not_found(cast: Cast) -> None:
    made = payment(cast.bakery.test)
    assert "No matching events" in text(Browser(cast.charlie).get(f"events?q={made['reference']}"))
