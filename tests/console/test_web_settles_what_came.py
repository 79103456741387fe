"""Returns and settlements by the web's role: deposits that no payment may use any more, and those
that a chain has brought, each once."""

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.grants import WEB, WORKER
from apps.chain.models import Block, Deposit, OutgoingTransaction
from apps.core import clock
from apps.core.db import tenancy
from apps.ledger import movements
from apps.ledger.chart import AVAILABLE, HELD
from apps.ledger.posting import NotPostedByTheWeb
from apps.payments.models import LateDeposit, Payment, PaymentAddress, Refund
from apps.payments.services.refund_progress import FOLLOWER, advance_refunds
from apps.payouts.models import Destination, OfframpOrder, Payout
from tests import make
from tests.chain.test_signer_believes_nobody import FORGED, forged
from tests.console.books_of_web import Books, books, call, refused
from tests.roles import acting_as

__all__ = ["books"]
ETHER = 10**18


# --- what comes back ------------------------------------------------------------------------------


def outgoing(payout: Payout, suffix: str, **columns: Any) -> OutgoingTransaction:
    row: OutgoingTransaction = OutgoingTransaction.objects.create(
        mode="live",
        store=payout.store,
        chain_id="ethereum",
        asset_id="ETH",
        purpose="payout",
        reference=f"{payout.pk}{suffix}",
        to_address=make.fresh_address(),
        amount_atomic=ETHER,
        requested_at=clock.real_now(),
        **columns,
    )
    return row


@pytest.mark.parametrize("suffix", ["-0", "-3", "-1-2"])
def test_nothing_comes_back_of_a_payout_that_may_be_on_its_way(books: Books, suffix: str) -> None:
    payout = books.failed()
    sent = outgoing(payout, suffix)
    refused("payouts_post_payout_released", payout.pk, of="it may be on its way")
    OutgoingTransaction.objects.filter(pk=sent.pk).update(status="failed")
    before = books.balance(AVAILABLE)
    assert call("payouts_post_payout_released", payout.pk)[1:] == (True, ETHER)
    assert call("payouts_post_payout_released", payout.pk)[1] is False
    assert books.balance(AVAILABLE) == before + ETHER


def test_nothing_comes_back_of_a_payout_that_has_not_failed(books: Books) -> None:
    payout = books.payout()
    call("payouts_post_payout_created", payout.pk)
    for status in ("pending", "submitted", "requires_review", "retrying"):
        Payout.objects.filter(pk=payout.pk).update(status=status)
        refused("payouts_post_payout_released", payout.pk, of="it may be on its way")


def test_nothing_comes_back_that_was_not_set_aside(books: Books) -> None:
    """Not even out of what another record of the store has set aside."""
    call("payouts_post_payout_created", books.payout(5 * ETHER).pk)
    call("payments_post_refund_created", books.refund().pk)
    forged = books.payout(id=books.payment.pk, status="failed", failure_code="unknown")
    with pytest.raises(DatabaseError, match="less than that is set aside"):
        call("payouts_post_payout_released", forged.pk)


def bank_payout(books: Books) -> Payout:
    destination = Destination.objects.create(
        store=books.shop.store,
        mode="live",
        created_at=clock.real_now(),
        kind="bank",
        currency="EUR",
        holder="Bakery",
        cools_until=clock.real_now(),
    )
    return books.failed(rail="fiat_manual", destination_address=None, destination=destination)


def test_nothing_comes_back_of_an_order_that_an_off_ramp_may_have(books: Books) -> None:
    payout = bank_payout(books)
    row = OfframpOrder.objects.create(payout=payout, attempt=0, asked_at=clock.real_now())
    refused("payouts_post_payout_released", payout.pk, of="it may be on its way")
    of: Any = {
        "store_id": payout.store_id,
        "mode": "live",
        "asset_id": "ETH",
        "payout_id": payout.pk,
        "amount_atomic": ETHER,
        "attempt": 0,
        "at": clock.real_now(),
    }
    movements.payout_handed_over(**of)
    with acting_as(WEB), pytest.raises(NotPostedByTheWeb):
        movements.payout_handed_back(**of)
    OfframpOrder.objects.filter(pk=row.pk).update(failed_at=clock.real_now())
    with pytest.raises(DatabaseError, match=r"insufficient balance|less than that is set aside"):
        call("payouts_post_payout_released", payout.pk)
    movements.payout_handed_back(**of)
    assert call("payouts_post_payout_released", payout.pk)[1:] == (True, ETHER)


