"""Records that were kept long enough are deleted, in batches; those still needed stay."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.access import pruning as access_pruning
from apps.access import request_log
from apps.access.models import AccessToken, Application, Grant, RefreshToken, RequestEntry
from apps.audit.grants import WORKER
from apps.core import clock, mail
from apps.core.db import partitions
from apps.core.db.pruning import prune, prune_in_turns
from apps.core.models import OutgoingMail
from apps.webhooks import pruning as webhook_pruning
from apps.webhooks.models import Attempt, Delivery, Event
from apps.webhooks.pruning import MONTHS
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.cast import Cast, Shop
from tests.roles import acting_as

DAY = timedelta(days=1)
MOMENT = timedelta(microseconds=1)


def later(days: int) -> datetime:
    return clock.real_now() + timedelta(days=days)


def test_the_request_log_is_kept_for_its_days(bakery: Shop) -> None:
    bakery.test.get("/payments")
    request_log.flush()
    assert access_pruning.prune_all(later(29))["request_entries"] == 0
    assert access_pruning.prune_all(later(31))["request_entries"] == 1
    assert not RequestEntry.objects.exists()


@pytest.fixture
def month(bakery: Shop) -> datetime:
    """When the month ends in which events are written now: it is there."""
    now = clock.real_now()
    partitions.make_ahead(MONTHS, now)
    start = MONTHS.scale.start_of(now)
    assert now < partitions.covered_until(MONTHS, now)
    end = MONTHS.scale.after(start)
    assert isinstance(end, datetime)
    return end


def check_now() -> None:
    """The check of a transaction at its end: no month is dropped before."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


def test_a_month_goes_with_deliveries_and_attempts_when_nothing_of_it_waits(
    bakery: Shop, month: datetime
) -> None:
    register_endpoint(
        bakery.access(),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.created"]),
    )
    for _ in range(2):
        make.payment(bakery.test)
    ended = Delivery.objects.first()
    assert ended is not None
    Delivery.objects.filter(pk=ended.pk).update(status=Delivery.Status.DELIVERED)
    for delivery in Delivery.objects.all():
        Attempt.objects.create(delivery=delivery, number=1, at=clock.real_now(), duration_ms=20)
    nothing = {"attempts": 0, "deliveries": 0, "events": 0}
    check_now()
    assert webhook_pruning.prune_all(month + 91 * DAY) == nothing
    Delivery.objects.exclude(pk=ended.pk).update(status=Delivery.Status.IGNORED)

    check_now()
    assert webhook_pruning.prune_all(month + 90 * DAY - MOMENT) == nothing
    with acting_as(WORKER), CaptureQueriesContext(connection) as queries:
        gone = webhook_pruning.prune_all(month + 90 * DAY)

    assert gone == {"attempts": 2, "deliveries": 2, "events": 2}
    assert [query["sql"] for query in queries if query["sql"].startswith("DELETE")] == []
    assert not Event.objects.exists() and not Attempt.objects.exists()


def test_what_waits_keeps_its_month_for_a_month_and_then_itself(
    bakery: Shop, month: datetime
) -> None:
    register_endpoint(
        bakery.access(),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.created"]),
    )
    for _ in range(2):
        make.payment(bakery.test)
    ended = Delivery.objects.first()
    assert ended is not None
    Delivery.objects.filter(pk=ended.pk).update(status=Delivery.Status.DELIVERED)
    for delivery in Delivery.objects.all():
        Attempt.objects.create(delivery=delivery, number=1, at=clock.real_now(), duration_ms=20)
    check_now()

    assert not any(webhook_pruning.prune_all(month + 119 * DAY).values())
    gone = webhook_pruning.prune_all(month + 122 * DAY)

    assert gone == {"attempts": 1, "deliveries": 1, "events": 1}
    assert Delivery.objects.get().event_id == Event.objects.get().pk != ended.event_id


