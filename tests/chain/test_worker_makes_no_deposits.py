"""Rows that an attacker writes as the worker's role: no deposit of a chain and no block. A worker
asks the watcher to check or read again."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import structlog
import time_machine
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from apps.audit.grants import SIGNER, WATCHER, WEB, WORKER
from apps.chain.models import AddressLook, AddressToLook, BlockToRead, Deposit
from apps.chain.watching import address_looks
from apps.core import clock
from apps.core.db import tenancy
from apps.core.ids import new_id
from apps.ledger.chart import AVAILABLE, TREASURY
from apps.ledger.posting import EntryLine, Posting, post
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.expire import expire_due
from apps.payments.services.settle import settle_deposits
from apps.payouts.models import Payout
from tests import make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import FORWARDER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_again import missed
from tests.chain.test_deposits import CONTRACT
from tests.chain.test_live_costs import ETHER, Live, cast, everybody, live, local
from tests.chain.test_looks import Deadline, deadline
from tests.chain.test_signer_believes_nobody import (
    FORGED,
    deposit_in_a_block,
    forged,
)
from tests.roles import acting_as

__all__ = ["cast", "deadline", "everybody", "live", "local", "missed"]


def refused(statement: str, values: Any = None, *, role: str = WORKER) -> None:
    denied = pytest.raises(DatabaseError, match=r"permission denied|what it is stays")
    with acting_as(role), denied, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def allowed(statement: str, values: Any = None, *, role: str = WORKER) -> int:
    with acting_as(role), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


@pytest.mark.parametrize("status", ["confirming", "confirmed", "unmatched", "failed"])
@pytest.mark.parametrize("is_simulated", [False, True])
def test_a_worker_makes_no_live_deposit(db: None, status: str, is_simulated: bool) -> None:
    values = forged("live", "ethereum", "ETH", status=status, is_simulated=is_simulated)
    refused(FORGED, values)
    refused(FORGED, values, role=SIGNER)


def test_it_simulates_in_test_mode_alone(db: None) -> None:
    refused(FORGED, forged("test", "sepolia", "SETH"))
    refused(FORGED, forged("live", "sepolia", "SETH", is_simulated=True))
    assert allowed(FORGED, forged("test", "sepolia", "SETH", is_simulated=True)) == 1


def test_the_watchers_role_writes_what_a_chain_has_brought(db: None) -> None:
    assert allowed(FORGED, forged("live", "ethereum", "ETH"), role=WATCHER) == 1


CHANGES = {
    "amount_atomic": "amount_atomic * 2",
    "from_address": "'0x5555555555555555555555555555555555555555'",
    "asset_id": "'ETH_USDC'",
    "block_number": "block_number + 1",
    "block_hash": "'0x77'",
    "tx_hash": "'0x77'",
    "required_confirmations": "0",
    "status": "'failed'",
    "is_lost": "true",
    "is_simulated": "true",
    "detected_at": "detected_at + interval '1 day'",
    "mined_at": "mined_at - interval '1 day'",
}


@pytest.mark.parametrize("column", CHANGES)
def test_a_worker_changes_nothing_that_the_chain_says_of_one(db: None, column: str) -> None:
    deposit = deposit_in_a_block("confirmed")
    refused(f"UPDATE chain_deposit SET {column} = {CHANGES[column]} WHERE id = %s", [deposit.pk])


def test_it_says_what_has_become_of_one(db: None) -> None:
    deposit = deposit_in_a_block("confirmed")
    for values in (
        "handled_status = 'confirmed'",
        "is_unswept = false, left_atomic = 7",
        "is_unswept = true",
    ):
        assert allowed(f"UPDATE chain_deposit SET {values} WHERE id = %s", [deposit.pk]) == 1
    refused("UPDATE chain_deposit SET is_unswept = false WHERE id = %s", [deposit.pk], role=WEB)


@pytest.mark.parametrize(
    "number", ["block_number + 1000000", "block_number"], ids=["too young", "orphaned"]
)
def test_what_was_set_aside_confirms_in_a_block_that_stands(db: None, number: str) -> None:
    deposit = deposit_in_a_block("unmatched")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE chain_block SET is_canonical = %s WHERE hash = %s",
            [number != "block_number", deposit.block_hash],
        )
        cursor.execute(
            f"UPDATE chain_deposit SET block_number = {number} WHERE id = %s", [deposit.pk]
        )
    confirm = "UPDATE chain_deposit SET status = 'confirmed' WHERE id = %s"
    refused(confirm, [deposit.pk])


# --- whose an address is ---


@pytest.mark.chain
@pytest.mark.parametrize("role", [WEB, WORKER])
@pytest.mark.parametrize("way", ["transfer", "contract"])
def test_coins_at_an_address_of_ones_own_are_nobodys(
    chain: LocalChain, watcher: Reader, bakery: Shop, role: str, way: str, settings: Any
) -> None:
    """Written down as an address of ours, for a payment of one's own: the coins never left their
    sender. They would be credited, and refunded without a cap."""
    settings.CHAIN_BALANCE_CHECK_BLOCKS = 1
    payment = make.payment(bakery.test)
    own = make.fresh_address()
    with acting_as(role), tenancy.everyone("an attack"), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO chain_address (address, mode, index, purpose, created_at,"
            " native_chain_id, watch_balance_until)"
            " VALUES (%s, 'test', 1234567, 'deposit', now(), 'sepolia', now() + interval '1 day')",
            [own],
        )
    PaymentAddress.objects.filter(payment_id=payment["id"], asset_id="SETH").update(address_id=own)
    with structlog.testing.capture_logs() as lines:
        if way == "transfer":
            chain.pay(own, 400 * ETHER)
        else:
            chain.put(FORWARDER, CONTRACT)
            chain.through(CONTRACT, 400 * ETHER, own)
        chain.mine(12)
        watcher.read()
    settle_deposits()
    assert not Deposit.objects.exists()
    assert Payment.objects.get(pk=payment["id"]).status == "pending"
    assert "address_not_derived" in {line["event"] for line in lines}


# --- what coins are ---

KEPT = {
    "contract_address": "'0x5555555555555555555555555555555555555555'",
    "atomic_decimals": "atomic_decimals - 1",
    "chain_id": "'sepolia'",
}


@pytest.mark.parametrize("column", KEPT)
@pytest.mark.parametrize("role", [WORKER, WATCHER])
def test_an_asset_in_which_coins_have_come_is_never_another(
    db: None, role: str, column: str
) -> None:
    """With a contract of one's own for an hour, tokens of one's own would raise a day's room."""
    change = f"UPDATE assets_asset SET {column} = {KEPT[column]} WHERE id = 'ETH_USDC'"
    if role == WORKER:
        with transaction.atomic():
            assert allowed(change, role=role) == 1
            transaction.set_rollback(True)
    deposit = deposit_in_a_block("confirmed")
    Deposit.objects.filter(pk=deposit.pk).update(asset_id="ETH_USDC")
    refused(change, role=role)


