"""Rows that an attacker writes as the web's role: no deposit of a chain, and nothing that the
signer believes."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.db.utils import DEFAULT_DB_ALIAS

from apps.audit.grants import WEB, WORKER
from apps.chain.models import Address, Block, Deposit, Head, OutgoingTransaction
from apps.core import clock
from apps.core.db import tenancy
from apps.core.db.postgresql.base import DatabaseWrapper
from apps.core.ids import new_id
from apps.ledger import movements
from apps.payments.models import Payment, PaymentAddress, Refund
from apps.payments.services.settle import settle_deposits
from apps.payouts.models import Payout
from tests import make
from tests.cast import Shop
from tests.chain.test_live_costs import (
    ETHER,
    Live,
    cast,
    everybody,
    live,
    local,
    paid_with,
)
from tests.roles import acting_as

__all__ = ["cast", "everybody", "live", "local"]
FORGED = """
INSERT INTO chain_deposit (id, chain_id, asset_id, address_id, tx_hash, log_index, from_address,
    amount_atomic, block_number, block_hash, mined_at, status, handled_status,
    required_confirmations, detected_at, confirmed_at, is_lost, is_simulated,
    simulated_confirmations)
VALUES (%(id)s, %(chain)s, %(asset)s, %(address)s, %(tx_hash)s, -1, %(thief)s, %(amount)s,
    %(number)s, %(hash)s, now(), %(status)s, '', 1, now(), now(), false, %(is_simulated)s, 0)
"""


def forged(mode: str, chain_id: str, asset_id: str, **fields: Any) -> dict[str, Any]:
    """The columns of a deposit that nobody has made, at an address that is there."""
    address = f"0x{new_id().hex:0>40}"
    Address.objects.create(
        address=address, mode=mode, index=int(address[-12:], 16), created_at=clock.real_now()
    )
    return {
        "id": new_id(),
        "chain": chain_id,
        "asset": asset_id,
        "address": address,
        "tx_hash": f"0x{new_id().hex:0>64}",
        "thief": make.fresh_address(),
        "amount": 400 * ETHER,
        "number": 1,
        "hash": f"0x{'7' * 64}",
        "status": "confirmed",
        "is_simulated": False,
        **fields,
    }


def refused(statement: str, values: Any = None, *, of: str = "permission denied") -> None:
    with (
        acting_as(WEB),
        tenancy.everyone("what a policy hides would be refused by it alone"),
        pytest.raises(DatabaseError, match=of),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)


def allowed(statement: str, values: Any = None) -> None:
    with (
        acting_as(WEB),
        tenancy.everyone("what a policy hides would be refused by it alone"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)


@pytest.mark.parametrize("status", ["confirming", "confirmed", "unmatched", "failed"])
@pytest.mark.parametrize("is_simulated", [False, True])
def test_web_makes_no_live_deposit(db: None, status: str, is_simulated: bool) -> None:
    refused(FORGED, forged("live", "ethereum", "ETH", status=status, is_simulated=is_simulated))


def test_web_makes_simulated_deposits_in_test_mode_alone(db: None) -> None:
    refused(FORGED, forged("test", "sepolia", "SETH"))
    refused(FORGED, forged("test", "ethereum", "ETH", is_simulated=True))
    refused(FORGED, forged("live", "sepolia", "SETH", is_simulated=True))
    refused(FORGED, forged("test", "sepolia", "ETH", is_simulated=True))
    allowed(FORGED, forged("test", "sepolia", "SETH", is_simulated=True))


def test_a_connection_of_the_web_itself_makes_none_either(db: None) -> None:
    """A connection that has signed in as the web, and didn't set a role: as in production."""
    wrapper = DatabaseWrapper(
        {**connections[DEFAULT_DB_ALIAS].settings_dict, "USER": WEB}, DEFAULT_DB_ALIAS
    )
    values = {**forged("live", "ethereum", "ETH"), "address": "0x" + "5" * 40}
    try:
        with wrapper.cursor() as cursor:
            cursor.execute("SELECT session_user::text, current_setting('role')")
            assert cursor.fetchone() == (WEB, "none")
            with pytest.raises(DatabaseError, match="permission denied for deposit"):
                cursor.execute(FORGED, values)
    finally:
        wrapper.close()