def test_a_store_is_charged_no_gas_that_its_payout_has_not_cost(books: Books) -> None:
    payout = books.failed(failed_gas_due_atomic=10**15)
    refused("payouts_post_payout_gas_charged", payout.pk, of="nothing is due")
    movements.payout_gas_paid(
        mode="live",
        asset_id="ETH",
        reference=f"{payout.pk}-0",
        payout_id=payout.pk,
        gas_atomic=10**14,
        at=clock.real_now(),
    )
    assert call("payouts_post_payout_gas_charged", payout.pk)[1:] == (True, 10**14)
    Payout.objects.filter(pk=payout.pk).update(failed_gas_atomic=1)
    refused("payouts_post_payout_gas_charged", payout.pk, of="nothing is due")


# --- deposits -------------------------------------------------------------------------------------


def test_a_deposit_is_booked_as_the_watcher_has_written_it(books: Books) -> None:
    deposit = books.deposit()
    ours = books.payment.pk
    theirs = make.payment(books.other.live)["id"]
    function = "payments_post_deposit_confirmed"
    refused(function, deposit.pk, theirs)
    Block.objects.filter(hash=deposit.block_hash).update(is_canonical=False)
    refused(function, deposit.pk, ours)
    Block.objects.filter(hash=deposit.block_hash).update(is_canonical=True)
    for status in ("confirming", "failed", "unmatched"):
        Deposit.objects.filter(pk=deposit.pk).update(status=status)
        refused(function, deposit.pk, ours)
    Deposit.objects.filter(pk=deposit.pk).update(status="confirmed", is_lost=True)
    refused(function, deposit.pk, ours)
    Deposit.objects.filter(pk=deposit.pk).update(is_lost=False)
    assert call(function, deposit.pk, ours)[1:] == (True, deposit.amount_atomic)
    assert call(function, deposit.pk, ours)[1] is False
    assert books.balance(HELD) == deposit.amount_atomic
    refused("payments_post_simulated_deposit_changed", deposit.pk, ours)


def test_a_payment_settles_what_it_has_received_at_the_fees_of_its_row(books: Books) -> None:
    deposit = books.deposit()
    ours = books.payment.pk
    call("payments_post_deposit_confirmed", deposit.pk, ours)
    settle = "payments_post_payment_settled"
    refused(settle, ours, "ETH")
    Payment.objects.filter(pk=ours).update(status="completed", completed_at=clock.real_now())
    refused(settle, ours, "ETH_USDC")
    refused("payments_post_overpayment_settled", ours, uuid.uuid4())
    refused("payments_post_late_deposit_accepted", deposit.pk, ours)
    before = books.balance(AVAILABLE)
    assert call(settle, ours, "ETH")[1:] == (True, deposit.amount_atomic)
    fee = int(deposit.amount_atomic * books.payment.fee_fraction)
    assert fee > 0 and books.balance(AVAILABLE) == before + deposit.amount_atomic - fee
    assert call(settle, ours, "ETH")[1] is False
    for function, arguments in (
        ("payments_post_overpayment_settled", (ours, deposit.pk)),
        ("payments_post_refund_created", (books.refund(is_from_held=True).pk,)),
    ):
        with pytest.raises(DatabaseError, match=r"insufficient balance|holds less"):
            call(function, *arguments)