def test_a_command_says_why_a_contract_stays(db: None, capfd: pytest.CaptureFixture[str]) -> None:
    deposit = deposit_in_a_block("confirmed")
    Deposit.objects.filter(pk=deposit.pk).update(asset_id="ETH_USDC")
    arguments = ["ETH_USDC", "--contract", make.fresh_address()]
    with acting_as(WORKER), pytest.raises(SystemExit):
        call_command("set_asset", *arguments, stdout=StringIO())
    assert "so its contract stays" in capfd.readouterr().err
    call_command("set_asset", *arguments, stdout=StringIO())  # as the owner


@pytest.mark.parametrize("change", ["chain_id = 77", "mode = 'test'"])
def test_a_network_whose_blocks_were_read_is_never_another(db: None, change: str) -> None:
    deposit_in_a_block("confirmed")
    refused(f"UPDATE assets_chain SET {change} WHERE id = 'ethereum'")


# --- the room of a day ---


@pytest.mark.chain
def test_swaps_that_a_worker_invents_raise_a_days_room_once(
    live: Live, bakery: Shop, settings: Any
) -> None:
    """No chain tells of them: together they count as much as the configured room."""
    settings.SIGNER_CAPS = ["ETH=2:2"]
    live.give(bakery, 20)
    live.cost_gas(1)
    with acting_as(WORKER), transaction.atomic():
        legs = [
            EntryLine(kind, "ETH", amount, "principal", bakery.store.pk)
            for kind, amount in ((TREASURY, -50 * ETHER), (AVAILABLE, 50 * ETHER))
        ]
        id = new_id()
        at = clock.real_now()
        post(Posting(f"swap-completed:{id}", "swap_completed", "live", id, at, legs))
    payouts = [make.payout(bakery.live, ETHER, asset_id="ETH")["id"] for _ in range(4)]
    live.work()
    states = dict(Payout.objects.values_list("id", "status"))
    assert sorted(states[key] for key in states if str(key) in payouts) == [
        "confirmed",
        "confirmed",
        "requires_review",
        "requires_review",
    ]


