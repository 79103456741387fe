"""A reorg takes a deposit away while it is being booked: it is either booked and lost, or neither.
Real threads, real locks."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from apps.chain.models import Block, Deposit
from apps.chain.watching import deposits
from apps.core import clock
from apps.ledger.selectors import booked_deposits
from apps.payments.models import Payment
from apps.payments.services.settle import settle_payment
from tests import make
from tests.cast import Cast
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "committed"]

pytestmark = pytest.mark.django_db
HASH = "0x" + "b" * 64


@pytest.fixture
def deposit(committed: Cast) -> Iterator[Deposit]:
    """A confirmed deposit of a real block, which nobody has booked."""
    payment = make.payment(committed.bakery.test)
    way = next(
        payment_address
        for payment_address in payment["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == "SETH"
    )
    at = clock.real_now()
    block = Block.objects.create(
        chain_id="sepolia",
        number=7,
        hash=HASH,
        parent_hash="0x" + "a" * 64,
        mined_at=at - timedelta(minutes=1),
        scanned_at=at,
    )
    made = Deposit.objects.create(
        chain_id="sepolia",
        asset_id="SETH",
        address_id=way["address"].lower(),
        tx_hash="0x" + "c" * 64,
        log_index=-1,
        from_address="0x" + "d" * 40,
        amount_atomic=int(way["crypto_amount_atomic"]),
        block_number=7,
        block_hash=HASH,
        status="confirmed",
        required_confirmations=3,
        detected_at=at,
        confirmed_at=at,
    )
    yield made
    block.delete()
    addresses = [
        payment_address["address"].lower() for payment_address in payment["payment_addresses"]
    ]
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM chain_address WHERE address = ANY(%s)", [addresses])
        cursor.execute("SET session_replication_role = origin")


def orphan() -> None:
    """Undo the block, as the watcher does when the chain has gone back below it."""
    with transaction.atomic():
        Block.objects.filter(hash=HASH).update(is_canonical=False)
        deposits.fail_orphans("sepolia", 6, clock.real_now())


def in_thread(work: Callable[[], Any]) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def until_somebody_waits_for_us() -> None:
    """Until another connection waits for this transaction to end."""
    for _ in range(20_000):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY"
                " (pg_blocking_pids(pid))"
            )
            if cursor.fetchone()[0]:
                return
    pytest.fail("nobody waits")


def payment_of(deposit: Deposit) -> Payment:
    return Payment.objects.get(addresses__address_id=deposit.address_id)


def test_losing_waits_for_who_is_booking_and_then_says_that_it_was_booked(deposit: Deposit) -> None:
    payment = payment_of(deposit)
    with transaction.atomic():
        settle_payment(payment.pk)
        losing = in_thread(orphan)
        until_somebody_waits_for_us()
    losing.join(30)
    deposit.refresh_from_db()
    assert (deposit.status, deposit.is_lost) == ("failed", True)
    assert booked_deposits(payment.pk) == {"SETH": deposit.amount_atomic}


def test_booking_waits_for_who_is_losing_and_then_books_nothing(deposit: Deposit) -> None:
    payment = payment_of(deposit)
    with transaction.atomic():
        orphan()
        booking = in_thread(lambda: settle_payment(payment.pk))
        until_somebody_waits_for_us()
    booking.join(30)
    deposit.refresh_from_db()
    assert (deposit.status, deposit.is_lost, deposit.handled_status) == ("failed", False, "failed")
    assert booked_deposits(payment.pk) == {}
    payment.refresh_from_db()
    assert payment.status == "pending"
