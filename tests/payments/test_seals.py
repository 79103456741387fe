"""Terms that were locked when a payment was made stay sealed: a later change, even past every rule,
is found."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from apps.core import clock
from apps.payments import seals
from apps.payments.models import Payment, PaymentSeal
from apps.stores.auditing.seals import seal_lines
from tests import auditing, make
from tests.auditing import found_of
from tests.cast import Shop, assemble
from tests.console.test_verify_ledger import tamper
from tests.stage import standing


def broken() -> list[str]:
    return [item.subject for item in found_of("payments_sealed")]


def two_seals() -> Shop:
    """Of three payments, and of two."""
    bakery = assemble().bakery
    for number in range(3):
        make.payment(bakery.test, key=f"key {number}")
    seal_lines(clock.real_now())
    assert seals.seal_payments(clock.real_now()) == 1
    make.paid(bakery.test, customer_pays_fee=True)
    make.payment(bakery.test)
    assert seals.seal_payments(clock.real_now()) == 1
    return bakery


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[Shop]:
    yield from standing(django_db_blocker, two_seals)


@pytest.fixture
def sealed(stage: Shop, db: None) -> Shop:
    return stage.again()


def test_what_is_sealed_stands_and_nothing_is_sealed_twice(sealed: Shop) -> None:
    assert [payment_seal.count for payment_seal in PaymentSeal.objects.order_by("number")] == [3, 2]
    assert seals.seal_payments(clock.real_now()) == 0
    assert auditing.breaches() == []


def test_what_happens_to_a_payment_later_breaks_no_seal(sealed: Shop) -> None:
    for payment in Payment.objects.filter(status="pending")[:2]:
        make.simulated(sealed.test, str(payment.pk))
    make.advance(sealed.test, 30 * 86_400)
    seal_lines(clock.real_now())
    seals.seal_payments(clock.real_now())

    assert auditing.breaches() == []


ONE = "(SELECT id FROM payments_payment WHERE idempotency_key = 'key 1')"
EVENT = f"(SELECT sequence FROM payments_paymentevent WHERE payment_id = {ONE})"


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE payments_payment SET idempotency_key = 'another' WHERE id = {ONE}",
        (
            "UPDATE payments_payment SET idempotency_key = NULL, idempotency_caller = '' WHERE id"
            f" = {ONE}"
        ),
        f"UPDATE payments_payment SET fee_fraction = 0 WHERE id = {ONE}",
        f"UPDATE payments_payment SET expires_at = expires_at + interval '1 day' WHERE id = {ONE}",
        (
            "UPDATE payments_paymentaddress SET exchange_rate = exchange_rate +"
            f" 0.000000000000000001 WHERE payment_id = {ONE}"
        ),
        f"DELETE FROM payments_paymentevent WHERE sequence = {EVENT}",
    ],
)
def test_a_locked_figure_that_was_changed_is_found(sealed: Shop, statement: str) -> None:
    tamper(statement)

    assert broken() == ["payment seal 1"]


def test_a_seal_that_was_made_anew_breaks_the_next_and_misses_the_one_that_was_kept(
    sealed: Shop, capsys: Any
) -> None:
    kept = str(PaymentSeal.objects.get(number=2))
    tamper("DELETE FROM payments_paymentseal WHERE number = 1")
    assert set(broken()) == {"payment seal 2"}

    tamper(
        "DELETE FROM payments_paymentseal; UPDATE payments_payment SET fee_fraction = 0 WHERE id ="
        f" {ONE}"
    )
    seals.seal_payments(clock.real_now())
    assert broken() == []
    with pytest.raises(SystemExit):
        call_command("verify_ledger", seal=kept)
    assert "were rewritten" in capsys.readouterr().out


def test_the_end_of_the_audit_log_can_not_be_cut_off(sealed: Shop) -> None:
    """The newest seal of the audit log is followed by none, but payments' seals name it; also when
    no payment is made."""
    make.store_coins(sealed.store, "SETH", 1)
    assert (seal_lines(clock.real_now()), seals.seal_payments(clock.real_now())) == (1, 1)
    assert auditing.breaches() == []

    tamper(
        "DELETE FROM ledger_entry WHERE movement_id IN (SELECT id FROM ledger_movement WHERE kind ="
        " 'correction'); DELETE FROM ledger_movement WHERE kind = 'correction'; DELETE FROM"
        " stores_auditentry e USING stores_auditseal s WHERE e.id = ANY (s.entry_ids) AND s.number"
        " = (SELECT max(number) FROM stores_auditseal); DELETE FROM stores_auditseal WHERE number ="
        " (SELECT max(number) FROM stores_auditseal)"
    )

    assert broken() == ["payment seal 3"]


def test_a_payment_without_a_seal_is_found_after_a_day(sealed: Shop) -> None:
    payment = make.payment(sealed.test)
    assert broken() == []

    tamper("UPDATE payments_paymentevent SET created_at = created_at - interval '25 hours'")

    assert broken() == [f"payment {payment['id']}"]


def test_no_change_of_a_seal_is_taken(sealed: Shop) -> None:
    for statement in (
        "UPDATE payments_paymentseal SET count = 1",
        "DELETE FROM payments_paymentseal",
        "TRUNCATE payments_paymentseal",
    ):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
