"""A customer names the transaction they sent: what the chain says of it, and that the watcher finds
what it had stopped to look for."""

from typing import Any

import pytest
from django.test import Client

from apps.chain.models import Address, Deposit, UnmatchedTransfer
from apps.core import clock
from apps.dashboard.payment.transactions import _WORDS
from apps.payments.models import Payment
from apps.payments.services.settle import settle_deposits
from apps.payments.services.transaction_lookup import LookupResult, find_transaction
from apps.stores.models.notifications import Notification
from tests import auditing, make
from tests.cast import Cast, Shop
from tests.chain.conftest import Reader
from tests.chain.local import FORWARDER, LOGGER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import CONTRACT
from tests.chain.test_payment_flow import entry
from tests.chain.test_unknown_payers import token  # noqa: F401  # a fixture
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.chain


@pytest.fixture
def made(bakery: Shop) -> dict[str, Any]:
    return make.payment(bakery.test)


def row(made: dict[str, Any]) -> Payment:
    return Payment.objects.select_related("store").get(pk=made["id"])


def test_each_step_of_a_transaction_is_told(
    chain: LocalChain, watcher: Reader, made: dict[str, Any]
) -> None:
    watcher.read()
    way = entry(made)
    chain.call("evm_setAutomine", False)
    tx_hash = chain.send(way["address"], int(way["crypto_amount_atomic"]))
    assert find_transaction(row(made), tx_hash).result == LookupResult.NOT_FINAL
    chain.mine()
    answer = find_transaction(row(made), f"https://sepolia.etherscan.io/tx/{tx_hash}")
    assert (answer.result, answer.chains, answer.tx_hash) == (
        LookupResult.NOT_FINAL,
        ("Ethereum Sepolia",),
        tx_hash,
    )
    watcher.read()
    settle_deposits()
    answer = find_transaction(row(made), tx_hash.upper().replace("0X", "0x"))
    assert (answer.result, answer.confirmations, answer.required_confirmations) == (
        LookupResult.CONFIRMING,
        1,
        3,
    )
    chain.mine(2)
    watcher.read()
    settle_deposits()
    assert find_transaction(row(made), tx_hash).result == LookupResult.COUNTED
    assert row(made).status == "completed"


def test_another_payments_transaction_only_pays_another_address(
    chain: LocalChain, watcher: Reader, bakery: Shop, made: Any
) -> None:
    other = entry(make.payment(bakery.test))
    tx_hash = chain.pay(other["address"], int(other["crypto_amount_atomic"]))
    watcher.read()
    settle_deposits()
    answer = find_transaction(row(made), tx_hash)
    assert (answer.result, answer.confirmations) == (LookupResult.OTHER_ADDRESS, 0)


def test_a_transaction_that_was_undone_is_said_to_have_failed(
    chain: LocalChain, made: dict[str, Any]
) -> None:
    reverts = chain.put("0x60006000fd", "0x" + "e1" * 20)
    tx_hash = chain.wait(chain.send(reverts))
    assert find_transaction(row(made), tx_hash).result == LookupResult.FAILED


def test_a_coin_that_nobody_knows_is_the_wrong_coin(
    chain: LocalChain, watcher: Reader, made: dict[str, Any]
) -> None:
    chain.put(LOGGER, "0x" + "e2" * 20)
    tx_hash = chain.log_transfers("0x" + "e2" * 20, (entry(made)["address"], 5_000_000))
    watcher.read()
    assert find_transaction(row(made), tx_hash).result == LookupResult.WRONG_COIN
    assert not Deposit.objects.exists() and not UnmatchedTransfer.objects.exists()


def test_what_no_chain_has_isnt_found_there(chain: LocalChain, made: dict[str, Any]) -> None:
    answer = find_transaction(row(made), "0x" + "ab" * 32)
    assert (answer.result, answer.chains) == (LookupResult.NOT_FOUND, ("Ethereum Sepolia",))


def test_a_node_that_is_away_is_said_so(
    proxy: Proxy, chain: LocalChain, made: dict[str, Any]
) -> None:
    chain.close()
    assert find_transaction(row(made), "0x" + "ab" * 32).result == LookupResult.NOT_ASKED


def test_the_watcher_looks_again_for_what_a_contract_sent_too_late(
    chain: LocalChain, watcher: Reader, bakery: Shop, made: dict[str, Any]
) -> None:
    way = entry(made)
    make.advance(bakery.test, 3601)
    Address.objects.filter(address=way["address"].lower()).update(
        watch_balance_until=clock.real_now()
    )
    chain.put(FORWARDER, CONTRACT)
    tx_hash = chain.through(CONTRACT, int(way["crypto_amount_atomic"]), way["address"])
    chain.mine(12)
    watcher.read()
    assert not Deposit.objects.exists()
    assert find_transaction(row(made), tx_hash).result == LookupResult.NOTED
    assert not Deposit.objects.exists()
    chain.mine(12)
    watcher.read()
    settle_deposits()
    assert Deposit.objects.get().tx_hash == tx_hash
    assert find_transaction(row(made), tx_hash).result == LookupResult.LATE


def test_coins_in_the_tokens_own_contract_are_gone_for_customer_and_store(
    chain: LocalChain,
    watcher: Reader,
    cast: Cast,
    token: str,  # noqa: F811
) -> None:
    made = make.payment(cast.bakery.test)
    watcher.read()
    chain.mint(token, chain.accounts[0], 5_000_000)
    tx_hash = chain.transfer(token, token, 5_000_000)
    watcher.read()
    assert find_transaction(row(made), tx_hash).result == LookupResult.TOKEN_CONTRACT
    shown = Client().post(f"/pay/{made['reference']}/sent", {"transaction": tx_hash}, follow=True)
    assert "These coins went to the token’s own contract." in text(shown)
    # Once: the link may be anybody's.
    Client().post(f"/pay/{made['reference']}/sent", {"transaction": tx_hash})
    (notice,) = Notification.objects.filter(store=cast.bakery.store)
    assert notice.title == "Coins for the payment of €10.00 went to a token’s contract"
    assert tx_hash in notice.text and notice.path == f"/dashboard/payments/{made['id']}"
    found = Browser(cast.alice).post(f"payments/{made['id']}/transaction", transaction=tx_hash)
    assert "It went to the token’s own contract." in text(found)
    assert "Nobody can return these coins" in text(found)
    body = cast.bakery.test.get(f"/payments/{made['id']}").json()
    [told] = [line for line in body["timeline"] if line["type"] == "payment.coins_lost"]
    assert told["payload"] == {"tx_hash": tx_hash, "chain_name": "Ethereum Sepolia"}
    page = text(Browser(cast.alice).get(f"payments/{made['id']}"))
    assert page.count("Coins sent to a token’s contract") == 1
    assert auditing.breaches() == []


def test_the_store_reads_a_sentence_of_each_result() -> None:
    """A malformed one is refused at its field."""
    assert set(_WORDS) == set(LookupResult) - {LookupResult.MALFORMED}
