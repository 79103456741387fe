"""Coins in another coin than their address is for, on a real chain: shown from the first block on,
accepted by the merchant, and shown as open again when a reorg takes them."""

from typing import Any

import pytest

from apps.chain.models import Deposit, UnmatchedTransfer
from apps.core import clock
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services import unexpected
from apps.payments.services.settle import settle_deposits
from apps.payments.services.transfers import accept_transfer
from tests import auditing, make
from tests.cast import Cast
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.test_unknown_payers import address_of, token
from tests.payments.test_late_money import owner, told

__all__ = ["token"]
pytestmark = pytest.mark.chain


def read(watcher: Reader) -> None:
    watcher.read()
    settle_deposits()
    unexpected.confirm_set_aside()


def sent_to_the_other_address(chain: LocalChain, token: str, made: dict[str, Any]) -> str:
    """Send the amount of the token's address to the address of ether; its transaction's hash."""
    rows = PaymentAddress.objects.filter(payment_id=made["id"], asset_id="USDC_SETH")
    amount = rows.get().required_atomic
    chain.mint(token, chain.accounts[0], amount)
    return chain.transfer(token, address_of(made, "SETH"), amount)


def test_accepted_on_an_open_payment_it_completes_it(
    chain: LocalChain,
    watcher: Reader,
    cast: Cast,
    token: str,
) -> None:
    made = make.payment(cast.bakery.test)
    chain.mine_after(clock.real_now())
    sent_to_the_other_address(chain, token, made)
    read(watcher)
    [seen] = make.detail(cast.bakery.test, made["id"])["transactions"]
    assert (seen["status"], seen["unexpected_asset"], seen["undecided"]) == (
        "confirming",
        True,
        True,
    )
    chain.mine(12)
    read(watcher)
    accept_transfer(owner(cast), str(UnmatchedTransfer.objects.get().pk), made["reference"])
    after = make.detail(cast.bakery.test, made["id"])
    assert (after["status"], after["amount_paid"]) == ("completed", "10.00")
    assert [kind for kind, *_ in told(made["id"])] == ["confirming", "confirmed", "confirmed"]
    chain.mine()
    read(watcher)
    assert auditing.breaches(check_chain=True) == []


def test_a_reorg_takes_it_and_brings_it_back(
    chain: LocalChain,
    watcher: Reader,
    cast: Cast,
    token: str,
) -> None:
    made = make.payment(cast.bakery.test)
    chain.mine_after(clock.real_now())
    tx_hash = sent_to_the_other_address(chain, token, made)
    read(watcher)
    raw = chain.raw(tx_hash)
    chain.reorg(1)
    chain.mine()
    read(watcher)
    [gone] = make.detail(cast.bakery.test, made["id"])["transactions"]
    assert (gone["status"], gone["undecided"]) == ("failed", False)
    assert [kind for kind, *_ in told(made["id"])] == ["confirming", "failed"]
    assert Payment.objects.get(pk=made["id"]).status == "pending"

    if chain.call("eth_getTransactionReceipt", tx_hash) is None:
        chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(12)
    read(watcher)
    [back] = make.detail(cast.bakery.test, made["id"])["transactions"]
    assert (back["status"], back["undecided"]) == ("confirmed", True)
    assert Deposit.objects.count() == UnmatchedTransfer.objects.count() == 1
    accept_transfer(owner(cast), str(UnmatchedTransfer.objects.get().pk), made["reference"])
    assert make.detail(cast.bakery.test, made["id"])["status"] == "completed"
    chain.mine()
    read(watcher)
    assert auditing.breaches(check_chain=True) == []
