"""The audit of money that came late or in another coin: whatever the merchant does with it, books
that were kept properly have no findings, and what is missing is found."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from apps.assets.models import Asset
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.chain.simulated import put
from apps.core import clock
from apps.payments.models import LateDeposit, Payment
from apps.payments.selectors import addresses_of
from apps.payments.services import unexpected
from apps.payments.services.settle import settle_payment
from apps.payments.services.transfers import accept_transfer, send_transfer_back
from tests import auditing, make
from tests.cast import Cast
from tests.payments.test_late_money import COIN, coins, owner, swallowed, told

__all__ = ["coins"]
pytestmark = pytest.mark.django_db
CHECKED = "refunds_go_back"


def ended(cast: Cast) -> dict[str, Any]:
    made = make.payment(cast.bakery.test, expires_in=300)
    make.advance(cast.bakery.test, 301)
    return made


def decided(cast: Cast, transfer: int, made: dict[str, Any], what: str) -> None:
    if what == "accepted":
        accept_transfer(owner(cast), str(transfer), made["reference"])
    elif what == "for another":
        other = make.payment(cast.bakery.test)
        accept_transfer(owner(cast), str(transfer), other["reference"])
    elif what == "sent back":
        send_transfer_back(owner(cast), str(transfer))
        make.advance(cast.bakery.test, 200)


@pytest.mark.parametrize("what", ["left", "accepted", "for another", "sent back"])
def test_another_coin_that_came_after_the_end_is_no_finding(
    cast: Cast, coins: None, what: str
) -> None:
    """Before the merchant decides, and after."""
    made = ended(cast)
    transfer = swallowed(made["id"])
    unexpected.confirm_set_aside()
    assert told(made["id"])[-1] == ("confirmed", "confirmed", True, True, False)
    assert auditing.breaches() == []
    decided(cast, transfer, made, what)
    assert auditing.breaches() == []


def both_in_one(made: dict[str, Any]) -> str:
    """One transaction that brings the coin of an address and another one, both late; its hash."""
    row = Payment.objects.select_related("store").get(pk=made["id"])
    entry = next(item for item in addresses_of(row) if item.asset_id == "SETH")
    other = Asset.objects.select_related("chain").get(pk=COIN)
    at = clock.now(row.store, row.mode) + timedelta(seconds=1)
    with transaction.atomic():
        deposits = [
            put(
                entry.address_id,
                asset,
                f"both {number}",
                amount_atomic=entry.required_atomic,
                confirmations=entry.required_confirmations,
                status="confirmed",
                at=at,
            )[0]
            for number, asset in enumerate((entry.asset, other))
        ]
    tx_hash = deposits[0].tx_hash
    Deposit.objects.filter(pk=deposits[1].pk).update(tx_hash=tx_hash, log_index=1)
    settle_payment(row.pk)
    return tx_hash


def test_a_transaction_with_two_coins_is_no_finding(cast: Cast, coins: None) -> None:
    made = ended(cast)
    tx_hash = both_in_one(made)
    unexpected.confirm_set_aside()
    kinds = [kind for kind, *_ in told(made["id"])]
    assert kinds.count("confirmed") == 2 and Deposit.objects.filter(tx_hash=tx_hash).count() == 2
    assert auditing.breaches() == []


def gone(rows: Any) -> None:
    """Deleted by somebody whom no trigger stops."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        rows.delete()
        cursor.execute("SET LOCAL session_replication_role = origin")


def test_a_late_deposit_that_is_kept_no_more_is_found(cast: Cast) -> None:
    made = ended(cast)
    make.late_deposit(made["id"])
    assert auditing.found_of(CHECKED) == []
    gone(LateDeposit.objects.filter(payment=made["id"]))
    [found] = auditing.found_of(CHECKED)
    assert "it came late" in found.detail


@pytest.mark.parametrize("what", ["left", "accepted"])
def test_another_coin_that_is_kept_no_more_is_found(cast: Cast, coins: None, what: str) -> None:
    made = ended(cast)
    transfer = swallowed(made["id"])
    unexpected.confirm_set_aside()
    decided(cast, transfer, made, what)
    assert auditing.found_of(CHECKED) == []
    if what == "left":
        gone(UnmatchedTransfer.objects.filter(pk=transfer))
    else:
        gone(LateDeposit.objects.filter(payment=made["id"]))
    [found] = auditing.found_of(CHECKED)
    assert "it came late" in found.detail
