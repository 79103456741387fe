"""The transactions of a block that has something of ours are compared with their root in its
header, and what pays us with its signature: what contradicts them isn't believed."""

from collections.abc import Callable
from typing import Any

import pytest
from eth_account import Account
from prometheus_client import REGISTRY

from apps.chain.encoding import listed
from apps.chain.models import Address, Deposit
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm import block_roots
from apps.chain.networks.evm.block_headers import EMPTY_ROOT
from apps.chain.networks.evm.spelling import checksummed
from tests.chain.conftest import Reader, make_address
from tests.chain.local import SEPOLIA_ID, LocalChain, program
from tests.chain.proxy import Proxy
from tests.chain.test_contradictions import amounts
from tests.chain.test_receipts_root import ALL_RECEIPTS, is_refused

pytestmark = pytest.mark.chain
BLOCK = "eth_getBlockByNumber"
STRANGER = "0x" + "77" * 20
PAYER = Account.from_key("0x" + "42" * 32)
ACCESS = [{"address": STRANGER, "storageKeys": ["0x" + "00" * 31 + "01", "0x" + "ff" * 32]}]
Change = Callable[[Any], Any]


def results(result: str) -> float:
    labels = {"chain": "sepolia", "root": "transactions", "result": result}
    return REGISTRY.get_sample_value("tillgate_chain_roots_compared_total", labels) or 0.0


def lie(proxy: Proxy, change: Change) -> None:
    """Of every transaction that pays a deposit address."""
    ours = set(Address.objects.values_list("pk", flat=True))

    def told(block: Any) -> Any:
        if not block or any(isinstance(item, str) for item in block["transactions"]):
            return block
        items = [
            change(item) if str(item.get("to")).lower() in ours else item
            for item in block["transactions"]
        ]
        return {**block, "transactions": items}

    proxy.lie(BLOCK, told)


def more(transaction: Any) -> Any:
    return {**transaction, "value": hex(int(transaction["value"], 16) * 1000)}


LIES: dict[str, Change] = {
    "value": more,
    "sender": lambda item: {**item, "from": STRANGER},
    "nonce": lambda item: {**item, "nonce": "0x99"},
    "data": lambda item: {**item, "input": "0x01"},
    "signature": lambda item: {**item, "r": "0x" + "12" * 32},
}


@pytest.mark.parametrize("change", LIES.values(), ids=LIES)
def test_a_payment_that_says_something_else_is_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, change: Change
) -> None:
    watcher.read()
    contradictions = results("contradicts")
    lie(proxy, change)
    chain.pay(address, 5)
    is_refused(watcher, proxy, 5)
    assert results("contradicts") == contradictions + 2


def test_coins_of_somebody_else_are_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    """Another address of ours is said to have got them."""
    other = make_address()
    watcher.read()
    lie(proxy, lambda item: {**item, "to": other})
    chain.pay(address, 5)
    is_refused(watcher, proxy, 5)
    assert Deposit.objects.get().address_id == address


