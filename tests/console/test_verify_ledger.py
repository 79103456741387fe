"""The self-audit: silent on books that were kept properly, and not on any that were tampered
with."""

import json
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from apps.audit import verify
from apps.audit.invariants import INVARIANTS, LEDGER, MERCHANTS, PAYMENTS
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.core import clock
from apps.ledger.models import Movement
from apps.payments.models import Payment, Refund
from apps.reports.invariants import BOOKINGS
from apps.stores.services import change_store
from apps.webhooks.invariants import TOLD
from tests import make
from tests.auditing import add_up, found_of, found_since, point_here
from tests.cast import Cast, Shop, assemble
from tests.stage import standing

DESTINATION = "0x1111111111111111111111111111111111111111"


def refund(shop: Shop, payment: dict[str, Any], amount: str, key: str) -> str:
    body = {"refund": {"amount": amount, "destination_address": DESTINATION}}
    answer = shop.test.post(f"/payments/{payment['id']}/refunds", body, key=key)
    assert answer.status_code in (200, 201), answer.content
    return str(answer.json()[0]["id"])


def trade() -> Cast:
    """A day of it: sales with a platform's share, too little, too late, refunds done and under way,
    coins sent, events told."""
    cast = assemble()
    shop = cast.bakery
    change_store(
        shop.store,
        platform_id=cast.strangers.store.pk,
        platform_fee_fraction=Decimal("0.02"),
        kyc_confirmed_at=clock.real_now(),
    )
    make.paid(shop.test, amount="50.00")
    sale = make.paid(shop.test, amount="20.00")
    late = make.payment(shop.test)
    make.advance(shop.test, 24 * 3600)
    make.simulated(shop.test, late["id"], late=True, reference="late")
    make.simulated(shop.test, make.payment(shop.test)["id"], "underpaid")
    make.simulated(shop.test, make.payment(shop.test)["id"], "unconfirmed")
    refund(shop, sale, "0.001", "first")
    make.advance(shop.test, 61)
    make.advance(shop.test, 61)
    refund(shop, make.paid(shop.test, amount="30.00"), "0.002", "second")
    _listen(shop)
    make.paid(shop.test)
    _send(shop)
    add_up()
    return cast


