"""Jobs that tidy up, run by name as the role of workers: each has rows to delete or to sum, and the
role may do all that this takes."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction

from apps.access import request_log
from apps.access.models import AccessToken, Application, Grant, RefreshToken, RequestEntry
from apps.audit.grants import WEB, WORKER
from apps.chain.models import Address, AddressLook
from apps.core import clock, mail
from apps.core.models import Drawing, OutgoingMail, RowFailure, RowTurn
from apps.payments.models import DailySumPlace, HourlySum, PaymentChange
from apps.reports.models import HourlyBookingPlace
from apps.stores.models import VerificationDocument
from apps.stores.models.notifications import Notification
from apps.stores.verifying import documents as verification_documents
from apps.webhooks.models import Attempt, Delivery, Event
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from config.celery import app as celery
from tests import make
from tests.cast import Cast, Shop
from tests.console.test_verify_ledger import tamper
from tests.dashboard.test_verification_documents import PDF
from tests.roles import acting_as
from tests.webhooks.aging import older_ids

LONG_AGO = timedelta(days=800)
celery.loader.import_default_modules()


def run(name: str) -> None:
    """As a worker does, whose role is in force while the job runs."""
    with acting_as(WORKER):
        celery.tasks[name].apply(throw=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user")
            assert cursor.fetchone() == (WORKER,)


def test_access_prune_deletes_every_kind(cast: Cast) -> None:
    cast.bakery.test.get("/payments")
    request_log.flush()
    app = Application.objects.create(
        store=cast.bakery.store,
        user=cast.alice,
        client_type="public",
        authorization_grant_type="code",
    )
    end = clock.real_now() - LONG_AGO
    held: dict[str, Any] = {
        "application": app,
        "user": cast.alice,
        "store": cast.bakery.store,
        "mode": "test",
    }
    Grant.objects.create(**held, code="a", expires=end, redirect_uri="https://a.example")
    AccessToken.objects.create(**held, token="b", expires=end, token_family=app.pk)
    RefreshToken.objects.create(**held, token="c", expires_at=end, token_family=app.pk)
    Notification.objects.create(
        store=cast.bakery.store,
        mode="test",
        created_at=end,
        kind="x",
        subject="x",
        title="x",
        path="/",
        told_at=end,
    )
    verification_documents.add_document(cast.bakery.store, "unused.pdf", PDF)
    assert RequestEntry.objects.update(created_at=end)
    VerificationDocument.objects.update(uploaded_at=end)

    run("access.prune")

    for model in (RequestEntry, Grant, AccessToken, RefreshToken, Notification):
        assert not model._default_manager.exists(), model
    assert not VerificationDocument.objects.exists()


def test_webhooks_prune_deletes_every_kind(bakery: Shop) -> None:
    register_endpoint(
        bakery.access(),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.created"]),
    )
    make.payment(bakery.test)
    delivery = Delivery.objects.get()
    end = clock.real_now() - LONG_AGO
    Attempt.objects.create(delivery=delivery, number=1, at=end, duration_ms=20)
    Delivery.objects.update(status=Delivery.Status.DELIVERED, created_at=end)
    Event.objects.update(created_at=end)
    tamper(older_ids(LONG_AGO.days))

    run("webhooks.prune")

    for model in (Delivery, Attempt, Event):
        assert not model._default_manager.exists(), model


def test_core_prune_deletes_every_kind(db: None) -> None:
    end = clock.real_now() - LONG_AGO
    values = {"what": "x", "email": "a@b.example", "at": end, "address": ""}
    mail.send(key="x", to="a@b.example", template="account_changed", context=values)
    OutgoingMail.objects.update(status=OutgoingMail.Status.SENT, sealed_letter="", created_at=end)
    RowFailure.objects.create(job="x", row_id="1", tries=1, error="x", since=end, not_before=end)
    Drawing.objects.create(digest="x", html="x", asked_at=end)

    run("core.prune")

    for model in (OutgoingMail, RowFailure, Drawing):
        assert not model._default_manager.exists(), model


def test_payments_prune_deletes_every_kind(bakery: Shop) -> None:
    make.payment(bakery.test)
    end = clock.real_now() - LONG_AGO
    for address in Address.objects.all():
        AddressLook.objects.create(
            address=address, chain_id="ethereum-sepolia", block_number=1, looked_until=end
        )

    run("payments.prune")

    assert Address.objects.exists() and not AddressLook.objects.exists()


def test_payments_sum_days_sums_a_long_account(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.store_coins(bakery.store, "SETH", 10**18)
    monkeypatch.setattr("apps.payments.daily_sums.sum_days.__defaults__", (0,))

    run("payments.sum_days")

    # What this transaction has booked isn't finished, so the sums come later; the statements ran.
    assert DailySumPlace.objects.exists()
    assert not RowFailure.objects.exists()


def test_reports_sum_bookings_sums_a_long_account(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.store_coins(bakery.store, "SETH", 10**18)
    monkeypatch.setattr("apps.reports.hourly_bookings.sum_bookings.__defaults__", (0,))

    run("reports.sum_bookings")

    assert HourlyBookingPlace.objects.exists()
    assert not RowFailure.objects.exists()


def test_ledger_mark_balances_marks_a_long_account(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.store_coins(bakery.store, "SETH", 10**18)
    monkeypatch.setattr("apps.ledger.balance_marks.mark_balances.__defaults__", (0,))

    run("ledger.mark_balances")

    assert RowTurn.objects.filter(job="ledger.mark_balances:read").exists()
    assert not RowFailure.objects.exists()


def test_payments_sum_hours_adds_up_what_has_changed(bakery: Shop) -> None:
    make.payment(bakery.test)
    assert PaymentChange.objects.exists()

    run("payments.sum_hours")

    assert not PaymentChange.objects.exists()
    assert HourlySum.objects.get(store=bakery.store).payments == 1


def test_core_heartbeat_is_written(db: None) -> None:
    run("core.heartbeat")

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM core_heartbeat WHERE part = 'jobs'")
        assert cursor.fetchone() == (1,)


def test_a_missing_privilege_is_not_swallowed(db: None) -> None:
    """The tests above rely on it."""
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with refused, transaction.atomic(), acting_as(WEB):
        celery.tasks["core.heartbeat"].apply(throw=True)
