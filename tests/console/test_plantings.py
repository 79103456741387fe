"""232 things that somebody with the database's keys might change, planted one by one into sound
books: each is named.

The sound books themselves are clean.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import override_settings

from apps.assets.models import Asset
from apps.audit import verify
from apps.audit.invariants import INVARIANTS
from apps.audit.models import VerifiedPoint
from apps.chain.models import (
    Block,
    Deposit,
    Head,
    HotWallet,
    OutgoingTransaction,
    SignedTransaction,
)
from apps.chain.sending import sender
from apps.core import clock
from apps.payments.models import PaymentAddress
from apps.payments.seals import seal_payments
from apps.payments.services import withdrawals
from apps.payments.services.settle import settle_payment
from apps.payments.services.sweep_books import book_sweeps
from apps.payments.tasks import advance_treasury
from apps.payouts.models import PayoutApproval
from apps.payouts.services.approval_decisions import approve, digest_of
from apps.payouts.services.approval_rules import change_rule
from apps.payouts.services.progress import advance_payouts
from apps.stores.auditing.seals import seal_lines
from apps.stores.models import Role
from apps.stores.services import change_store
from apps.stores.settings import write_settings
from apps.swaps.services.progress import advance_swaps
from tests import make
from tests.auditing import found_of, found_since, point_here
from tests.billing import records as billing
from tests.cast import Api, Shop, assemble, signed_in
from tests.console.plantings.books import BOOKS
from tests.console.plantings.held_refunds import HELD_REFUNDS, hold
from tests.console.plantings.sales import SALES
from tests.console.plantings.settings import SETTINGS, decide
from tests.console.plantings.spending import SPENDING
from tests.console.plantings.system import SYSTEM
from tests.console.plantings.ways_in import WAYS_IN, joined, let_in, stop
from tests.console.test_verify_ledger import refund
from tests.links.makers import bought, made_link, send

pytestmark = pytest.mark.rolls_back
PLANTINGS = BOOKS | HELD_REFUNDS | SALES | SPENDING | SYSTEM | SETTINGS | WAYS_IN
HOT = "0x" + "ab" * 20
SAFE = "0x" + "5a" * 20
FIRST = 100
LAST = 110


@contextmanager
def rolled_back() -> Iterator[None]:
    """A block whose statements are rolled back; entries are checked at their statement, so that
    tables can be altered."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def books(django_db_setup: None, django_db_blocker: Any) -> Iterator[Shop]:
    """Some days of a merchant and a platform, made once for all plantings and never committed."""
    with django_db_blocker.unblock(), rolled_back():
        cast = assemble()
        shop = cast.bakery
        change_store(
            shop.store,
            platform_id=cast.strangers.store.pk,
            platform_fee_fraction=Decimal("0.02"),
            kyc_confirmed_at=clock.real_now(),
        )
        write_settings(shop.store, {"authorization_provider": "policy"})
        make.paid(cast.strangers.test)
        _sell(shop)
        _bill(shop)
        _spend(shop)
        _ask_two(shop)
        _tell(shop)
        _receive_on_chain(shop)
        hold(shop)
        _send_on_chain(shop)
        _put_away(shop)
        decide(shop)
        let_in(shop)
        stop(shop)
        for _ in range(2):
            make.store_coins(shop.store, "SETH", 1000)
            seal_lines(clock.real_now())
        seal_payments(clock.real_now())
        yield shop


def _sell(shop: Shop) -> None:
    """Paid in full, too little and too late, refunded and waiting; one under a key."""
    sale = make.paid(shop.test, amount="20.00", key="sale")
    late = make.payment(shop.test)
    make.advance(shop.test, 24 * 3600)
    make.simulated(shop.test, late["id"], late=True, reference="late")
    make.simulated(shop.test, make.payment(shop.test, customer_pays_fee=True)["id"], "underpaid")
    refund(shop, sale, "0.001", "first")
    make.advance(shop.test, 61)
    make.advance(shop.test, 61)
    make.paid(shop.test, amount="30.00")
    make.paid(shop.test, amount="30.00", customer_pays_fee=True)
    make.payment(shop.test)