@pytest.fixture(scope="module")
def day(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    yield from standing(django_db_blocker, trade)


@pytest.fixture
def world(day: Cast, db: None) -> Cast:
    return day.again()


def _listen(shop: Shop) -> None:
    body = {
        "webhook_endpoint": {
            "url": "https://1.1.1.1/hook",
            "subscribed_events": ["payment_intent.completed"],
        }
    }
    answer = shop.test.post("/webhook_endpoints", body)
    assert answer.status_code == 201, answer.content


def _send(shop: Shop) -> None:
    """What a day of sending leaves behind: two transfers of the hot wallet, mined and dealt
    with."""
    at = clock.real_now()
    hot = "0x" + "ab" * 20
    HotWallet.objects.create(chain_id="sepolia", address=hot, next_nonce=2)
    for nonce in range(2):
        OutgoingTransaction.objects.create(
            mode="test",
            chain_id="sepolia",
            asset_id="SETH",
            purpose="test_payment",
            reference=str(uuid.uuid4()),
            to_address=DESTINATION,
            amount_atomic=5,
            status="confirmed",
            handled_status="confirmed",
            from_address=hot,
            nonce=nonce,
            requested_at=at,
            tx_hash=f"0x{nonce}",
        )


def test_the_world_is_as_rich_as_the_audit_needs(world: Cast) -> None:
    kinds = set(Movement.objects.values_list("kind", flat=True))
    assert kinds >= {
        "deposit_confirmed",
        "payment_settled",
        "refund_created",
        "refund_confirmed",
        "platform_fee_returned",
    }
    assert set(Refund.objects.values_list("status", flat=True)) == {"pending", "confirmed"}
    assert set(Payment.objects.values_list("status", flat=True)) >= {
        "completed",
        "expired",
        "processing",
        "refunded",
    }


def test_books_that_were_kept_properly_have_no_findings(world: Cast) -> None:
    verdicts = verify.verdicts()

    assert [finding for verdict in verdicts for finding in verdict.findings] == []
    asked_of_this_world = {invariant.name for invariant in LEDGER + PAYMENTS + TOLD}
    assert [
        verdict.name
        for verdict in verdicts
        if not verdict.counted and verdict.name in asked_of_this_world
    ] == []


def test_the_command_prints_a_line_per_invariant(world: Cast, capsys: Any) -> None:
    call_command("verify_ledger")

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == [invariant.name for invariant in INVARIANTS]
    assert lines[-1].startswith("newest seal of the audit log: ")
    assert all(" OK " in line for line in lines[:-2])


def test_the_command_fails_with_the_findings_when_something_is_broken(
    world: Cast, capsys: Any
) -> None:
    tamper(
        "UPDATE ledger_entry SET amount_atomic = amount_atomic + 1 WHERE id = (SELECT max(id) FROM"
        " ledger_entry)"
    )

    with pytest.raises(SystemExit) as stop:
        call_command("verify_ledger", "--json")

    answer = json.loads(capsys.readouterr().out)
    broken = [invariant["name"] for invariant in answer["invariants"] if invariant["findings"]]
    assert (stop.value.code, answer["ok"], "movements_balance" in broken) == (1, False, True)


# --- planted corruption --------------------------------------------------------------------------

LAST_OF = "(SELECT max(id) FROM ledger_movement WHERE kind = '{kind}')"
FIRST_SETTLED = "(SELECT min(id) FROM ledger_movement WHERE kind = 'payment_settled')"
SETTLED = LAST_OF.format(kind="payment_settled")
DEPOSITED = LAST_OF.format(kind="deposit_confirmed")
RETURNED = LAST_OF.format(kind="platform_fee_returned")
COPY = (
    "INSERT INTO ledger_movement (key, kind, mode, reference, reason, at) SELECT 'again', kind,"
    " mode, reference, reason, at "
)
LEGS = (
    "INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role) SELECT"
    " (SELECT max(id) FROM ledger_movement), account_id, asset_id, {sign}amount_atomic, role FROM"
    " ledger_entry WHERE movement_id = {movement}"
)
LAST_COMPLETED = (
    "(SELECT id FROM payments_payment WHERE status = 'completed' ORDER BY created_at DESC LIMIT 1)"
)
CONFIRMED = "(SELECT id FROM chain_deposit WHERE status = 'confirmed' LIMIT 1)"
CONFIRMED_REFUND = "(SELECT id FROM payments_refund WHERE status = 'confirmed' LIMIT 1)"
LAST_EVENT = (
    "(SELECT max(sequence) FROM payments_paymentevent WHERE event_type ="
    " 'payment_intent.completed')"
)

# A row that is gone leaves nothing to read, unless its table is counted or always read whole.
WHOLE_ONLY = {"a booked deposit is deleted", "a settled payment is deleted"}
WHOLE_ONLY |= {"an event is deleted", "a platform's event is deleted", "a delivery is deleted"}

CORRUPTIONS: dict[str, tuple[str, str]] = {
    "a day's sum is raised by one": (
        "UPDATE payments_dailysum SET amount_atomic = amount_atomic + 1",
        "daily_sums_true",
    ),
    "bookings grow": ("UPDATE reports_hourlybooking SET in_atomic = 1", "hourly_bookings_true"),
    "bookings are deleted": ("DELETE FROM reports_hourlybooking", "hourly_bookings_true"),
    "a mark has more": ("UPDATE ledger_balancemark SET balance_atomic = 1", "balance_marks_true"),
    "an hour has more payments": ("UPDATE payments_hourlysum SET payments = 9", "hourly_sums_true"),
    "what a merchant sold is deleted": ("DELETE FROM payments_soldsum", "sold_sums_true"),
    "a merchant's month grows": ("UPDATE payments_soldspan SET cents = 1", "sold_spans_true"),
    "a platform has more": ("UPDATE stores_merchantcount SET accounts = 9", "merchants_counted"),
    "a merchant isn't counted": ("DELETE FROM stores_countedmerchant", "merchants_counted"),
    "a platform's day is lost": ("DELETE FROM payments_platformsum", "sold_spans_true"),
    "an amount is raised by one": (
        (
            "UPDATE ledger_entry SET amount_atomic = amount_atomic + 1 WHERE movement_id ="
            f" {SETTLED} AND role = 'net'"
        ),
        "movements_balance",
    ),
    "an entry is deleted": (
        f"DELETE FROM ledger_entry WHERE movement_id = {SETTLED} AND role = 'service_fee'",
        "movements_balance",
    ),
    "every entry of a movement is deleted": (
        f"DELETE FROM ledger_entry WHERE movement_id = {RETURNED}",
        "movements_balance",
    ),
    "a sign is turned": (
        (
            f"UPDATE ledger_entry SET amount_atomic = -amount_atomic WHERE movement_id = {SETTLED}"
            " AND role = 'net'"
        ),
        "books_close",
    ),
    "an entry is given to another asset": (
        f"UPDATE ledger_entry SET asset_id = 'ETH' WHERE movement_id = {DEPOSITED}",
        "entries_fit",
    ),
    "a movement is deleted and its entries are not": (
        f"DELETE FROM ledger_movement WHERE id = {DEPOSITED}",
        "entries_fit",
    ),
    "a movement is moved to live mode": (
        f"UPDATE ledger_movement SET mode = 'live' WHERE id = {DEPOSITED}",
        "entries_fit",
    ),
    "an account is moved to live mode": (
        "UPDATE ledger_account SET mode = 'live' WHERE kind = 'custody_simulated'",
        "entries_fit",
    ),
    "more is spent than there was, and given back later": (
        (
            f"{COPY} FROM ledger_movement WHERE id = {SETTLED}; INSERT INTO ledger_entry"
            " (movement_id, account_id, asset_id, amount_atomic, role) SELECT (SELECT max(id) FROM"
            " ledger_movement), id, asset_id, CASE kind WHEN 'reserved' THEN -(10::numeric ^ 30)"
            " ELSE 10::numeric ^ 30 END, 'principal' FROM ledger_account WHERE kind IN"
            " ('reserved', 'held') AND asset_id = 'SETH' AND store_id = '{store}';"
            f" {COPY.replace('again', 'back')} FROM ledger_movement WHERE id = {SETTLED}; INSERT"
            " INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role) SELECT"
            " (SELECT max(id) FROM ledger_movement), id, asset_id, CASE kind WHEN 'reserved' THEN"
            " 10::numeric ^ 30 ELSE -(10::numeric ^ 30) END, 'principal' FROM ledger_account WHERE"
            " kind IN ('reserved', 'held') AND asset_id = 'SETH' AND store_id = '{store}'"
        ),
        "guarded_never_negative",
    ),
    "a checkpoint is invented": (
        "UPDATE ledger_account SET checkpoint_atomic = 5 WHERE kind = 'available'",
        "checkpoints_true",
    ),
    "a checkpoint skips entries": (
        "UPDATE ledger_account SET checkpoint_id = 9000000000000 WHERE kind = 'available'",
        "checkpoints_true",
    ),
    "a deposit's booking is taken out": (
        (
            f"DELETE FROM ledger_entry WHERE movement_id = {DEPOSITED}; DELETE FROM ledger_movement"
            f" WHERE id = {DEPOSITED}"
        ),
        "deposits_booked_once",
    ),
    "a deposit is booked twice": (
        COPY.replace("'again'", f"'deposit:' || {CONFIRMED} || ':again'")
        + f"FROM ledger_movement WHERE key = 'deposit:' || {CONFIRMED}; "
        + LEGS.format(
            sign="",
            movement=f"(SELECT id FROM ledger_movement WHERE key = 'deposit:' || {CONFIRMED})",
        ),
        "deposits_booked_once",
    ),
    "a deposit is made larger": (
        f"UPDATE chain_deposit SET amount_atomic = amount_atomic + 1 WHERE id = {CONFIRMED}",
        "deposits_booked_once",
    ),
    "a booked deposit never confirmed": (
        (
            "UPDATE chain_deposit SET status = 'confirming', handled_status = 'confirming' WHERE"
            f" id = {CONFIRMED}"
        ),
        "deposits_booked_once",
    ),
    "a booked deposit is deleted": (
        f"DELETE FROM chain_deposit WHERE id = {CONFIRMED}",
        "deposits_booked_once",
    ),
    "a deposit is given to another payment": (
        f"UPDATE ledger_movement SET reference = gen_random_uuid() WHERE id = {DEPOSITED}",
        "deposits_booked_once",
    ),
    "a real deposit is booked as a simulated one": (
        f"UPDATE chain_deposit SET is_simulated = false, block_number = 1 WHERE id = {CONFIRMED}",
        "deposits_booked_once",
    ),
    "a settlement is taken out": (
        (
            f"DELETE FROM ledger_entry WHERE movement_id = {SETTLED}; DELETE FROM ledger_movement"
            f" WHERE id = {SETTLED}"
        ),
        "payments_settled_once",
    ),
    "a payment is settled twice": (
        (
            f"{COPY} FROM ledger_movement WHERE id = {FIRST_SETTLED};"
            f" {LEGS.format(sign='', movement=FIRST_SETTLED)}"
        ),
        "payments_settled_once",
    ),
    "a payment that was settled never completed": (
        f"UPDATE payments_payment SET completed_at = NULL WHERE id = {LAST_COMPLETED}",
        "payments_settled_once",
    ),
    "a settled payment is deleted": (
        f"DELETE FROM payments_payment WHERE id = {LAST_COMPLETED}",
        "payments_settled_once",
    ),
    "a late deposit is accepted and not settled": (
        "UPDATE payments_latedeposit SET accepted_at = now()",
        "payments_settled_once",
    ),
    "the fee is one unit more than agreed": (
        (
            "UPDATE ledger_entry SET amount_atomic = amount_atomic + CASE role WHEN 'net' THEN -1"
            f" ELSE 1 END WHERE movement_id = {SETTLED} AND role IN ('net', 'service_fee')"
        ),
        "splits_add_up",
    ),
    "the platform's share goes to the merchant": (
        (
            "UPDATE ledger_entry SET account_id = (SELECT account_id FROM ledger_entry WHERE"
            f" movement_id = {SETTLED} AND role = 'net') WHERE movement_id = {SETTLED} AND role ="
            " 'platform_fee'"
        ),
        "splits_add_up",
    ),
    "a share is called by another name": (
        (
            f"UPDATE ledger_entry SET role = 'network_fee' WHERE movement_id = {SETTLED} AND role ="
            " 'service_fee'"
        ),
        "splits_add_up",
    ),
    "an open refund is deleted": (
        "DELETE FROM payments_refund WHERE status = 'pending'",
        "reserved_is_open",
    ),
    "an open refund is made larger": (
        "UPDATE payments_refund SET amount_atomic = amount_atomic + 1 WHERE status = 'pending'",
        "reserved_is_open",
    ),
    "a refund is called failed that was confirmed": (
        f"UPDATE payments_refund SET status = 'failed' WHERE id = {CONFIRMED_REFUND}",
        "refunds_booked",
    ),
    "a confirmed refund is made smaller": (
        (
            "UPDATE payments_refund SET amount_atomic = amount_atomic - 1 WHERE id ="
            f" {CONFIRMED_REFUND}"
        ),
        "refunds_booked",
    ),
    "more is refunded than came in": (
        (
            "UPDATE payments_refund SET amount_atomic = 10::numeric ^ 40 WHERE id ="
            f" {CONFIRMED_REFUND}"
        ),
        "refunds_booked",
    ),
    "a refund was never sent": (
        f"UPDATE payments_refund SET is_simulated = false WHERE id = {CONFIRMED_REFUND}",
        "sent_once",
    ),
    "a nonce is skipped": (
        (
            "UPDATE chain_outgoingtransaction SET nonce = 2 WHERE nonce = 1; UPDATE chain_hotwallet"
            " SET next_nonce = 3"
        ),
        "sent_once",
    ),
    "the next nonce is a used one": ("UPDATE chain_hotwallet SET next_nonce = 1", "sent_once"),
    "a status is changed without a word": (
        f"UPDATE payments_payment SET status = 'failed' WHERE id = {LAST_COMPLETED}",
        "history_whole",
    ),
    "a line of history is deleted": (
        "DELETE FROM payments_paymentevent WHERE event_type = 'payment_intent.processing'",
        "history_whole",
    ),
    "a payment comes back from its end": (
        (
            "INSERT INTO payments_paymentevent (id, payment_id, event_type, from_status, to_status,"
            " payload, created_at) SELECT gen_random_uuid(), id, 'payment_intent.processing',"
            " 'expired', 'processing', '{{}}', now() FROM payments_payment WHERE status ="
            " 'expired'; UPDATE payments_payment SET status = 'processing' WHERE status = 'expired'"
        ),
        "history_whole",
    ),
    "history has no beginning": (
        "DELETE FROM payments_paymentevent WHERE event_type = 'payment_intent.created'",
        "history_whole",
    ),
    "an event is deleted": (
        (
            "DELETE FROM webhooks_event WHERE id = (SELECT id FROM webhooks_event WHERE type ="
            " 'transaction.confirmed' AND account_id IS NULL LIMIT 1)"
        ),
        "events_told",
    ),
    "a platform's event is deleted": (
        (
            "DELETE FROM webhooks_event WHERE id = (SELECT id FROM webhooks_event WHERE type ="
            " 'transaction.confirmed' AND account_id IS NOT NULL LIMIT 1)"
        ),
        "events_told",
    ),
    "a platform's event is told to another store": (
        "UPDATE webhooks_event SET store_id = account_id WHERE account_id IS NOT NULL",
        "events_told",
    ),
    "a platform's event becomes its sub-merchant's": (
        "UPDATE webhooks_event SET account_id = NULL WHERE account_id IS NOT NULL",
        "events_told",
    ),
    "an event is told twice": (
        (
            "UPDATE payments_paymentevent SET event_type = 'payment_intent.failed' WHERE sequence"
            f" = {LAST_EVENT}"
        ),
        "events_told",
    ),
    "a delivery is deleted": ("DELETE FROM webhooks_delivery", "events_told"),
    "an event tells another price": (
        (
            "UPDATE webhooks_event SET object = object || '{{\"settlement_amount_cents\": 1}}'"
            " WHERE type = 'payment_intent.completed'"
        ),
        "events_true",
    ),
    "an event tells of other coins": (
        (
            "UPDATE webhooks_event SET object = jsonb_set(object, '{{transaction,amount_atomic}}',"
            " '\"1\"') WHERE type = 'transaction.confirmed'"
        ),
        "events_true",
    ),
    "a delivery leaves the queue before its end": (
        "DELETE FROM webhooks_queueddelivery",
        "deliveries_queued",
    ),
    "a delivery that has ended is in the queue": (
        "UPDATE webhooks_delivery SET status = 'ignored'",
        "deliveries_queued",
    ),
    "a delivery that nobody answered is said to have arrived": (
        "UPDATE webhooks_delivery SET status = 'delivered', delivered_at = now()",
        "deliveries_made",
    ),
}


def tamper(statements: str) -> None:
    """Write past every rule of the database, as only somebody with its keys can."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statements)
        cursor.execute("SET LOCAL session_replication_role = origin")


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_the_audit_finds(name: str, world: Cast) -> None:
    """By a run that verifies everything, and by one since a point just before."""
    statements, invariant = CORRUPTIONS[name]
    point = point_here()
    with transaction.atomic():
        tamper(statements.format(store=world.bakery.store.pk))

    assert found_of(invariant)
    assert bool(found_since(point, invariant)) == (name not in WHOLE_ONLY)


def test_every_invariant_has_a_corruption_that_breaks_it() -> None:
    assert {invariant for _, invariant in CORRUPTIONS.values()} == {
        invariant.name for invariant in LEDGER + PAYMENTS + TOLD + BOOKINGS + MERCHANTS
    }


def test_a_payment_that_took_what_is_held_for_another_is_found(world: Cast) -> None:
    settled = "(SELECT id FROM ledger_movement WHERE kind = 'payment_settled' ORDER BY id LIMIT 1)"
    other = "(SELECT id FROM payments_payment WHERE status = 'expired' LIMIT 1)"
    tamper(f"UPDATE ledger_movement SET reference = {other} WHERE id = {settled}")

    assert found_of("held_for_its_payment")


def test_coins_held_for_nobody_are_found(world: Cast) -> None:
    tamper("UPDATE ledger_movement SET reference = NULL WHERE kind = 'deposit_confirmed'")

    assert found_of("held_for_its_payment")
