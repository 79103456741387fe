"""The audit of swaps and sweeps: silent on what was booked properly, and not on what was tampered
with."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.audit import verify
from apps.chain.models import Block, Deposit, Head, HotWallet, OutgoingTransaction
from apps.core import clock
from apps.payments.models import PaymentAddress
from apps.payments.services.settle import settle_payment
from apps.payments.services.sweep_books import book_sweeps
from apps.swaps.invariants import SWAPS
from apps.swaps.services.progress import advance_swaps
from tests import make
from tests.auditing import found_of
from tests.cast import Shop, assemble
from tests.console.test_verify_ledger import tamper
from tests.stage import standing

HOT = "0x" + "ab" * 20


def trade() -> Shop:
    """Swaps that are open, done and failed, and a sweep with its gas."""
    bakery = assemble().bakery
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    make.store_coins(bakery.store, "SETH", 10**18)
    body = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": str(10**17),
    }
    for key in ("first", "second"):
        assert bakery.test.post("/balance_swaps", body, key=key).status_code == 201
    advance_swaps()
    assert bakery.test.post("/balance_swaps", body, key="third").status_code == 201
    _sweep(bakery)
    return bakery


@pytest.fixture(scope="module")
def books(django_db_setup: None, django_db_blocker: Any) -> Iterator[Shop]:
    yield from standing(django_db_blocker, trade)


@pytest.fixture
def traded(books: Shop, db: None) -> Shop:
    return books.again()


def _sweep(shop: Shop) -> None:
    """Rows of a sweep: a deposit from a chain, gas that was sent, and the way to the hot wallet."""
    at = clock.real_now()
    payment = make.payment(shop.test)
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset_id="SETH")
    Block.objects.create(
        chain_id="sepolia", number=1, hash="0xb1", parent_hash="0xb0", mined_at=at, scanned_at=at
    )
    Head.objects.create(chain_id="sepolia", number=1, hash="0xb1", block_time=at, synced_at=at)
    Deposit.objects.create(
        chain_id="sepolia",
        asset_id="SETH",
        address_id=entry.address_id,
        tx_hash="0x1",
        log_index=-1,
        from_address=HOT,
        amount_atomic=1000,
        block_number=1,
        block_hash="0xb1",
        status="confirming",
        required_confirmations=1,
        detected_at=at,
        handled_status="confirming",
    )
    HotWallet.objects.create(chain_id="sepolia", address=HOT, next_nonce=1)
    Deposit.objects.update(status="confirmed", confirmed_at=at)
    settle_payment(entry.payment_id)
    rows = [("sweep", entry.address_id, HOT), ("sweep_gas", HOT, entry.address_id)]
    for purpose, source, target in rows:
        OutgoingTransaction.objects.create(
            mode="test",
            chain_id="sepolia",
            asset_id="SETH",
            purpose=purpose,
            reference=str(uuid.uuid4()),
            to_address=target,
            from_address=source,
            amount_atomic=900,
            status="confirmed",
            nonce=0,
            requested_at=at,
            finished_at=at,
            tx_hash=f"0x{purpose}",
            network_fee_atomic=10,
        )
    book_sweeps()


DONE = "(SELECT id FROM swaps_swap WHERE status = 'completed' LIMIT 1)"
CORRUPTIONS = {
    "a swap is called completed that isn't": (
        (
            "UPDATE swaps_swap SET status = 'completed', actual_buy_amount_atomic = 200000000 WHERE"
            " status = 'pending'"
        ),
        "swaps_booked",
    ),
    "a swap is called failed that was made": (
        (
            "UPDATE swaps_swap SET status = 'failed', actual_buy_amount_atomic = NULL WHERE id ="
            f" {DONE}"
        ),
        "swaps_booked",
    ),
    "more was bought than was booked": (
        (
            "UPDATE swaps_swap SET actual_buy_amount_atomic = actual_buy_amount_atomic + 1 WHERE"
            f" id = {DONE}"
        ),
        "swaps_booked",
    ),
    "more was sold than was reserved": (
        f"UPDATE swaps_swap SET sell_amount_atomic = sell_amount_atomic + 1 WHERE id = {DONE}",
        "swaps_booked",
    ),
    "a swap is deleted": (f"DELETE FROM swaps_swap WHERE id = {DONE}", "swaps_booked"),
    "a swap was made on no exchange": (
        f"UPDATE swaps_swap SET provider = 'uniswap' WHERE id = {DONE}",
        "swaps_booked",
    ),
    "it brought less than was agreed": (
        (
            "UPDATE swaps_swap SET min_buy_amount_atomic = actual_buy_amount_atomic + 1 WHERE id ="
            f" {DONE}"
        ),
        "swaps_booked",
    ),
    "an open swap is made smaller": (
        (
            "UPDATE swaps_swap SET sell_amount_atomic = sell_amount_atomic - 1 WHERE status ="
            " 'pending'"
        ),
        "reserved_is_open",
    ),
    "a step of a swap is deleted": (
        "DELETE FROM swaps_swapstep WHERE to_status = 'submitted'",
        "swaps_history_whole",
    ),
    "a swap's last step is deleted": (
        "DELETE FROM swaps_swapstep WHERE to_status = 'completed'",
        "swaps_history_whole",
    ),
    "a sweep is made larger": (
        "UPDATE chain_outgoingtransaction SET amount_atomic = 950 WHERE purpose = 'sweep'",
        "sweeps_booked",
    ),
    "a sweep's booking is taken out": (
        (
            "DELETE FROM ledger_entry e USING ledger_movement m WHERE m.id = e.movement_id AND"
            " m.kind = 'sweep_confirmed'; DELETE FROM ledger_movement WHERE kind ="
            " 'sweep_confirmed'"
        ),
        "sweeps_booked",
    ),
    "a sweep went elsewhere": (
        (
            "UPDATE chain_outgoingtransaction SET to_address ="
            " '0x0000000000000000000000000000000000000bad' WHERE purpose = 'sweep'"
        ),
        "sweeps_booked",
    ),
    "an address gave more than it got": (
        "UPDATE chain_deposit SET amount_atomic = 5 WHERE tx_hash = '0x1'",
        "sweeps_booked",
    ),
}


def test_what_was_booked_properly_has_no_findings(traded: Shop) -> None:
    verdicts = {verdict.name: verdict for verdict in verify.verdicts()}
    assert [finding for verdict in verdicts.values() for finding in verdict.findings] == []
    assert all(verdicts[item.name].counted for item in SWAPS)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_the_audit_finds(name: str, traded: Shop) -> None:
    statement, invariant = CORRUPTIONS[name]
    tamper(statement)
    assert found_of(invariant)


def test_every_invariant_has_a_corruption_that_breaks_it() -> None:
    assert {item.name for item in SWAPS} <= {invariant for _, invariant in CORRUPTIONS.values()}
