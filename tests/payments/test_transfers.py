"""Coins at an address for another coin: the store whose address it is accepts them or sends them
back, once, and nobody else does."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from apps.access import operations
from apps.access.access import Access
from apps.access.factors.stepup import SecondFactorRequired, StepUpRequired
from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.chain.models import Deposit, OutgoingTransaction, UnmatchedTransfer
from apps.chain.services import AlreadyResolved, NotConfirmedYet
from apps.chain.watching import unmatched
from apps.core import clock
from apps.core.errors import NotFound
from apps.ledger.models import Movement
from apps.ledger.selectors import account_balance
from apps.payments.models import LateDeposit, Payment, PaymentAddress, TransferReturn
from apps.payments.services import transfer_returns
from apps.payments.services.reconcile import FINAL, reconcile
from apps.payments.services.settle import settle_payment
from apps.payments.services.transaction_lookup import LookupResult, booked_transaction
from apps.payments.services.transfers import (
    ForSupport,
    HeldElsewhere,
    UnknownPayment,
    accept_transfer,
    send_transfer_back,
)
from apps.stores import staff_roles
from apps.stores.models import Role
from tests import auditing, make
from tests.cast import Cast, signed_in
from tests.payments.test_losing import in_thread, until_somebody_waits_for_us
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "committed"]

pytestmark = pytest.mark.django_db
COIN = "USDC_SETH"


def owner(cast: Cast, mode: str = "test") -> Access:
    return signed_in(cast.alice, cast.bakery.store, mode)


def stray(cast: Cast, **options: Any) -> tuple[Payment, str]:
    payment = Payment.objects.get(pk=make.payment(cast.bakery.test)["id"])
    return payment, str(make.stray_transfer(str(payment.pk), COIN, **options))


def held(cast: Cast, kind: str) -> int:
    return account_balance(cast.bakery.store.pk, "test", COIN, kind)


def test_an_accepted_one_is_available_less_the_fee_and_leaves_the_payments_status(
    cast: Cast,
) -> None:
    payment, transfer = stray(cast)
    accept_transfer(owner(cast), transfer, payment.reference.lower())
    fee = int(10**6 * payment.fee_fraction)
    assert (held(cast, "held"), held(cast, "available")) == (0, 10**6 - fee) and fee > 0
    assert LateDeposit.objects.get().payment_id == payment.pk
    assert UnmatchedTransfer.objects.get().outcome == "credited"
    payment.refresh_from_db()
    assert payment.status == "pending"
    settle_payment(payment.pk)  # which sets aside what nobody has claimed, and nothing else
    assert Deposit.objects.get().status == "confirmed"
    assert auditing.breaches() == []


def test_a_payment_that_takes_both_coins_stays_balanced_whatever_becomes_of_the_transfer(
    cast: Cast,
) -> None:
    Asset.objects.filter(pk=COIN).update(contract_address="0x" + "01" * 20, is_active=True)
    accept_all_active(cast.bakery.store)
    for act in (
        lambda id, of: accept_transfer(owner(cast), id, of.reference),
        lambda id, of: send_transfer_back(owner(cast), id),
    ):
        payment, transfer = stray(cast)
        assert payment.addresses.filter(asset=COIN).exists()
        made = make.simulated(cast.bakery.test, str(payment.pk))
        act(transfer, payment)
        make.advance(cast.bakery.test, 200)
        payment.refresh_from_db()
        assert reconcile(payment.pk) == FINAL
        assert made["status"] == payment.status == "completed"
        told = cast.bakery.test.get(f"/payments/{payment.pk}").json()["financials"]
        assert (told["refunded_amount"], told["gross_amount"]) == ("0.00", "10.00")
    assert auditing.breaches() == []


def test_it_may_join_another_payment_of_the_store_and_none_of_a_stranger(cast: Cast) -> None:
    _, transfer = stray(cast)
    other = make.payment(cast.bakery.test)["reference"]
    strange = make.payment(cast.strangers.test)["reference"]
    with pytest.raises(UnknownPayment):
        accept_transfer(owner(cast), transfer, strange)
    assert accept_transfer(owner(cast), transfer, other).reference == other
    assert Movement.objects.filter(kind="late_deposit_accepted").count() == 1
    assert auditing.breaches() == []


def test_a_return_goes_to_the_sender_and_refunds_nothing(cast: Cast) -> None:
    payment, transfer = stray(cast)
    sent = send_transfer_back(owner(cast), transfer)
    assert sent.destination_address == Deposit.objects.get().from_address
    make.advance(cast.bakery.test, 200)
    sent.refresh_from_db()
    payment.refresh_from_db()
    assert (sent.status, payment.status, payment.refund_state) == ("confirmed", "pending", "none")
    assert (held(cast, "held"), held(cast, "reserved"), held(cast, "available")) == (0, 0, 0)
    assert auditing.breaches() == []


def test_a_return_that_fails_is_held_and_decided_again_on_its_own_payment(cast: Cast) -> None:
    payment, transfer = stray(cast)
    other = make.payment(cast.bakery.test)["reference"]
    row = send_transfer_back(owner(cast), transfer)
    assert held(cast, "reserved") == 10**6
    with transaction.atomic():
        reverted = OutgoingTransaction(reference=str(row.pk), reason="Reverted")
        transfer_returns.FOLLOWER.failed(row, reverted, clock.real_now())
    assert (held(cast, "held"), held(cast, "reserved")) == (10**6, 0)
    assert auditing.breaches() == []
    with pytest.raises(HeldElsewhere):
        accept_transfer(owner(cast), transfer, other)
    accept_transfer(owner(cast), transfer, payment.reference)
    assert held(cast, "held") == 0 and held(cast, "available") > 0
    assert auditing.breaches() == []


def answer_to_customer(payment: Payment) -> LookupResult:
    answer = booked_transaction(payment, Deposit.objects.get().tx_hash)
    assert answer is not None
    return answer.result


def test_customers_never_read_that_coins_count_which_went_back_or_elsewhere(cast: Cast) -> None:
    payment, transfer = stray(cast)
    assert answer_to_customer(payment) == LookupResult.WRONG_COIN
    row = send_transfer_back(owner(cast), transfer)
    assert answer_to_customer(payment) == LookupResult.RETURNED
    with transaction.atomic():
        reverted = OutgoingTransaction(reference=str(row.pk), reason="Reverted")
        transfer_returns.FOLLOWER.failed(row, reverted, clock.real_now())
    assert answer_to_customer(payment) == LookupResult.WRONG_COIN
    (waiting,) = make.detail(cast.bakery.test, str(payment.pk))["transactions"]
    assert waiting["undecided"], "a program accepts it by its hash"
    accept_transfer(owner(cast), transfer, payment.reference)
    assert answer_to_customer(payment) == LookupResult.COUNTED


def test_customers_read_that_coins_were_accepted_for_another_payment(cast: Cast) -> None:
    payment, transfer = stray(cast)
    accept_transfer(owner(cast), transfer, make.payment(cast.bakery.test)["reference"])
    assert answer_to_customer(payment) == LookupResult.ELSEWHERE


def test_what_is_decided_stays_decided(cast: Cast) -> None:
    payment, transfer = stray(cast)
    send_transfer_back(owner(cast), transfer)
    for again in (
        lambda: accept_transfer(owner(cast), transfer, payment.reference),
        lambda: send_transfer_back(owner(cast), transfer),
    ):
        with pytest.raises(AlreadyResolved):
            again()
    assert TransferReturn.objects.count() == 1


def test_another_store_and_the_other_mode_see_nothing(cast: Cast) -> None:
    _, transfer = stray(cast)
    for access in (signed_in(cast.charlie, cast.strangers.store), owner(cast, "live")):
        with pytest.raises(NotFound):
            send_transfer_back(access, transfer)


def test_what_came_before_the_address_was_the_stores_is_for_staff(cast: Cast) -> None:
    payment, transfer = stray(cast)
    Deposit.objects.update(detected_at=payment.created_at - timedelta(seconds=1))
    with pytest.raises(ForSupport):
        send_transfer_back(owner(cast), transfer)


def test_an_address_that_no_payment_has_is_for_staff(cast: Cast) -> None:
    payment, transfer = stray(cast)
    PaymentAddress.objects.filter(payment=payment).delete()
    with pytest.raises(ForSupport):
        accept_transfer(owner(cast), transfer, payment.reference)


def test_coins_of_a_block_that_is_gone_or_too_new_wait(cast: Cast) -> None:
    _, transfer = stray(cast)
    real = {
        "block_number": 7,
        "block_hash": "0x" + "b" * 64,
        "mined_at": clock.real_now() + timedelta(minutes=1),
    }
    Deposit.objects.update(is_simulated=False, **real)
    with pytest.raises(NotConfirmedYet):
        send_transfer_back(owner(cast), transfer)
    assert UnmatchedTransfer.objects.get().resolved_at is None


def test_who_may(cast: Cast) -> None:
    payment, transfer = stray(cast)
    for role in set(Role.values) - {Role.OWNER, Role.ADMIN}:
        with pytest.raises(operations.RoleForbids):
            send_transfer_back(signed_in(cast.bob, cast.bakery.store, role=role), transfer)
    with pytest.raises((SecondFactorRequired, StepUpRequired)):
        accept_transfer(
            Access.for_session(cast.alice, cast.bakery.store, "live", Role.OWNER),
            transfer,
            payment.reference,
        )


def test_staff_and_store_at_once_decide_it_once(committed: Cast) -> None:
    payment, transfer = stray(committed)
    row = UnmatchedTransfer.objects.get(pk=transfer)
    staff = make.clerk(staff_roles.StaffRole.FINANCE)
    outcomes = []

    def decide() -> None:
        try:
            unmatched.resolve(row, "ignored", "Dust", staff, clock.real_now())
        except unmatched.NotResolved as refusal:
            outcomes.append(str(refusal))

    with transaction.atomic():
        accept_transfer(owner(committed), transfer, payment.reference)
        other = in_thread(decide)
        until_somebody_waits_for_us()
    other.join(30)
    assert outcomes == ["This transfer was resolved already"]
    row.refresh_from_db()
    assert row.outcome == "credited"
    UnmatchedTransfer.objects.filter(pk=transfer).delete()
    connection.close()
