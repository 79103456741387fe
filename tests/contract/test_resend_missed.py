"""POST /webhook_endpoints/{id}/resend_missed: what never reached an endpoint, once."""

import pytest

from apps.webhooks.models import Delivery
from apps.webhooks.services import deliveries
from tests import make
from tests.cast import Shop
from tests.contract.test_webhook_endpoints import made

pytestmark = pytest.mark.django_db


def test_everything_missed_is_sent_once_to_an_endpoint_that_is_on(bakery: Shop) -> None:
    id = made(bakery.test, subscribed_events=["payment_intent.created"])["id"]
    path = f"/webhook_endpoints/{id}"
    ours = Delivery.objects.filter(endpoint_id=id)
    make.payment(bakery.test)
    ours.update(status="delivered")
    bakery.test("PATCH", f"{path}/disable")
    for _ in range(2):
        make.payment(bakery.test)
    assert sorted(ours.values_list("status", flat=True)) == ["delivered", "ignored", "ignored"]
    off = bakery.test.post(f"{path}/resend_missed")
    assert (off.status_code, off.json()) == (422, {"error": "Endpoint is not active"})
    bakery.test("PATCH", f"{path}/enable")
    bakery.test.post(f"{path}/send_test", {})
    for since in ("yesterday", 5, "2026-11-01", "2026-11-01T00:00:00"):
        refused = bakery.test.post(f"{path}/resend_missed", {"since": since})
        assert refused.status_code == 422 and "since" in refused.json()["error"], since
    later = bakery.test.post(f"{path}/resend_missed", {"since": "2999-01-01T00:00:00Z"})
    none = {"message": "No events were missed", "events_count": 0, "has_more": False}
    assert later.json() == none
    sent = bakery.test.post(f"{path}/resend_missed", {"since": "2020-01-01T00:00:00+02:00"})
    queued = {"message": "Missed events queued", "events_count": 2, "has_more": False}
    assert (sent.status_code, sent.json()) == (200, queued)
    assert bakery.test.post(f"{path}/resend_missed").json() == none, "they are on their way"
    waiting = ours.filter(status="pending", is_test=False).values_list("event_id", flat=True)
    assert set(waiting) == set(ours.filter(status="ignored").values_list("event_id", flat=True))
    ours.filter(status="pending").update(status="failed")
    assert bakery.test.post(f"{path}/resend_missed").json() == queued


def test_what_is_missed_beyond_one_call_is_sent_by_the_next(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = made(bakery.test, subscribed_events=["payment_intent.created"])["id"]
    monkeypatch.setattr(deliveries, "RESEND_MAX", 2)
    for _ in range(3):
        make.payment(bakery.test)
    ours = Delivery.objects.filter(endpoint_id=id)
    ours.update(status="ignored")
    oldest = list(ours.order_by("event__created_at").values_list("event_id", flat=True))
    told = [bakery.test.post(f"/webhook_endpoints/{id}/resend_missed").json() for _ in range(2)]
    assert [(one["events_count"], one["has_more"]) for one in told] == [(2, True), (1, False)]
    again = ours.filter(status="pending").order_by("event__created_at")
    assert list(again.values_list("event_id", flat=True)) == oldest
