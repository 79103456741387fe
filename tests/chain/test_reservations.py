"""Reservations that the signer reads in the ledger before it signs: coins reserved for exactly
this, and for nothing that has ended."""

import uuid
from typing import Any

import pytest

from apps.chain.models import OutgoingTransaction
from apps.chain.sending import reservations
from apps.core import clock
from apps.ledger import movements
from tests import make
from tests.cast import Cast, Shop

AMOUNT = 10**15


@pytest.fixture
def payout(bakery: Shop) -> OutgoingTransaction:
    """The transaction that a payout would ask for."""
    make.funded(bakery.test)
    made = make.payout(bakery.test, AMOUNT)
    fields = {
        "store_id": bakery.store.pk,
        "mode": "test",
        "chain_id": "sepolia",
        "asset_id": "SETH",
    }
    return OutgoingTransaction(
        purpose="payout", reference=f"{made['id']}-0", amount_atomic=AMOUNT, **fields
    )


def is_backed(row: OutgoingTransaction) -> bool:
    return reservations.refusals([row]) == {}


def test_what_a_payout_has_set_aside_may_be_sent(payout: OutgoingTransaction) -> None:
    assert is_backed(payout)


@pytest.mark.parametrize(
    "changes",
    [
        {"amount_atomic": AMOUNT + 1},
        {"asset_id": "USDC_SETH"},
        {"mode": "live"},
        {"store_id": None},
        {"purpose": "refund"},
        {"reference": "nothing of ours"},
        {"purpose": "a purpose that nobody knows"},
    ],
)
def test_nothing_else_may(payout: OutgoingTransaction, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(payout, name, value)
    assert not is_backed(payout)


def test_no_other_store_lives_on_it(payout: OutgoingTransaction, cast: Cast) -> None:
    payout.store_id = cast.strangers.store.pk
    assert not is_backed(payout)


def test_what_was_given_back_may_not_be_sent(payout: OutgoingTransaction) -> None:
    movements.payout_released(
        store_id=payout.store_id,
        mode="test",
        asset_id="SETH",
        payout_id=uuid.UUID(payout.reference[:36]),
        amount_atomic=AMOUNT,
        at=clock.real_now(),
    )
    assert not is_backed(payout)


def test_a_second_attempt_waits_for_the_end_of_the_first(payout: OutgoingTransaction) -> None:
    payout.to_address = make.fresh_address()
    payout.requested_at = clock.real_now()
    payout.save(force_insert=True)
    second = OutgoingTransaction(
        purpose="payout", reference=f"{payout.reference[:36]}-1", amount_atomic=AMOUNT, mode="test"
    )
    second.store_id = payout.store_id
    second.chain_id = "sepolia"
    second.asset_id = "SETH"
    assert not is_backed(second)
    OutgoingTransaction.objects.filter(pk=payout.pk).update(status="failed")
    assert is_backed(second)
    OutgoingTransaction.objects.filter(pk=payout.pk).update(status="signed", nonce=1)
    assert not is_backed(second)