@pytest.mark.parametrize(
    "columns",
    [
        {"fee_fraction": "-5"},
        {"fee_fraction": "1.5"},
        {"platform_fee_fraction": "-5"},
        {"platform_fee_fraction": "1"},
    ],
    ids=str,
)
def test_no_share_of_a_payment_is_below_zero(books: Books, columns: dict[str, str]) -> None:
    """Fees as the web may have written them in a new payment's row."""
    deposit = books.deposit()
    ours = books.payment.pk
    call("payments_post_deposit_confirmed", deposit.pk, ours)
    fields: dict[str, Any] = {"status": "completed", "completed_at": clock.real_now(), **columns}
    Payment.objects.filter(pk=ours).update(platform_id=books.other.store.pk, **fields)
    refused("payments_post_payment_settled", ours, "ETH", of="a share of it is below zero")
    refused("payments_post_overpayment_settled", ours, deposit.pk, of="a share of it is below zero")


@pytest.mark.parametrize("is_simulated", [True, False])
def test_no_store_gives_back_a_share_that_it_never_had(books: Books, is_simulated: bool) -> None:
    """A payment's row names another store as its platform, with nine times the amount, and a refund
    of it is simulated, or on its way back to who paid."""
    named = Payment.objects.get(pk=books.payment.pk)
    named.pk = uuid.uuid4()
    named.reference = "NAMESANOTHERONE1"
    named.platform_id = books.other.store.pk
    named.platform_fee_fraction = Decimal(9)
    named.status, named.completed_at = "completed", clock.real_now()
    named._state.adding = True
    with acting_as(WEB), tenancy.everyone("an attack"):
        named.save(force_insert=True)
        refund = books.refund(payment=named, is_simulated=is_simulated)
    call("payments_post_refund_created", refund.pk)
    if not is_simulated:
        transfer = OutgoingTransaction(network_fee_atomic=0, tx_hash="0x" + "a" * 64)
        refund.status = "submitted"
        refund.save()
        with transaction.atomic():
            FOLLOWER.confirmed(FOLLOWER.locked(refund.pk), transfer, clock.real_now())
    else:
        for _ in range(2):
            with acting_as(WORKER):
                advance_refunds()
            Refund.objects.update(submitted_real_at=clock.real_now() - timedelta(days=1))
    assert (books.balance("available"), books.balance("available", books.other)) == (
        9 * ETHER,
        10 * ETHER,
    )


def test_a_deposit_is_settled_one_way(books: Books) -> None:
    """As one that came too late, and never once more as a part of its payment."""
    deposit = books.deposit()
    ours = books.payment
    LateDeposit.objects.create(
        payment=ours, deposit=deposit, store=ours.store, mode="live", created_at=clock.real_now()
    )
    late = "payments_post_late_deposit_accepted"
    refused(late, deposit.pk, ours.pk)
    call("payments_post_deposit_confirmed", deposit.pk, ours.pk)
    refused(late, deposit.pk, make.payment(books.shop.live)["id"])
    assert call(late, deposit.pk, ours.pk)[1:] == (True, deposit.amount_atomic)
    assert call(late, deposit.pk, ours.pk)[1] is False
    LateDeposit.objects.all().delete()
    Payment.objects.filter(pk=ours.pk).update(status="completed", completed_at=clock.real_now())
    with pytest.raises(DatabaseError, match=r"insufficient balance|holds less"):
        call("payments_post_payment_settled", ours.pk, "ETH")


def test_what_is_simulated_is_booked_in_test_mode_alone(books: Books) -> None:
    """At an address of test mode, which web lists for a live payment."""
    values = forged("test", "sepolia", "SETH", is_simulated=True)
    with connection.cursor() as cursor:
        cursor.execute(FORGED, values)
    PaymentAddress.objects.create(
        payment=books.payment,
        asset_id="SETH",
        address_id=values["address"],
        position=9,
        required_atomic=1,
        exchange_rate=1,
        required_confirmations=1,
        created_at=clock.real_now(),
    )
    for kind in ("deposit_confirmed", "simulated_deposit_changed"):
        refused(f"payments_post_{kind}", values["id"], books.payment.pk)