def deposit_in_a_block(status: str, **fields: Any) -> Deposit:
    """As the watcher has written it, ten blocks deep."""
    values = forged("live", "ethereum", "ETH", amount=ETHER, status=status, **fields)
    now = clock.real_now()
    Block.objects.create(
        chain_id="ethereum",
        number=10**9,
        hash=values["hash"],
        parent_hash=f"0x{'8' * 64}",
        mined_at=now,
        scanned_at=now,
    )
    Head.objects.update_or_create(
        chain_id="ethereum",
        defaults={
            "number": 10**9 + 10,
            "hash": f"0x{'9' * 64}",
            "block_time": now,
            "synced_at": now,
        },
    )
    with connection.cursor() as cursor:
        cursor.execute(FORGED, {**values, "number": 10**9})
    return Deposit.objects.get(pk=values["id"])


@pytest.mark.parametrize(
    "change",
    [
        "amount_atomic = amount_atomic * 400",
        "from_address = '0x1111111111111111111111111111111111111111'",
        "address_id = (SELECT max(address) FROM chain_address a WHERE a.address <> address_id)",
        "asset_id = 'ETH_USDC'",
        "is_simulated = true",
        "status = 'confirmed'",
        "required_confirmations = 0",
        "block_hash = '0x00', block_number = 1",
        "handled_status = 'confirmed'",
        "is_lost = false, left_atomic = 1",
        "detected_at = now() + interval '1 day'",
    ],
)
def test_web_changes_nothing_that_a_chain_has_brought(db: None, change: str) -> None:
    deposit = deposit_in_a_block("confirming")
    forged("live", "ethereum", "ETH")  # another address
    refused(f"UPDATE chain_deposit SET {change} WHERE id = %s", [deposit.pk])


def test_web_takes_what_was_set_aside_once_it_is_final(db: None) -> None:
    deposit = deposit_in_a_block("unmatched")
    confirm = (
        "UPDATE chain_deposit SET status = 'confirmed', handled_status = 'confirmed' WHERE id = %s"
    )
    Block.objects.update(is_canonical=False)
    refused(confirm, [deposit.pk])
    Block.objects.update(is_canonical=True)
    Head.objects.update(number=10**9 - 1)
    refused(confirm, [deposit.pk])
    Head.objects.update(number=10**9)
    allowed(confirm, [deposit.pk])
    refused("UPDATE chain_deposit SET status = 'unmatched' WHERE id = %s", [deposit.pk])


PAYER = """
INSERT INTO chain_payer (chain_id, address, kind, tx_hash, checked_at)
VALUES ('ethereum', %s, %s, %s, now())
"""


def test_web_says_of_nobody_that_has_not_paid_that_he_has_a_key(db: None) -> None:
    thief = make.fresh_address()
    deposit = deposit_in_a_block("confirmed")
    refused(PAYER, [thief, "account", deposit.tx_hash])
    refused(PAYER, [deposit.from_address, "account", f"0x{'6' * 64}"])
    allowed(PAYER, [deposit.from_address, "contract", deposit.tx_hash])
    refused("UPDATE chain_payer SET kind = 'account' WHERE address = %s", [deposit.from_address])


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO chain_block (chain_id, number, hash, parent_hash, mined_at, scanned_at)"
        " VALUES ('ethereum', 1, '0x1', '0x0', now(), now())",
        "UPDATE chain_block SET is_canonical = true",
        "UPDATE chain_head SET number = number + 1000",
        "INSERT INTO chain_addresslook (address_id, chain_id, block_number, looked_until)"
        " VALUES ('0x1', 'ethereum', 1, now())",
        "UPDATE chain_addresslook SET looked_until = now()",
        "INSERT INTO chain_balancecheck (chain_id) VALUES ('ethereum')",
        "UPDATE chain_unexplainedbalance SET amount_atomic = 1",
        "INSERT INTO chain_unmatchedtransfer (chain_id) VALUES ('ethereum')",
        "UPDATE chain_unmatchedtransfer SET amount_atomic = 1",
        "UPDATE chain_unmatchedtransfer SET store_id = NULL",
    ],
)
def test_web_writes_nothing_that_the_watcher_reads_from_a_chain(db: None, statement: str) -> None:
    refused(statement)