def _bill(shop: Shop) -> None:
    billing.pay(
        shop.test,
        billing.opened(shop.test, tax_rate_bps=1900, discount_type="percent", discount_value=10),
    )
    billing.opened(shop.test)
    billing.subscribe(shop.test)
    billing.subscribe(shop.test, trial_period_days=30)
    link = made_link(shop, stock=2)
    bought(shop, link)
    send(link)


def _spend(shop: Shop) -> None:
    """A payout and a swap that were made, and an agent's draws on its mandate."""
    make.payout(shop.test, 10**15)
    make.advance(shop.test, 120)
    make.swapped(shop)
    advance_swaps()
    agent = Api(shop.secrets["test_agent"])
    mandate = {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": "books"}
    assert agent.post("/agentic/mandates", mandate).status_code == 201
    draw = {
        "asset_id": "SETH",
        "mandate_ref": "books",
        "amount_atomic": "300",
        "pay_to": make.fresh_address(),
    }
    assert agent.post("/agentic/x402/settlements", draw, key="draw").status_code == 201


def _ask_two(shop: Shop) -> None:
    """A payout that a second person has approved."""
    admin = joined(shop, "adam").user
    change_rule(shop.owner_access(), 100)
    make.advance(shop.test, 120)
    make.payout(shop.test, 10**15)
    held = PayoutApproval.objects.select_related("store").get()
    approve(signed_in(admin, shop.store, role=Role.ADMIN), held, digest_of(held))
    advance_payouts()


def _tell(shop: Shop) -> None:
    """A sale that an endpoint is still to be notified of."""
    body = {
        "webhook_endpoint": {
            "url": "https://1.1.1.1/hook",
            "subscribed_events": ["payment_intent.completed"],
        }
    }
    assert shop.test.post("/webhook_endpoints", body).status_code == 201
    make.paid(shop.test)


def _receive_on_chain(shop: Shop) -> None:
    """Blocks that were read, and a deposit in one of them."""
    at = clock.real_now()
    for number in range(FIRST, LAST + 1):
        Block.objects.create(
            chain_id="sepolia",
            number=number,
            hash=f"0x{number:064x}",
            parent_hash=f"0x{number - 1:064x}",
            mined_at=at,
            scanned_at=at,
        )
    Head.objects.create(
        chain_id="sepolia", number=LAST, hash=f"0x{LAST:064x}", block_time=at, synced_at=at
    )
    entry = PaymentAddress.objects.get(payment_id=make.payment(shop.test)["id"], asset_id="SETH")
    Deposit.objects.create(
        chain_id="sepolia",
        asset_id="SETH",
        address_id=entry.address_id,
        tx_hash=f"0x{1:064x}",
        log_index=-1,
        from_address=HOT,
        amount_atomic=entry.required_atomic,
        block_number=103,
        block_hash=f"0x{103:064x}",
        status="confirmed",
        confirmed_at=at,
        required_confirmations=3,
        detected_at=at,
    )
    settle_payment(entry.payment_id)


def _send_on_chain(shop: Shop) -> None:
    """Two live payouts, signed, sent and mined, one after the other."""
    make.store_coins(shop.store, "ETH", 10**18)
    HotWallet.objects.create(chain_id="ethereum", address=HOT, next_nonce=2)
    for nonce in range(2):
        make.payout(shop.live, 10**16, asset_id="ETH")
        advance_payouts()
        asked = OutgoingTransaction.objects.get(status="requested")
        raw = f"0x02{nonce:064x}{asked.to_address[2:]}"
        SignedTransaction.objects.create(
            outgoing=asked,
            tx_hash=f"0x{nonce:064x}",
            raw=raw,
            max_fee_wei=1,
            priority_fee_wei=1,
            signed_at=clock.real_now(),
        )
        sent = OutgoingTransaction.objects.filter(pk=asked.pk)
        sent.update(status="submitted", nonce=nonce, tx_hash=f"0x{nonce:064x}", from_address=HOT)
        advance_payouts()
        sent.update(status="confirmed", network_fee_atomic=5, block_number=1)
        advance_payouts()


def _put_away(shop: Shop) -> None:
    """Earnings that the operator has withdrawn, coins that went to cold storage, and such as were
    joined in the hot wallet."""
    staff = [make.clerk() for _ in range(2)]
    make.service_coins("SETH", 10**18)
    HotWallet.objects.create(chain_id="sepolia", address=HOT, next_nonce=3)
    with override_settings(WITHDRAWAL_ADDRESSES=[SAFE]):
        asset = Asset.objects.select_related("chain").get(pk="SETH")
        wanted = withdrawals.WithdrawalRequest("may", asset, 1000, SAFE, "Salaries")
        row = withdrawals.request_withdrawal(wanted, staff[0], clock.real_now())
        withdrawals.approve_withdrawal(row.pk, staff[1], clock.real_now())
        withdrawals.advance_withdrawals()
    to_cold = {"purpose": "cold", "reference": "SETH:0", "mode": "test", "at": clock.real_now()}
    sender.request(chain_id="sepolia", asset_id="SETH", to=SAFE, amount_atomic=2000, **to_cold)
    joined = {"purpose": "join", "reference": "sepolia:0", "mode": "test", "at": clock.real_now()}
    sender.request(chain_id="sepolia", asset_id="SETH", to=HOT, amount_atomic=3000, **joined)
    for nonce, purpose in enumerate(("withdrawal", "cold", "join")):
        asked = OutgoingTransaction.objects.filter(purpose=purpose)
        tx_hash = f"0x{nonce + 16:064x}"
        SignedTransaction.objects.create(
            outgoing=asked.get(),
            tx_hash=tx_hash,
            raw=f"0x02{asked.get().to_address[2:]}",
            max_fee_wei=1,
            priority_fee_wei=1,
            signed_at=clock.real_now(),
        )
        asked.update(
            status="confirmed",
            nonce=nonce,
            tx_hash=tx_hash,
            from_address=HOT,
            network_fee_atomic=5,
            block_number=1,
            finished_at=clock.real_now(),
        )
    advance_treasury()
    book_sweeps()


def test_the_list_is_whole() -> None:
    assert len(PLANTINGS) == 236


def test_the_untouched_books_are_clean(books: Shop) -> None:
    verdicts = verify.verdicts()
    assert [finding for verdict in verdicts for finding in verdict.findings] == []
    asked = {name for _, name in PLANTINGS.values()}
    assert [
        verdict.name for verdict in verdicts if verdict.name in asked and not verdict.counted
    ] == []


def test_runs_since_any_point_find_nothing_in_untouched_books(books: Shop) -> None:
    """A run from any part of the history agrees with itself."""
    names = [item.name for item in INVARIANTS if item.is_incremental]
    point = point_here()
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT xmin::text::bigint FROM payments_paymentevent ORDER BY 1")
        boundaries = [row[0] for row in cursor.fetchall()]
    assert len(boundaries) > 10

    for boundary in boundaries[:: len(boundaries) // 3]:
        point.boundary_xid, point.row_counts = boundary, {}
        assert found_since(point, *names) == []


@pytest.fixture(scope="module")
def point(books: Shop, django_db_blocker: Any) -> VerifiedPoint:
    """A verified point; faults are planted after it."""
    with django_db_blocker.unblock():
        return point_here()


@pytest.mark.parametrize("name", PLANTINGS)
def test_what_was_planted_is_found(name: str, books: Shop, point: VerifiedPoint) -> None:
    """By a run that verifies everything, and by one since a point just before."""
    statements, invariant = PLANTINGS[name]
    with rolled_back():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            for statement in statements.format(store=books.store.pk).split("; "):
                cursor.execute(statement)
                assert cursor.rowcount != 0, f"{statement} changed nothing"
            cursor.execute("SET LOCAL session_replication_role = origin")

        assert found_of(invariant)
        assert found_since(point, invariant)
