"""`verify_ledger --chain`: what the books say we hold is compared with what the chain says, on a
real chain."""

from typing import Any

import pytest

from apps.audit import verify
from apps.audit.custody import NAME
from apps.chain.models import HotWallet
from apps.payments.services.settle import settle_deposits
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain

pytestmark = pytest.mark.chain


def differences() -> list[str]:
    return [
        f"{finding.subject.split()[0]}{finding.detail[finding.detail.rindex(':') :]}"
        for finding in auditing.breaches(check_chain=True)
    ]


@pytest.fixture
def paid(chain: LocalChain, watcher: Reader, bakery: Shop) -> dict[str, Any]:
    """A payment that was made on the chain and confirmed; its address and amount."""
    [way] = [
        payment_address
        for payment_address in make.payment(bakery.test)["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == "SETH"
    ]
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(2)
    watcher.read()
    settle_deposits()
    return {"address": way["address"], "amount": int(way["crypto_amount_atomic"])}


def test_what_is_booked_is_there(paid: dict[str, Any], capsys: Any) -> None:
    verdicts = verify.verdicts(check_chain=True)
    assert [finding for verdict in verdicts for finding in verdict.findings] == []
    assert verdicts[-1].name == NAME and verdicts[-1].counted >= 2


def test_a_deposit_that_waits_for_its_confirmations_or_to_be_booked_is_no_difference(
    chain: LocalChain,
    watcher: Reader,
    paid: dict[str, Any],
) -> None:
    chain.pay(paid["address"], 77)
    watcher.read()
    assert differences() == []

    chain.mine(2)
    watcher.read()
    assert differences() == []


def test_coins_that_left_an_address_unbooked_are_found_to_the_unit(
    chain: LocalChain,
    watcher: Reader,
    paid: dict[str, Any],
) -> None:
    chain.call("anvil_setBalance", paid["address"], hex(paid["amount"] - 5))
    chain.mine(3)
    watcher.read()

    assert differences() == ["SETH: -5"]


def where() -> str:
    [found] = auditing.breaches(check_chain=True)
    return found.detail


def test_what_is_in_both_kinds_of_wallet_is_told_apart(
    chain: LocalChain, watcher: Reader, paid: dict[str, Any]
) -> None:
    wallets = ["0x" + "ab" * 20, "0x" + "ac" * 20]
    for lane, hot in enumerate(wallets):
        HotWallet.objects.create(chain_id="sepolia", address=hot, number=lane, next_nonce=0)
    chain.pay(wallets[0], 1000)
    chain.call("anvil_setBalance", paid["address"], hex(paid["amount"] + 5))
    chain.mine(3)
    watcher.read()
    assert f"({paid['address'].lower()} +5, the hot wallets or corrections +1000): +1005" in where()
    chain.call("anvil_setBalance", wallets[0], hex(0))
    chain.mine(3)
    watcher.read()
    assert f"({paid['address'].lower()} +5): +5" in where()


def test_coins_of_the_hot_wallet_are_found_until_staff_book_them(
    chain: LocalChain,
    watcher: Reader,
    paid: dict[str, Any],
    bakery: Shop,
) -> None:
    hot = "0x" + "ab" * 20
    HotWallet.objects.create(chain_id="sepolia", address=hot, next_nonce=0)
    chain.pay(hot, 1000)
    chain.mine(3)
    watcher.read()
    assert differences() == ["SETH: +1000"]
    assert f"({hot} or corrections +1000)" in where()

    make._correct("SETH", "custody_hot", None, -1000, make.clerk())

    assert differences() == []


def test_a_deposit_lost_after_it_was_booked_is_found_until_staff_correct_it(
    chain: LocalChain,
    watcher: Reader,
    paid: dict[str, Any],
    bakery: Shop,
) -> None:
    chain.reorg(3)
    chain.mine(3)
    watcher.read()
    settle_deposits()
    assert differences() == [f"SETH: -{paid['amount']}"]

    make._correct("SETH", "service_fees", None, -1, make.clerk())
    make._correct("SETH", "custody_deposits", None, paid["amount"], make.clerk())

    assert differences() == []


def test_a_chain_that_does_not_answer_is_no_clean_bill(
    chain: LocalChain, paid: dict[str, Any]
) -> None:
    chain.close()

    found = auditing.breaches(check_chain=True)

    assert {item.invariant for item in found} == {NAME}
    assert "the nodes did not say" in found[0].detail
