"""The self-audit of payouts: silent on books that were kept properly, and not on any that were
tampered with."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from apps.assets.models import Asset
from apps.audit import verify
from apps.audit.invariants import parameters
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import hot_wallets
from apps.core import clock
from apps.payouts.invariants import PAYOUTS
from apps.payouts.services.progress import advance_payouts
from tests import auditing, make
from tests.auditing import found_of
from tests.cast import Shop, assemble
from tests.contract.test_payouts import bank, rich
from tests.stage import standing

ONE = (
    "(SELECT id FROM payouts_payout WHERE status = '{status}' AND rail = '{rail}' ORDER BY"
    " created_at LIMIT 1)"
)
PAID = ONE.format(status="confirmed", rail="fiat_manual")
SIMULATED = ONE.format(status="confirmed", rail="crypto")
OPEN, FAILED, ON_CHAIN = (
    ONE.format(status=item, rail="crypto") for item in ("pending", "failed", "submitted")
)
COPY = (
    "INSERT INTO chain_outgoingtransaction SELECT (jsonb_populate_record(o,"
    " jsonb_build_object('id', gen_random_uuid(), 'reference', reference || '1', 'nonce', null,"
    " 'status', 'requested'))).* FROM chain_outgoingtransaction o WHERE purpose = 'payout'"
)
CORRUPTIONS: dict[str, tuple[str, str]] = {
    "an amount is raised": (
        f"UPDATE payouts_payout SET amount_atomic = amount_atomic + 1 WHERE id = {OPEN}",
        "reserved_is_open",
    ),
    "an open one is said to be paid": (
        f"UPDATE payouts_payout SET status = 'confirmed', funds = 'paid' WHERE id = {OPEN}",
        "payouts_booked",
    ),
    "a paid one is said to be given back": (
        f"UPDATE payouts_payout SET status = 'failed', funds = 'returned' WHERE id = {SIMULATED}",
        "payouts_booked",
    ),
    "one that was given back is said to be open": (
        f"UPDATE payouts_payout SET status = 'pending', funds = 'reserved' WHERE id = {FAILED}",
        "reserved_is_open",
    ),
    "a bank's is said to be in clearing": (
        f"UPDATE payouts_payout SET funds = 'clearing' WHERE id = {PAID}",
        "payouts_booked",
    ),
    "one is deleted": (f"DELETE FROM payouts_payout WHERE id = {SIMULATED}", "payouts_booked"),
    "one is given to another asset": (
        f"UPDATE payouts_payout SET asset_id = 'ETH' WHERE id = {PAID}",
        "payouts_booked",
    ),
    "a line of history is deleted": (
        (
            f"DELETE FROM payouts_payouttransition WHERE payout_id = {PAID} AND to_status ="
            " 'submitted'"
        ),
        "payout_history_whole",
    ),
    "a status is changed by hand": (
        f"UPDATE payouts_payout SET status = 'failed' WHERE id = {OPEN}",
        "payout_history_whole",
    ),
    "a second transaction serves one": (COPY, "payouts_sent_once"),
    "a confirmed one was never sent": (
        "DELETE FROM chain_outgoingtransaction WHERE purpose = 'payout'",
        "payouts_sent_once",
    ),
    "it went to another address": (
        f"UPDATE chain_outgoingtransaction SET to_address = '0x{'9' * 40}'",
        "payouts_sent_once",
    ),
}


def paying_out() -> Shop:
    """A paid simulated payout, a bank's, a failed one, an open one, and one that is on the
    chain."""
    bakery = assemble().bakery
    Asset.objects.filter(pk="USDC_SETH").update(
        is_active=True, is_fiat_eligible=True, contract_address="0x" + "c" * 40
    )
    rich(bakery, "USDC_SETH")
    make.store_coins(bakery.store, "ETH", 10**18)
    make.funded(bakery.test)
    make.payout(bakery.test, 10**16)
    make.payout(
        bakery.test, 2_000_000, asset_id="USDC_SETH", fiat_payout_detail_id=bank(bakery, "test")
    )
    make.advance(bakery.test, 120)
    make.payout(bakery.live, 10**16, asset_id="ETH")
    advance_payouts()
    refused = OutgoingTransaction.objects.get()
    hot_wallets.finish(refused, "failed", clock.real_now(), Reason.RECIPIENT_REFUSES)
    advance_payouts()
    make.payout(bakery.live, 10**16, asset_id="ETH")
    advance_payouts()
    sent = OutgoingTransaction.objects.exclude(pk=refused.pk)
    wallet = HotWallet.objects.create(chain_id="ethereum", address="0x" + "b" * 40, next_nonce=1)
    sent.update(status="submitted", nonce=0, tx_hash="0x" + "a" * 64, from_address=wallet.address)
    advance_payouts()
    sent.update(status="confirmed", network_fee_atomic=5, block_number=1)
    advance_payouts()
    make.payout(bakery.test, 10**16)
    return bakery


@pytest.fixture(scope="module")
def books(django_db_setup: None, django_db_blocker: Any) -> Iterator[Shop]:
    yield from standing(django_db_blocker, paying_out)


@pytest.fixture
def world(books: Shop, db: None) -> Shop:
    return books.again()


def test_books_that_were_kept_properly_have_no_findings(world: Shop) -> None:
    assert auditing.breaches() == []
    counted = {item.name: verify._ask(item, parameters()).counted for item in PAYOUTS}
    assert all(counted[name] for name in counted if name != "due_times_paid_once")


@pytest.mark.parametrize(("statement", "broken"), list(CORRUPTIONS.values()), ids=list(CORRUPTIONS))
def test_what_was_tampered_with_is_found(world: Shop, statement: str, broken: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement)
        assert cursor.rowcount > 0
        cursor.execute("SET LOCAL session_replication_role = origin")
    assert found_of(broken)
