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

from apps.audit import kept, verify
from apps.audit.invariants import INVARIANTS, LEDGER, MERCHANTS, PAYMENTS
from apps.audit.models import VerifiedPoint
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
from tests.console.corruptions import CORRUPTIONS
from tests.stage import standing

DESTINATION = "0x1111111111111111111111111111111111111111"


def refund(shop: Shop, payment: dict[str, Any], amount: str, key: str) -> str:
    body = {"refund": {"amount": amount, "destination_address": DESTINATION}}
    answer = shop.test.post(f"/payments/{payment['id']}/refunds", body, key=key)
    assert answer.status_code in (200, 201), answer.content
    return str(answer.json()[0]["id"])


def trade() -> Cast:
    """A day of trade: sales with a platform's share, too little, too late, refunds done and under
    way, coins sent, events delivered."""
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
    """A day of sending: two transfers of the hot wallet, mined and dealt with."""
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
    names = [invariant.name for invariant in INVARIANTS]
    assert [line.split()[0] for line in lines[:-2]] == [*names, kept.NAME]
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


def tamper(statements: str) -> None:
    """Write past every rule of the database, as only somebody with its keys can."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statements)
        cursor.execute("SET LOCAL session_replication_role = origin")


@pytest.fixture(scope="module")
def point(day: Cast, django_db_blocker: Any) -> VerifiedPoint:
    """A verified point; changes are made after it."""
    with django_db_blocker.unblock():
        return point_here()


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_the_audit_finds(name: str, point: VerifiedPoint, world: Cast) -> None:
    """By a run that verifies everything, and by one since a point just before."""
    statements, invariant = CORRUPTIONS[name]
    with transaction.atomic():
        tamper(statements.format(store=world.bakery.store.pk))

    assert found_of(invariant)
    assert found_since(point, invariant)


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