# --- requests -------------------------------------------------------------------------------------


@pytest.mark.chain
def test_a_payment_ends_by_the_watchers_look_and_each_with_its_role(
    deadline: Deadline, settings: Any
) -> None:
    settings.WORK_INLINE = False
    deadline.chain.mine_after(deadline.at)
    deadline.watcher.read()
    for _ in range(2):
        with acting_as(WORKER):
            expire_due()
        assert deadline.row.status == "pending"
    asked = AddressToLook.objects.get()
    assert (asked.address_id, asked.asset_id, asked.chain_id) == (
        deadline.address,
        "SETH",
        "sepolia",
    )
    with acting_as(WORKER), pytest.raises(DatabaseError), transaction.atomic():
        address_looks.look_asked.__wrapped__("sepolia")  # type: ignore[attr-defined]
    assert address_looks.look_asked("sepolia")
    assert AddressLook.objects.get().address_id == deadline.address
    assert not AddressToLook.objects.exists()
    with acting_as(WORKER):
        expire_due()
    assert deadline.row.status == "expired"


@pytest.mark.chain
def test_coins_that_the_look_finds_are_on_time(deadline: Deadline, settings: Any) -> None:
    settings.WORK_INLINE = False
    settings.CHAIN_BALANCE_CHECK_BLOCKS = 1_000_000  # by chance the watcher doesn't look there
    deadline.watcher.read()
    deadline.pay_by_contract()
    deadline.chain.mine_after(deadline.at)
    deadline.watcher.read()
    with acting_as(WORKER):
        expire_due()
    assert not Deposit.objects.exists()
    address_looks.look_asked("sepolia")
    with acting_as(WORKER):
        settle_deposits()
    assert deadline.row.status == "processing"


@pytest.mark.chain
def test_while_no_node_answers_what_is_asked_for_waits_for_an_hour(
    proxy: Proxy, deadline: Deadline, settings: Any
) -> None:
    settings.WORK_INLINE = False
    deadline.chain.mine_after(deadline.at)
    deadline.watcher.read()
    expire_due()
    proxy.whole = (500, b"")
    assert not address_looks.look_asked("sepolia")
    assert AddressToLook.objects.exists()
    with time_machine.travel(clock.real_now() + timedelta(hours=2), tick=True):
        address_looks.look_asked("sepolia")
    assert not AddressToLook.objects.exists()


@pytest.mark.chain
def test_a_look_wakes_who_judges(
    deadline: Deadline, settings: Any, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    settings.WORK_INLINE = False
    deadline.chain.mine_after(deadline.at)
    deadline.watcher.read()
    expire_due()
    with django_capture_on_commit_callbacks() as woken:
        address_looks.look_asked("sepolia")
    assert woken
    with django_capture_on_commit_callbacks() as woken:
        address_looks.look_asked("sepolia")
    assert not woken


@pytest.mark.chain
def test_an_operators_commands_as_the_worker_leave_it_to_the_watcher(
    chain: LocalChain, watcher: Reader, missed: tuple[Payment, str, int]
) -> None:
    payment, tx_hash, number = missed
    address = payment.addresses.get(asset_id="USDC_SETH").address_id
    with acting_as(WORKER):
        text = said("--again", "sepolia", number - 1, number + 1)
        assert text == "The watcher reads 3 blocks again, and adds what is missing\n"
        with pytest.raises(CommandError, match="were read"):
            said("--again", "sepolia", number, number + 1000)
        assert "The watcher compares it" in said("--look", address)
    assert not Deposit.objects.exists()
    assert list(BlockToRead.objects.order_by("number").values_list("number", flat=True)) == [
        number - 1,
        number,
        number + 1,
    ]
    assert AddressToLook.objects.get().address_id == address
    chain.mine()
    watcher.read()
    assert Deposit.objects.get().tx_hash == tx_hash
    assert not BlockToRead.objects.exists()


def said(*arguments: object) -> str:
    out = StringIO()
    call_command("watch_chains", *map(str, arguments), stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("role", [WEB, WORKER, SIGNER])
def test_a_watcher_with_another_role_says_so_and_ends(db: None, role: str, settings: Any) -> None:
    settings.METRICS_PORT = 0
    with acting_as(role), pytest.raises(CommandError, match="connects as tillgate_watcher"):
        said("--metrics-port", "0")