def test_a_payment_by_somebody_else_is_not_ours_by_one_nodes_word(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    """A transfer from an address of ours would not be booked."""
    other = make_address()
    watcher.read()
    lie(proxy, lambda item: {**item, "from": other})
    chain.pay(address, 5)
    is_refused(watcher, proxy, 5)


def test_a_signed_payment_that_no_block_has_is_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    """The node has signed it itself, and its receipt is that of the one it replaces."""
    watcher.read()
    key = Account.from_key("0x" + "43" * 32)
    chain.call("anvil_setBalance", key.address, hex(10**18))
    fees = {"maxFeePerGas": 10**10, "maxPriorityFeePerGas": 1, "gas": 21_000}
    payment = {"chainId": SEPOLIA_ID, "nonce": 0, "to": checksummed(address), "value": 5, **fees}
    raw = key.sign_transaction(payment).raw_transaction.to_0x_hex()
    before = chain.call("evm_snapshot")
    forged_hash = chain.wait(chain.call("eth_sendRawTransaction", raw))
    forged = chain.call("eth_getTransactionByHash", forged_hash)
    chain.call("evm_revert", before)
    chain.pay(STRANGER, 1)
    block = chain.block(chain.height)
    place = {key: forged[key] for key in ("blockNumber", "transactionIndex")}
    forged |= {**place, "blockHash": block["hash"]}

    def told(asked: Any) -> Any:
        return (
            {**asked, "transactions": [forged]}
            if asked and asked["hash"] == block["hash"]
            else asked
        )

    proxy.lie(BLOCK, told)
    proxy.lie(
        ALL_RECEIPTS,
        lambda receipts: [{**receipts[0], "transactionHash": forged_hash, "to": address}],
    )
    is_refused(watcher, proxy)


def test_another_node_is_asked_instead(
    chain: LocalChain, proxy: Proxy, second: Proxy, watcher: Reader, address: str
) -> None:
    watcher.read()
    lie(proxy, more)
    chain.pay(address, 5)
    with pytest.raises(Inconsistent):
        watcher.read()
    watcher.read()
    assert amounts() == [5] and BLOCK in second.calls


# --- what blocks have -------------------------------------------------------------------------


def signed(chain: LocalChain, to: str, kind: str) -> str:
    """A payment of 5 by its kind; its raw form."""
    chain.call("anvil_setBalance", PAYER.address, hex(10**18))
    nonce = int(chain.call("eth_getTransactionCount", PAYER.address, "latest"), 16)
    usual: dict[str, Any] = {
        "nonce": nonce,
        "gas": 200_000,
        "to": checksummed(to),
        "value": 5,
        "data": "0x01",
    }
    priced = {**usual, "gasPrice": 10**10}
    typed = {**usual, "maxFeePerGas": 10**10, "maxPriorityFeePerGas": 1, "accessList": ACCESS}
    typed |= {"chainId": SEPOLIA_ID}
    match kind:
        case "for any chain":
            made = PAYER.sign_transaction(priced)
        case "0":
            made = PAYER.sign_transaction({**priced, "chainId": SEPOLIA_ID})
        case "1":
            listed_too = {"type": 1, "chainId": SEPOLIA_ID, "accessList": ACCESS}
            made = PAYER.sign_transaction({**priced, **listed_too})
        case "2":
            made = PAYER.sign_transaction({**typed, "type": 2})
        case "3":
            blob = {"type": 3, "maxFeePerBlobGas": 10**9}
            made = PAYER.sign_transaction({**typed, **blob}, blobs=[b"\0" * 131072])
        case _:
            grants = [
                PAYER.sign_authorization({"chainId": chain_id, "address": who, "nonce": nonce + 1})
                for chain_id, who in ((SEPOLIA_ID, STRANGER), (0, "0x" + "0" * 40))
            ]
            made = PAYER.sign_transaction({**typed, "type": 4, "authorizationList": grants})
    return str(made.raw_transaction.to_0x_hex())


@pytest.mark.parametrize("kind", ["for any chain", "0", "1", "2", "3", "4"])
def test_payments_of_every_kind_are_compared(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, kind: str
) -> None:
    watcher.read()
    agreements, silences = results("agrees"), results("not_compared")
    chain.wait(chain.call("eth_sendRawTransaction", signed(chain, address, kind)))
    watcher.read()
    assert amounts() == [5]
    # anvil takes the root of blobs as well, which no network does.
    assert results("agrees") - agreements == (0 if kind == "3" else 1)
    assert results("not_compared") - silences == (1 if kind == "3" else 0)
    lie(proxy, more)
    chain.wait(chain.call("eth_sendRawTransaction", signed(chain, address, kind)))
    with pytest.raises(Inconsistent):
        watcher.read()
    assert amounts() == [5]


def test_a_block_of_many_with_a_new_contract_is_compared(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    watcher.read()
    agreements = results("agrees")
    chain.call("evm_setAutomine", False)
    made = {"from": chain.accounts[0], "data": "0x6001600081600b8239f3", "gas": hex(200_000)}
    chain.call("eth_sendTransaction", made)
    for amount in range(140):
        chain.send(address if amount == 5 else STRANGER, amount, sender=amount % 5)
    chain.mine()
    watcher.read()
    assert len(chain.block(chain.height)["transactions"]) == 141
    assert amounts() == [5] and results("agrees") == agreements + 1


@pytest.mark.parametrize("more_fields", [{"mint": "0x5"}, {"mint": "0x0"}])
def test_deposits_of_the_op_stack_are_compared(
    settings: Any, address: str, more_fields: dict[str, Any]
) -> None:
    local = LocalChain(str(program()), "--optimism")
    proxy = Proxy(local.url)
    settings.CHAIN_URLS = {"sepolia": [proxy.url]}
    settings.CHAIN_START_BLOCKS = {"sepolia": 0}
    watcher = Reader()
    watcher.read()
    agreements = results("agrees")
    fields = {"type": "0x7e", "sourceHash": "0x" + "11" * 32, "isSystemTx": False, **more_fields}
    local.wait(local.send(address, 10, **fields))
    watcher.read()
    assert amounts() == [10] and results("agrees") == agreements + 1
    local.wait(local.send(address, 11, **fields))
    for change in (more, LIES["sender"]):
        lie(proxy, change)
        with pytest.raises(Inconsistent):
            watcher.read()
        proxy.changes.clear()
    watcher.read()
    assert amounts() == [10, 11]
    for others in ({"isSystemTx": True}, {"to": None, "data": "0x6001600081600b8239f3"}):
        local.wait(local.send(**{"to": STRANGER, **fields, **others}))
        block = local.call(BLOCK, "latest", True)
        assert listed.transactions_root(block["transactions"]) == block["transactionsRoot"]
    watcher.close()
    proxy.close()
    local.close()


# As ganache 7.9.2 and Hardhat 2.29.1 told them of an account whose key they don't have.
GANACHE: dict[str, Any] = {
    "hash": "0x239de59692ca3d4fc144b8ac625a4620b494eda9ad2c44f836b925e459368588",
    "type": "0x0",
    "nonce": "0x6",
    "from": "0xabababababababababababababababababababab",
    "to": "0x7777777777777777777777777777777777777777",
    "value": "0x123456",
    "gas": "0x186a0",
    "gasPrice": "0x12a05f200",
    "input": "0x",
    "v": "0xa95",
    "r": "0x5ca411353d9f800b5ca58de95a9a1bfca7d62578eb42f1d1c30e5a4e776854ac",
    "s": "0x5c6cc2c8e279c60cce88630ba3ca645f33f6c357dc2486661285cd349b6bc1fe",
}
HARDHAT: dict[str, Any] = {
    "hash": "0xe526936dad3818687f86a58298cdd0571581288830134ae78a87aaa902f13de7",
    "nonce": "0x6",
    "from": "0xabababababababababababababababababababab",
    "to": "0x7777777777777777777777777777777777777777",
    "value": "0x123456",
    "gasPrice": "0x12a05f200",
    "gas": "0x186a0",
    "input": "0x",
    "type": "0x0",
    "v": "0xf4f5",
    "r": "0xabababababababababababababababababababab",
    "s": "0xabababababababababababababababababababab",
}
# A block of Arbitrum has transactions of the network's own; this one was signed by its sender.
ARBITRUM: dict[str, Any] = {
    "chainId": "0xa4b1",
    "from": "0xe911f7f98ac57cf0c1cc71519d3ba720089381c4",
    "gas": "0x1a02b0",
    "gasPrice": "0x1dcd6500",
    "hash": "0xfd11ef35c7179439723e026cb7857ea5a2e48a19257bec00b0ed26672f632181",
    "input": "0x1801fbe5d5843b1d8c7345812c7ba7257e927b0c5e000000a6ca46b71aa1cdb6545660ad00000000"
    "4f62e6aa5433274e333035ca261c12397df9febee0782f42749b8e0b",
    "nonce": "0x3c",
    "r": "0x87ac24f33be39a0bd27fe84a8934aa957610872606e5dbc46d296843a57930df",
    "s": "0x6ad9aba71382c20a528f3310c369b095e15991b352aea3261e2683c2b1288964",
    "to": "0xae56c981f9bb8b07e380b209fcd1498c5876fd4c",
    "type": "0x0",
    "v": "0x14986",
    "value": "0x0",
}


@pytest.mark.parametrize("told", [GANACHE, ARBITRUM], ids=["ganache", "arbitrum"])
def test_who_signed_is_told_as_the_nodes_of_others_do(told: dict[str, Any]) -> None:
    assert listed.is_certain(told) and listed.is_own(told)
    assert not listed.is_own({**told, "from": STRANGER}) and not listed.is_own(
        more({**told, "value": "0x1"})
    )


def test_a_signature_that_hardhat_makes_up_is_none() -> None:
    assert not listed.is_certain(HARDHAT)


# --- what says nothing ------------------------------------------------------------------------


def unknown_kind(transaction: Any) -> Any:
    return {**transaction, "type": "0x6a"}


def unsigned(transaction: Any) -> Any:
    return {**transaction, "v": "0x0", "r": "0x0", "s": "0x0"}


def without_fields(transaction: Any) -> Any:
    return {key: value for key, value in transaction.items() if key not in ("v", "yParity")}


@pytest.mark.parametrize("told", [unknown_kind, unsigned, without_fields])
def test_transactions_that_nobody_here_can_write_stop_nothing(
    chain: LocalChain,
    proxy: Proxy,
    watcher: Reader,
    address: str,
    told: Change,
    caplog: pytest.LogCaptureFixture,
) -> None:
    block_roots._silent.clear()
    before = results("not_compared")
    lie(proxy, told)
    chain.pay(address, 5)
    chain.pay(address, 6)
    watcher.read()
    assert amounts() == [5, 6] and results("not_compared") == before + 2
    assert caplog.text.count("root_not_compared") == 1


def test_a_payment_beside_what_nobody_can_write_is_refused_for_itself(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    """As in the blocks of Arbitrum, which begin with one of the network's own."""
    watcher.read()
    chain.call("evm_setAutomine", False)
    chain.send(STRANGER, 1)
    chain.send(address, 5, sender=1)
    chain.mine()

    def told(block: Any) -> Any:
        items = [
            item if isinstance(item, str) or item["to"] != STRANGER else unknown_kind(item)
            for item in (block or {}).get("transactions", [])
        ]
        return block and {**block, "transactions": items}

    proxy.lie(BLOCK, told)
    lie(proxy, more)
    with pytest.raises(Inconsistent):
        watcher.read()
    proxy.changes.pop()
    watcher.read()
    assert amounts() == [5]


def test_the_payment_of_an_account_whose_key_a_node_does_not_have_is_believed(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.call("anvil_setBalance", STRANGER, hex(10**18))
    chain.call("anvil_impersonateAccount", STRANGER)
    for kind in ("0x0", "0x1", "0x2"):
        priced = {} if kind == "0x2" else {"gasPrice": hex(10**10)}
        payment = {"from": STRANGER, "to": address, "value": "0x5", "type": kind, **priced}
        chain.wait(chain.call("eth_sendTransaction", payment))
    watcher.read()
    assert amounts() == [5, 5, 5]


@pytest.mark.parametrize("root", [None, "0x", "0x" + "0" * 64, EMPTY_ROOT])
def test_a_chain_whose_headers_have_no_root_goes_on(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, root: Any
) -> None:
    proxy.lie(BLOCK, lambda block: block and {**block, "transactionsRoot": root})
    chain.pay(address, 5)
    watcher.read()
    assert amounts() == [5]


def test_an_operator_may_name_a_chain_that_goes_on_without(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, settings: Any
) -> None:
    lie(proxy, LIES["nonce"])
    chain.pay(address, 5)
    with pytest.raises(Inconsistent):
        watcher.read()
    settings.CHAIN_UNCOMPARED_ROOTS = ["sepolia"]
    watcher.read()
    assert amounts() == [5]
