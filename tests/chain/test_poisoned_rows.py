"""Rows that web's or the workers' role writes so that the watcher stumbles over them: it reads on,
and nobody else's coins wait or get lost."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.grants import WATCHER, WEB, WORKER
from apps.chain.models import (
    Address,
    AddressLook,
    AddressToLook,
    BlockToRead,
    Deposit,
    UnexplainedBalance,
)
from apps.chain.watching import address_looks
from apps.core import clock
from apps.core.db import tenancy
from apps.core.db.locks import LockKind
from apps.core.models import Lease
from tests import make
from tests.chain.conftest import Reader, make_address
from tests.chain.local import LocalChain
from tests.roles import acting_as

pytestmark = pytest.mark.chain
LISTED = """
INSERT INTO chain_address (address, mode, index, purpose, created_at)
VALUES (%s, %s, %s, 'deposit', now())
"""


def written(statement: str, *values: Any, role: str = WEB) -> None:
    with (
        acting_as(role),
        tenancy.everyone("an attack"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)


@pytest.mark.parametrize(
    ("mode", "index"),
    [("test", -1), ("test", 2**31), ("test", 2**40), ("none", 1)],
)
def test_an_address_that_no_key_can_have_stops_no_block(
    chain: LocalChain, watcher: Reader, address: str, mode: str, index: int
) -> None:
    of_nobody = make.fresh_address()
    written(LISTED, of_nobody, mode, index)
    watcher.read()
    chain.pay(of_nobody, 1)
    chain.pay(address, 10**15)
    watcher.read()
    assert list(Deposit.objects.values_list("address_id", flat=True)) == [address]


def test_who_is_listed_as_ours_has_paid_all_the_same(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    """An exchange's wallet, from which many customers pay."""
    written(LISTED, chain.accounts[3].lower(), "test", 10**6)
    watcher.read()
    chain.pay(address, 10**15, sender=3)
    watcher.read()
    assert Deposit.objects.get().from_address == chain.accounts[3].lower()


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "20000-01-01"])
def test_a_time_that_nobody_can_read_stops_no_look_at_balances(
    chain: LocalChain, watcher: Reader, settings: Any, moment: str
) -> None:
    settings.CHAIN_BALANCE_CHECK_BLOCKS = 1
    until = clock.real_now() + timedelta(hours=1)
    first, second = (make_address("test", "sepolia", until) for _ in range(2))
    written("UPDATE chain_address SET watch_balance_until = %s WHERE address = %s", moment, first)
    watcher.read()
    chain.call("anvil_setBalance", second, hex(10**15))
    chain.mine()
    watcher.read()
    assert UnexplainedBalance.objects.get().address_id == second


@pytest.mark.parametrize("role", [WEB, WORKER])
@pytest.mark.parametrize("moment", ["infinity", "-infinity", "20000-01-01"])
def test_a_time_that_nobody_can_read_stops_no_block_that_is_read_again(
    chain: LocalChain, watcher: Reader, role: str, moment: str
) -> None:
    watcher.read()
    chain.mine(3)
    watcher.read()
    asked = (
        "INSERT INTO chain_blocktoread (chain_id, number, asked_at, tried_at)"
        " VALUES ('sepolia', %s, %s, %s)"
    )
    written(asked, chain.height, moment, "2026-01-01", role=role)
    written(asked, chain.height - 1, clock.real_now(), moment, role=role)
    written(asked, chain.height - 2, clock.real_now(), clock.real_now(), role=role)
    watcher.read()
    assert not BlockToRead.objects.exists()


@pytest.mark.parametrize("moment", ["now", "infinity"])
def test_an_address_asked_for_by_another_chains_asset_stops_no_look(
    chain: LocalChain, watcher: Reader, moment: str
) -> None:
    addresses = [make_address() for _ in range(12)]
    watcher.read()
    for address in addresses[1:]:
        written(
            "INSERT INTO chain_addresstolook (address_id, chain_id, asset_id, asked_at)"
            " VALUES (%s, 'sepolia', 'USDC_SETH', %s)",
            address,
            moment,
            role=WORKER,
        )
    AddressToLook.objects.update(asset="ETH")
    address_looks.ask("sepolia", {addresses[0]: "SETH"})
    with acting_as(WATCHER):
        address_looks.look_asked("sepolia")
    assert not AddressToLook.objects.exists()
    assert list(AddressLook.objects.values_list("address_id", flat=True)) == [addresses[0]]
    assert Address.objects.count() == len(addresses)


def held() -> None:
    """The turn of a network's watcher."""
    values = {"holder": uuid.uuid4(), "until": clock.real_now() + timedelta(minutes=1)}
    Lease.objects.update_or_create(turn=LockKind.CHAIN_WATCHER, key="base", defaults=values)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE assets_asset SET min_withdrawal_atomic = 'NaN'",
        "UPDATE assets_asset SET min_withdrawal_atomic = -1",
        "INSERT INTO core_lease (turn, key, holder, until)"
        " VALUES (11, 'sepolia', gen_random_uuid(), 'infinity')",
        "DELETE FROM core_lease",
        "UPDATE core_lease SET until = 'infinity'",
        "INSERT INTO core_lease (turn, key, holder, until)"
        " VALUES (8, 'sepolia', gen_random_uuid(), 'infinity')",
    ],
)
def test_web_writes_nothing_that_every_process_waits_for(db: None, statement: str) -> None:
    """An asset that none can read, and the turn of the watcher."""
    held()
    with pytest.raises(DatabaseError, match=r"asset_minimum_is_a_number|permission denied"):
        written(statement)


def test_the_turn_of_a_network_is_the_watchers_alone(db: None) -> None:
    for take in (
        "INSERT INTO core_lease (turn, key, holder, until)"
        " VALUES (11, 'sepolia', gen_random_uuid(), 'infinity')",
        "DELETE FROM core_lease WHERE turn = 11",
    ):
        held()
        with pytest.raises(DatabaseError, match="permission denied for turns"):
            written(take, role=WORKER)
    written("DELETE FROM core_lease WHERE turn = 11", role=WATCHER)
