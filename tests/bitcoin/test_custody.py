"""`verify_ledger --chain` with coins: what the books say we hold is what a real node counts."""

import pytest

from apps.audit import verify
from apps.audit.custody import NAME
from apps.chain.models import Address
from apps.core import clock
from tests import make
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import Reading, entry, payment, reading
from tests.bitcoin.wallet import OurWallet

__all__ = ["payment", "reading"]
pytestmark = pytest.mark.litecoin


def differences() -> list[str]:
    verdict = verify.verdicts(check_chain=True)[-1]
    assert verdict.name == NAME and verdict.counted >= 1
    return [finding.detail for finding in verdict.findings]


def test_coins_are_there_while_they_wait_when_they_count_and_out_of_the_private_part(
    litecoin: Litecoin, reading: Reading
) -> None:
    ways = [entry(make.payment(reading.shop.test)) for _ in range(2)]
    litecoin.pay(ways[0]["address"], ways[0]["crypto_amount"])
    litecoin.from_private(ways[1]["address"], ways[1]["crypto_amount"])
    reading.read()
    assert differences() == []
    for _ in range(4):
        litecoin.mine()
        reading.read()
        assert differences() == []


def test_coins_that_the_books_do_not_have_are_shown_with_their_address(
    litecoin: Litecoin, reading: Reading
) -> None:
    address = OurWallet(77).change
    litecoin.pay(address, "0.5")
    litecoin.mine(3)
    reading.read()
    assert differences() == []
    # One of ours that nobody has watched.
    Address.objects.create(address=address, mode="test", index=2**30, created_at=clock.real_now())
    [told] = differences()
    assert address in told and "+50000000" in told
