"""A round that meets a row which another has just finished leaves it as it is. Real threads, real
locks: the second round has read its list, and waits for the lock of the first."""

from collections.abc import Callable, Iterator

import pytest
from django.db import connection, transaction
from django.test import override_settings

from apps.access.access import Access
from apps.assets.models import Asset
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.core import clock
from apps.core.models import RowFailure
from apps.ledger.models import Movement
from apps.payments.models import Refund, TransferReturn, Withdrawal
from apps.payments.services import transfer_returns, withdrawals
from apps.payments.services.refund_progress import advance_refund, advance_refunds
from apps.payments.services.transfers import send_transfer_back
from apps.stores.models import User
from tests import make
from tests.cast import Cast, signed_in
from tests.payments.test_losing import in_thread, until_somebody_waits_for_us
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "committed"]

pytestmark = pytest.mark.django_db
HOT = "0x" + "ab" * 20
SAFE = "0x" + "5a" * 20
ENDS = ["confirmed", "failed"]


@pytest.fixture
def treasury(committed: Cast) -> Iterator[list[User]]:
    """Two members of staff, and earnings; what is the service's own is taken out afterwards."""
    make.paid(committed.bakery.test, amount="50.00")
    make.service_coins("SETH", 10**18)
    yield [make.clerk() for _ in range(2)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SET session_replication_role = replica; DELETE FROM payments_withdrawal; DELETE FROM"
            " chain_outgoingtransaction WHERE purpose = 'withdrawal'; SET session_replication_role"
            " = origin"
        )


@pytest.fixture(autouse=True)
def _no_wallet(committed: Cast) -> Iterator[None]:
    yield
    HotWallet.objects.filter(address=HOT).delete()


def end(purpose: str, status: str) -> None:
    """Its transaction has come to this end on the chain."""
    HotWallet.objects.get_or_create(chain_id="sepolia", address=HOT, defaults={"next_nonce": 1})
    rows = OutgoingTransaction.objects.filter(purpose=purpose)
    rows.update(
        status=status,
        nonce=0,
        tx_hash="0x" + "16" * 32,
        from_address=HOT,
        network_fee_atomic=5,
        block_number=1,
        finished_at=clock.real_now(),
    )


def raced(walk: Callable[[], object], advance: Callable[[], object]) -> None:
    """One round finishes the row while another waits for its lock, and meets it finished."""
    with transaction.atomic():
        advance()
        other = in_thread(walk)
        until_somebody_waits_for_us()
    other.join(30)


@pytest.mark.parametrize("status", ENDS)
def test_a_refund_is_finished_once(committed: Cast, status: str) -> None:
    shop = committed.bakery
    sale = make.paid(shop.test, amount="20.00")
    body = {"refund": {"amount": "0.001", "destination_address": SAFE}}
    answer = shop.test.post(f"/payments/{sale['id']}/refunds", body, key="once")
    assert answer.status_code == 201, answer.content
    own = Refund.objects.filter(payment=sale["id"])  # others have left theirs
    own.update(is_simulated=False)
    refund = own.get()
    advance_refund(refund.pk)
    end("refund", status)

    raced(advance_refunds, lambda: advance_refund(refund.pk))

    assert own.get().status == status
    assert not RowFailure.objects.filter(job="payments.advance_refunds").exists()


@pytest.mark.parametrize("status", ENDS)
def test_a_transfer_is_returned_once(committed: Cast, status: str) -> None:
    shop = committed.bakery
    transfer = make.stray_transfer(make.payment(shop.test)["id"])
    owner: Access = signed_in(committed.alice, shop.store, "test")
    send_transfer_back(owner, str(transfer))
    TransferReturn.objects.update(is_simulated=False)
    row = TransferReturn.objects.get()
    transfer_returns.advance_return(row.pk)
    end("refund", status)

    raced(transfer_returns.advance_returns, lambda: transfer_returns.advance_return(row.pk))

    assert TransferReturn.objects.get().status == status
    assert not RowFailure.objects.filter(job="payments.advance_transfer_returns").exists()


@pytest.mark.parametrize("status", ENDS)
def test_a_withdrawal_is_booked_once(treasury: list[User], status: str) -> None:
    with override_settings(WITHDRAWAL_ADDRESSES=[SAFE]):
        asset = Asset.objects.select_related("chain").get(pk="SETH")
        wanted = withdrawals.WithdrawalRequest("may", asset, 1000, SAFE, "Salaries")
        row = withdrawals.request_withdrawal(wanted, treasury[0], clock.real_now())
        withdrawals.approve_withdrawal(row.pk, treasury[1], clock.real_now())
        withdrawals.advance_withdrawals()
    end("withdrawal", status)

    raced(withdrawals.advance_withdrawals, lambda: withdrawals.FOLLOWER.advance_one(row.pk))

    assert Withdrawal.objects.get().status == status
    assert Movement.objects.filter(key__startswith="withdrawal-").count() == 1
    assert not RowFailure.objects.filter(job="payments.advance_withdrawals").exists()
