"""Forwarders on a real EVM: coins at one go to its merchant, no matter who calls it, and to nobody
else; and the bytes that we deploy are what the source compiles to."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from apps.chain.encoding.abi import encode
from apps.chain.encoding.keccak import keccak
from apps.chain.models import OwnWallet
from apps.chain.networks.evm import forwarders
from apps.chain.own import factory as factory_of_forwarders
from apps.chain.own import wallets
from apps.ledger.selectors import own_balances
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.own_wallets import choose, start_told
from tests.chain.test_payment_flow import after, entry
from tests.clients import npm

pytestmark = pytest.mark.chain
CONTRACTS = Path(__file__).parents[2] / "contracts"
KEPT = CONTRACTS.parent / "apps/chain/networks/evm"
MERCHANT = "0x" + "5a" * 20
THIEF = "0x" + "99" * 20
ETHER = 10**18


@pytest.fixture
def factory(chain: LocalChain) -> str:
    to, data = forwarders.factory_deployment()
    chain.wait(chain.send(to, data=data))
    assert chain.call("eth_getCode", forwarders.factory(), "latest") == (
        forwarders.factory_deployed()
    )
    return forwarders.factory()


def balance(chain: LocalChain, address: str) -> int:
    return int(chain.call("eth_getBalance", address, "latest"), 16)


def of_token(chain: LocalChain, token: str, address: str) -> int:
    call = {"to": token, "data": "0x70a08231" + address[2:].rjust(64, "0")}
    return int(chain.call("eth_call", call, "latest"), 16)


def flush(chain: LocalChain, places: list[int], contract: str = "", sender: int = 3) -> None:
    to, data = forwarders.flush_call(MERCHANT, places, contract)
    chain.wait(chain.send(to, data=data, sender=sender))


def test_coins_that_came_before_the_contract_go_to_the_merchant_whoever_flushes(
    chain: LocalChain, factory: str
) -> None:
    places = [3, 4]
    for place in places:
        chain.pay(forwarders.address(MERCHANT, place), ETHER)
    flush(chain, places)
    assert balance(chain, MERCHANT) == 2 * ETHER
    chain.pay(forwarders.address(MERCHANT, 3), 5)  # and after it, as any transfer of a wallet
    flush(chain, places)
    assert balance(chain, MERCHANT) == 2 * ETHER + 5


def test_tokens_go_there_too_also_of_contracts_that_answer_nothing(
    chain: LocalChain, factory: str
) -> None:
    for token in (chain.deploy_token(), chain.deploy_token()):
        chain.mint(token, forwarders.address(MERCHANT, 7), 1_000)
        flush(chain, [7, 8], token)
        assert of_token(chain, token, MERCHANT) == 1_000


def test_another_destination_has_other_addresses(chain: LocalChain, factory: str) -> None:
    mine = forwarders.address(MERCHANT, 3)
    assert forwarders.address(THIEF, 3) != mine
    chain.pay(mine, ETHER)
    to, data = forwarders.flush_call(THIEF, [3], "")
    chain.wait(chain.send(to, data=data))
    assert balance(chain, THIEF) == 0 and balance(chain, mine) == ETHER


def test_the_contract_gives_the_addresses_that_we_compute(chain: LocalChain, factory: str) -> None:
    selector = keccak(b"addressOf(address,bytes32)")[:4]
    for place in (0, 1, 2**61):
        data = selector + encode(["address", "bytes32"], [MERCHANT, forwarders.salt(place)])
        answer = chain.call("eth_call", {"to": factory, "data": "0x" + data.hex()}, "latest")
        assert "0x" + answer[-40:] == forwarders.address(MERCHANT, place)


def test_a_store_sells_into_its_own_address(
    chain: LocalChain, factory: str, watcher: Reader, bakery: Shop
) -> None:
    choose(bakery, kind="forwarder", content=MERCHANT)
    payment = make.payment(bakery.test)
    due = int(entry(payment)["crypto_amount_atomic"])
    chain.pay(entry(payment)["address"], due)
    chain.mine(3)
    assert after(watcher, bakery, payment)["status"] == "completed"
    wallet = OwnWallet.objects.get()
    flush(chain, [wallets.index_of(wallet.number, 0)])
    chain.mine(3)
    watcher.read()
    assert balance(chain, MERCHANT) == due
    assert own_balances(bakery.store.pk, "test")["SETH"].total_atomic == due
    assert not auditing.breaches(check_chain=True)


def test_without_the_contract_on_the_network_no_forwarder_is_given_out(
    chain: LocalChain, bakery: Shop
) -> None:
    choice = choose(bakery, kind="forwarder", content=MERCHANT)
    assert choice.told_at is None and choice.waits_for == factory_of_forwarders.MISSING
    to, data = forwarders.factory_deployment()
    chain.wait(chain.send(to, data=data))
    start_told()
    choice.refresh_from_db()
    assert choice.told_at is not None and choice.waits_for == ""


@pytest.mark.parametrize("name", ["Forwarder", "Sweeper"])
def test_the_bytes_are_what_the_pinned_compiler_makes_of_the_source(
    tmp_path: Path, name: str
) -> None:
    npm.require_node()
    for file in (f"{name}.sol", "build.mjs", "package.json", "package-lock.json", ".npmrc"):
        shutil.copy(CONTRACTS / file, tmp_path / file)
    npm.fetch(tmp_path)
    built = npm.run(["node", "build.mjs", name], tmp_path)
    made: dict[str, Any] = json.loads(built.stdout)
    assert made == json.loads((KEPT / f"{name.lower()}_code.json").read_text())
