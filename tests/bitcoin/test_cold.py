"""Litecoin above its float goes to cold storage, to a new address of the operator's key each time,
and the books know where it is."""

from contextlib import closing
from typing import Any

import pytest

from apps.audit import custody
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.networks.bitcoin.accounts import read_account
from apps.chain.networks.bitcoin.parameters import LITECOIN_REGTEST
from apps.chain.nodes import nodes_of
from apps.chain.sending import cold_storage
from apps.core import clock
from apps.ledger.chart import (
    CUSTODY_COLD,
    CUSTODY_DEPOSITS,
    CUSTODY_HOT,
    NETWORK_FEES,
    TREASURY,
)
from apps.payments.services import treasury
from apps.payments.services.cold import book_cold, move_to_cold
from apps.stores.services import create_user
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_own_wallet import vpub
from tests.bitcoin.test_paying import CHAIN, Reading
from tests.bitcoin.test_sending import apart, findings, held_in, paid_in, reading, rounds

__all__ = ["reading"]
pytestmark = pytest.mark.litecoin
COIN = 10**8


def moved(litecoin: Litecoin, reading: Reading) -> OutgoingTransaction:
    move_to_cold()
    rounds(litecoin, reading)
    book_cold()
    return OutgoingTransaction.objects.filter(purpose="cold").latest("requested_at")


def test_what_is_above_the_float_moves_to_the_next_address_and_is_booked(
    litecoin: Litecoin, reading: Reading, settings: Any
) -> None:
    settings.COLD_FLOATS = {"TLTC": "1:2"}
    settings.COLD_ADDRESSES = {"TLTC": vpub()}
    assert cold_storage.problems() == []
    left = apart()
    brought = [paid_in(litecoin, reading) for _ in range(3)]
    account = read_account(vpub(), LITECOIN_REGTEST)
    first = moved(litecoin, reading)
    assert (first.status, first.to_address) == ("confirmed", account.address(0))
    assert first.amount_atomic == sum(brought) - COIN == held_in(CUSTODY_COLD)
    here = held_in(CUSTODY_HOT) + held_in(CUSTODY_DEPOSITS)
    assert here == COIN - first.network_fee_atomic
    assert (findings(), apart()) == ([], left)
    assert [told.detail for told in custody.compare_cold(custody.booked())] == [""]
    for _ in range(2):
        paid_in(litecoin, reading)
    second = moved(litecoin, reading)
    assert (second.status, second.to_address) == ("confirmed", account.address(1))
    assert held_in(CUSTODY_COLD) == first.amount_atomic + second.amount_atomic


def test_what_comes_back_from_cold_storage_is_no_new_float(
    litecoin: Litecoin, reading: Reading, settings: Any
) -> None:
    """The coins that it takes tell where they were; their fee is paid out of cold storage."""
    cold = litecoin.wallet_without_private_coins("cold")
    settings.COLD_FLOATS = {"TLTC": "1:2"}
    settings.COLD_ADDRESSES = {"TLTC": cold("getnewaddress", "", "bech32")}
    for _ in range(3):
        paid_in(litecoin, reading)
    there = moved(litecoin, reading).amount_atomic
    wallet = HotWallet.objects.get(chain=CHAIN)
    [coin] = [each for each in cold("listunspent") if round(each["amount"] * COIN) == there]
    fee = 5_000
    back = cold("signrawtransactionwithwallet", cold(
        "createrawtransaction",
        [{"txid": coin["txid"], "vout": coin["vout"]}],
        [{wallet.address: f"{(there - fee) / COIN:.8f}"}],
    ))["hex"]  # fmt: skip
    tx_hash = litecoin.send(back)
    stranger = litecoin.pay(wallet.address, "0.5")
    litecoin.mine(3)
    reading.read()
    float_before, fees_before = held_in(TREASURY), held_in(NETWORK_FEES)
    staff = create_user("sam@example.com", "pw-0123456789", name="Sam", is_staff=True)
    with closing(nodes_of(wallet.chain)) as nodes:
        for each in (tx_hash, stranger):
            treasury.book_funding(wallet, each, nodes, staff, clock.real_now())
    assert held_in(CUSTODY_COLD) == 0
    assert held_in(TREASURY) - float_before == -COIN // 2
    assert held_in(NETWORK_FEES) - fees_before == fee
    assert custody.compare_cold(custody.booked()) == [] == findings()


def test_an_address_or_a_key_of_another_network_is_told_before_the_signer_starts(
    reading: Reading, settings: Any
) -> None:
    settings.COLD_FLOATS = {"TLTC": "1"}
    for place in ("ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9", f"0x{'12' * 20}", "xprv9s21"):
        settings.COLD_ADDRESSES = {"TLTC": place}
        [problem] = cold_storage.problems()
        assert "no address on" in problem and place not in problem
    settings.COLD_ADDRESSES = {"TLTC": read_account(vpub(), LITECOIN_REGTEST).address(7)}
    assert cold_storage.problems() == []
    assert cold_storage.address("TLTC", 3) == settings.COLD_ADDRESSES["TLTC"]
