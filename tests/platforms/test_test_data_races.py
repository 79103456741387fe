"""Test data is reset while somebody is in the middle of something: real threads, real locks."""

import threading
import time

from django.conf import LazySettings
from django.db import OperationalError, connection, transaction

from apps.core.models import RowFailure
from apps.ledger.models import Account
from apps.payments.models import Payment, Refund
from apps.payments.requests import RefundRequest
from apps.payments.services.refund import request_refund
from apps.platforms.services import test_data
from tests import auditing, make
from tests.cast import Cast, signed_in
from tests.make import fresh_address


def test_a_refund_under_way_goes_with_its_payment(committed: Cast, settings: LazySettings) -> None:
    """The request that has the payment's lock ends first, or the database breaks it off; nothing of
    it is left with the store, or booked for it afterward."""
    settings.TEST_RESET_SECONDS = 0
    shop = committed.bakery
    payment = make.paid(shop.test, amount="50.00")
    access = signed_in(shop.owner, shop.store)
    test_data.ask_reset(access)
    has_refunded, may_commit = threading.Event(), threading.Event()
    broken_off = list[OperationalError]()

    def refund() -> None:
        try:
            with transaction.atomic():
                row = Payment.objects.select_for_update().get(pk=payment["id"])
                request_refund(
                    access,
                    row,
                    RefundRequest(destination_address=fresh_address(), settlement_amount="1.00"),
                    "refund 1",
                )
                has_refunded.set()
                assert may_commit.wait(120)
        except OperationalError as error:
            broken_off.append(error)
        finally:
            has_refunded.set()
            connection.close()

    def move() -> None:
        try:
            test_data.put_away()
        finally:
            connection.close()

    threads = [threading.Thread(target=refund), threading.Thread(target=move)]
    threads[0].start()
    assert has_refunded.wait(120)
    threads[1].start()
    until_somebody_waits()
    may_commit.set()
    for thread in threads:
        thread.join(120)
    RowFailure.objects.filter(job=test_data.JOB.name).delete()
    for _ in range(2):  # once more where the database broke off a circle of two who waited
        test_data.put_away()
    assert not Refund.objects.filter(store=shop.store).exists()
    kept = Refund.objects.filter(payment_id=payment["id"])
    assert [row.store.archive_of for row in kept] == ([] if broken_off else [shop.store])
    assert not Account.objects.filter(store=shop.store, mode="test").exists()
    assert auditing.breaches() == []


def until_somebody_waits() -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT FROM pg_stat_activity WHERE datname = current_database()"
                " AND wait_event_type = 'Lock'"
            )
            if cursor.rowcount:
                return
    raise AssertionError("nobody waits")