def test_what_is_pruned_is_not_read_first(bakery: Shop) -> None:
    """Of events and deliveries the keys alone: a batch has thousands of bodies."""
    for number in range(2):
        make.payment(bakery.test)
        event = Event.objects.order_by("created_at").last()
        assert event is not None
        Event.objects.filter(pk=event.pk).update(id=uuid.UUID(int=number, version=4))

    with CaptureQueriesContext(connection) as queries:
        assert webhook_pruning.prune_all(later(91))["events"] == 2

    columns = ('"object"', '"response_body"')
    statements = [query["sql"] for query in queries]
    assert [text for text in statements if any(column in text for column in columns)] == []


def test_an_event_that_a_delivery_needs_cannot_be_deleted(bakery: Shop) -> None:
    register_endpoint(
        bakery.access(),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.created"]),
    )
    make.payment(bakery.test)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    with pytest.raises(IntegrityError, match="webhooks_delivery"), transaction.atomic():
        Event.objects.all().delete()

    assert Event.objects.exists()


def test_a_worker_may_delete_all_that_it_prunes(bakery: Shop) -> None:
    bakery.test.get("/payments")
    request_log.flush()
    with acting_as(WORKER):
        assert access_pruning.prune_all(later(31))["request_entries"] == 1
        webhook_pruning.prune_all(later(91))
        assert mail.forget(later(91)) == {"emails": 0}


def test_codes_and_tokens_go_a_month_after_they_ended(cast: Cast) -> None:
    app = Application.objects.create(
        store=cast.bakery.store,
        user=cast.alice,
        client_type="public",
        authorization_grant_type="code",
    )
    end = clock.real_now() + DAY
    held: dict[str, Any] = {
        "application": app,
        "user": cast.alice,
        "store": cast.bakery.store,
        "mode": "test",
    }
    Grant.objects.create(**held, code="a", expires=end, redirect_uri="https://a.example")
    AccessToken.objects.create(**held, token="b", expires=end, token_family=app.pk)
    RefreshToken.objects.create(**held, token="c", expires_at=end + DAY, token_family=app.pk)
    assert not any(access_pruning.prune_all(later(30)).values())
    told = access_pruning.prune_all(later(33))
    assert [
        told[kind] for kind in ("oauth_codes", "oauth_access_tokens", "oauth_refresh_tokens")
    ] == [1, 1, 1]
    assert not Grant.objects.exists() and not AccessToken.objects.exists()


def test_emails_go_after_their_days_and_what_waits_stays(db: None) -> None:
    values = {"what": "x", "email": "a@b.example", "at": clock.real_now(), "address": ""}
    for key in ("left", "waits"):
        mail.send(key=key, to="a@b.example", template="account_changed", context=values)
    OutgoingMail.objects.filter(key="left").update(
        status=OutgoingMail.Status.SENT, sealed_letter=""
    )
    assert mail.forget(later(89)) == {"emails": 0}
    assert mail.forget(later(91)) == {"emails": 1}
    assert OutgoingMail.objects.get().key == "waits"


@pytest.mark.parametrize(("seconds", "left"), [(0, 3), (60, 0)])
def test_a_run_goes_on_while_rows_remain_and_it_has_time(
    bakery: Shop, seconds: float, left: int
) -> None:
    for _ in range(5):
        bakery.test.get("/payments")
    request_log.flush()
    assert prune(RequestEntry.objects.all(), batch=2, seconds=seconds) == 5 - left
    assert RequestEntry.objects.count() == left


def test_a_kind_with_many_rows_keeps_no_other_waiting(bakery: Shop) -> None:
    for _ in range(5):
        bakery.test.get("/payments")
    make.payment(bakery.test)
    request_log.flush()
    kinds = {"request_entries": RequestEntry.objects.all(), "events": Event.objects.all()}

    assert prune_in_turns(kinds, batch=2, seconds=0) == {"request_entries": 2, "events": 1}


def test_a_run_asks_once_what_it_may_lock(bakery: Shop) -> None:
    for _ in range(5):
        bakery.test.get("/payments")
    request_log.flush()
    with CaptureQueriesContext(connection) as queries:
        assert prune(RequestEntry.objects.all(), batch=2) == 5
    asked = [query for query in queries if "has_any_column_privilege" in query["sql"]]
    assert len(asked) == 1


def test_the_command_tells_what_went(bakery: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("prune", json=True)
    text = capsys.readouterr().out
    assert '"request_entries": 0' in text and '"address_looks": 0' in text
