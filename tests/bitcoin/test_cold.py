"""Litecoin above its float goes to cold storage, to a new address of the operator's key each time,
and the books know where it is."""

from typing import Any

import pytest

from apps.audit import custody
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.bitcoin.accounts import read_account
from apps.chain.networks.bitcoin.parameters import LITECOIN_REGTEST
from apps.chain.sending import cold_storage
from apps.ledger.chart import CUSTODY_COLD, CUSTODY_DEPOSITS, CUSTODY_HOT
from apps.payments.services.cold import book_cold, move_to_cold
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_own_wallet import vpub
from tests.bitcoin.test_paying import Reading
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
