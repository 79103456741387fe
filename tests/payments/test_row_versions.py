"""A change of a payment writes no index of it that didn't change: such an update is HOT, stays on
the row's page and leaves nothing to vacuum in indexes."""

from datetime import timedelta

from django.db import connection

from apps.core import clock
from apps.payments.models import Payment
from apps.payments.services.reconcile import reconcile_due
from tests import make
from tests.cast import Shop


def updates() -> tuple[int, int]:
    """Of payments in this transaction so far: all, and those that were HOT."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables"
            " WHERE relname = 'payments_payment'"
        )
        total, hot = cursor.fetchone()
        return total, hot


def others(before: tuple[int, int]) -> tuple[int, int]:
    """Updates since then that weren't HOT, and that were."""
    total, hot = (now - then for now, then in zip(updates(), before, strict=True))
    return total - hot, hot


def test_only_a_new_status_writes_the_indexes_of_a_payment_that_is_paid(bakery: Shop) -> None:
    id = make.payment(bakery.test)["id"]
    before = updates()

    make.simulated(bakery.test, id)
    reconcile_due()

    payment = Payment.objects.get(pk=id)
    assert (payment.status, payment.reconciliation_status) == ("completed", "final")
    statuses = payment.events.exclude(to_status=None).values("to_status").distinct().count()
    cold, hot = others(before)
    assert cold <= statuses - 1
    assert hot >= 1


def test_one_update_of_a_payment_that_expires_writes_its_indexes(bakery: Shop) -> None:
    id = make.payment(bakery.test)["id"]
    before = updates()

    make.advance(bakery.test, 2 * 86_400)
    reconcile_due()

    payment = Payment.objects.get(pk=id)
    assert (payment.status, payment.reconciliation_status) == ("expired", "final")
    assert others(before) == (1, 1)


def test_the_check_of_a_payment_is_hot(bakery: Shop) -> None:
    make.paid(bakery.test)
    before = updates()

    assert reconcile_due() == 1

    assert others(before) == (0, 1)


def test_the_hold_of_a_payment_is_hot(bakery: Shop) -> None:
    id = make.payment(bakery.test)["id"]
    before = updates()

    Payment.objects.filter(pk=id).update(held_open_until=clock.real_now() + timedelta(hours=1))

    assert others(before) == (0, 1)