# --- the signer, if somebody has written the rows all the same ---


def balance(live: Live, address: str) -> int:
    return int(live.local.call("eth_getBalance", address, "latest"), 16)


def forge(shop: Shop, amount_atomic: int, thief: str) -> Payment:
    """A confirmed deposit of the thief's in no block, which a worker has settled."""
    payment = make.payment(shop.live, amount="20.00")
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset_id="ETH")
    values = forged("live", "ethereum", "ETH", amount=amount_atomic, thief=thief)
    with connection.cursor() as cursor:
        cursor.execute(FORGED, {**values, "address": entry.address_id})
    settle_deposits()
    return Payment.objects.get(pk=payment["id"])


@pytest.mark.chain
def test_a_refund_of_a_deposit_in_no_block_is_not_signed(
    live: Live, bakery: Shop, settings: Any
) -> None:
    settings.SIGNER_CAPS = ["ETH=1:2"]
    live.give(bakery, 20)
    live.cost_gas(1)
    thief = make.fresh_address()
    payment = forge(bakery, 5 * ETHER, thief)
    assert payment.status == "completed"
    body = {"refund": {"destination_address": thief}}
    assert bakery.live.post(f"/payments/{payment.pk}/refunds", body, key="x").status_code == 201
    live.work()
    sent = OutgoingTransaction.objects.get(purpose="refund")
    assert (sent.status, sent.reason_code, sent.goes_back) == ("review", "above_paid", False)
    assert balance(live, thief) == 0


@pytest.mark.chain
def test_deposits_in_no_block_raise_no_cap(live: Live, bakery: Shop, settings: Any) -> None:
    settings.SIGNER_CAPS = ["ETH=2:2"]
    live.give(bakery, 20)
    live.cost_gas(1)
    forge(bakery, 10 * ETHER, make.fresh_address())
    payouts = [make.payout(bakery.live, ETHER, asset_id="ETH")["id"] for _ in range(4)]
    live.work()
    states = dict(Payout.objects.values_list("id", "status"))
    assert sorted(states[key] for key in states if str(key) in payouts) == [
        "confirmed",
        "confirmed",
        "requires_review",
        "requires_review",
    ]


@pytest.mark.chain
def test_refunds_of_a_payment_are_never_more_than_it_has_brought(
    live: Live, bakery: Shop, settings: Any
) -> None:
    """Rows that say otherwise are signed as far as the payment's deposits reach."""
    settings.SIGNER_CAPS = ["ETH=5:50"]
    live.give(bakery, 20)
    live.cost_gas(1)
    paid = paid_with(live, bakery, ETHER // 100)
    live.work()
    payment = Payment.objects.get(pk=paid)
    brought = Deposit.objects.get(status="confirmed", is_simulated=False).amount_atomic
    thief = make.fresh_address()
    with acting_as(WORKER):
        for part, amount in enumerate((brought // 2, brought // 2 + 2, brought // 4)):
            another_refund(payment, amount, thief, part)
    live.work()
    live.work()
    sent = OutgoingTransaction.objects.filter(purpose="refund").order_by("requested_at", "id")
    assert sum(row.amount_atomic for row in sent if row.status == "confirmed") <= brought
    assert {row.reason_code for row in sent if row.status == "review"} == {"above_paid"}
    assert balance(live, thief) <= brought


def another_refund(payment: Payment, amount_atomic: int, to: str, part: int) -> None:
    at = clock.real_now()
    refund = Refund.objects.create(
        store_id=payment.store_id,
        mode="live",
        created_at=at + timedelta(milliseconds=part),
        updated_at=at,
        payment=payment,
        asset_id="ETH",
        reason=Refund.Reason.MERCHANT_REQUESTED,
        destination_address=to,
        amount_atomic=amount_atomic,
        is_from_held=False,
        is_simulated=False,
        part=part,
    )
    movements.refund_created(
        store_id=payment.store_id,
        mode="live",
        asset_id="ETH",
        payment_id=payment.pk,
        refund_id=refund.pk,
        amount_atomic=amount_atomic,
        is_from_held=False,
        at=at,
    )
