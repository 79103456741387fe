"""`check_network` says of a node what this service needs of it, and what is done instead."""

import json
import threading
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.assets.models import Asset
from apps.chain.encoding import abi
from apps.chain.encoding.typed_data import domain_separator
from apps.chain.rpc import heard
from apps.chain.sending.permits import PERMIT2
from tests.chain.local import LocalChain, program
from tests.chain.proxy import Proxy
from tests.chain.relay import Relay

pytestmark = [pytest.mark.chain, pytest.mark.django_db]
TOKEN = "BASE_USDC"


@pytest.fixture
def local(request: pytest.FixtureRequest) -> Iterator[LocalChain]:
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    options, chain_id = getattr(request, "param", ((), 8453))
    local = LocalChain(anvil, *options, chain_id=chain_id)
    yield local
    local.close()


@pytest.fixture
def proxy(local: LocalChain) -> Iterator[Proxy]:
    Asset.objects.filter(pk=TOKEN).update(
        contract_address=local.deploy_token(), eip712_name="", eip712_version=""
    )
    proxy = Proxy(local.url)
    yield proxy
    proxy.close()


def asked(network: str, url: str, ends: int = 0, ws_url: str = "") -> dict[str, tuple[str, str]]:
    output = StringIO()
    try:
        call_command(
            "check_network", network, "--url", url, "--ws-url", ws_url, "--json", stdout=output
        )
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    told = json.loads(output.getvalue())
    assert code == ends, told
    assert told["usable"] is (ends == 0)
    assert "hunter2" not in output.getvalue()
    [node] = told["nodes"]
    return {item["ability"]: (item["verdict"], item["text"]) for item in node["abilities"]}


def alone(local: LocalChain, network: str = "base") -> None:
    """Of the network's tokens none is on a node that has just begun."""
    Asset.objects.filter(chain=network).exclude(pk=TOKEN).update(contract_address=None)


def test_a_node_that_can_do_all(local: LocalChain, proxy: Proxy) -> None:
    alone(local)
    told = asked("base", proxy.url)
    assert told[TOKEN] == ("works", "a contract with 6 decimals")
    assert told["network"] == ("works", f"chain ID 8453, block {local.height}")
    assert told["receipts by block"] == ("works", "eth_getBlockReceipts")
    assert told["tracing"] == ("works", "debug_traceBlockByHash")
    assert told["blocks and headers"] == ("works", f"block {local.height} agrees with its header")
    assert told["tag finalized"][0] == told["tag safe"][0] == "works"
    assert told["batches"] == ("works", "100 calls in one request")
    assert told["fee model"][0] == "instead"  # anvil has no GasPriceOracle
    assert told["Permit2"][0] == "instead"
    assert {verdict for verdict, _ in told.values()} == {"works", "instead"}


def test_permit2_is_there_under_the_chains_own_domain(local: LocalChain, proxy: Proxy) -> None:
    alone(local)
    local.put(local.call("eth_getCode", local.deploy_token(), "latest"), PERMIT2)
    assert asked("base", proxy.url)["Permit2"][0] == "instead"
    local.place_permit2()
    text = "coins without signatures of their own are signed for it"
    assert asked("base", proxy.url)["Permit2"] == ("works", text)


def test_what_a_node_lacks_is_said_with_what_is_done_instead(
    local: LocalChain, proxy: Proxy
) -> None:
    alone(local)
    proxy.unknown |= {"eth_getBlockReceipts", "debug_traceBlockByHash", "eth_maxPriorityFeePerGas"}
    proxy.batch_max = 7
    proxy.lie("eth_getLogs", lambda result: result or [])
    proxy.refuses = lambda method, given: (
        (method == "eth_getBalance" and isinstance(given[-1], dict))
        or (method == "eth_getBlockByNumber" and given[0] in ("safe", "finalized"))
    )
    told = asked("base", proxy.url)
    for ability, words in {
        "receipts by block": "receipts are asked for one by one",
        "tracing": "payments by contracts are found by balances",
        "price of gas": "taken from eth_feeHistory",
        "balances by hash": "balances are asked for by number",
        "tag safe": "not told: 30 confirmations are counted",
    }.items():
        verdict, text = told[ability]
        assert verdict == "instead" and text.startswith(words), (ability, text)
    verdict, text = told["batches"]
    assert verdict == "instead" and int(text.split()[0]) <= 7


def test_a_node_that_cant_be_used_ends_with_the_reasons(local: LocalChain, proxy: Proxy) -> None:
    alone(local)
    proxy.unknown |= {"eth_getLogs", "eth_estimateGas"}
    Asset.objects.filter(pk=TOKEN).update(atomic_decimals=18)
    told = asked("base", proxy.url, ends=2)
    assert told["logs by block"][0] == told["gas limits"][0] == "missing"
    assert told[TOKEN] == ("missing", "the contract has 6 decimals, and we count with 18")


def test_old_state_that_is_gone_is_missing(local: LocalChain, proxy: Proxy) -> None:
    alone(local)
    local.mine(40)
    oldest = hex(local.height - 30)
    proxy.pruned = lambda given: given[-1] == oldest
    told = asked("base", proxy.url, ends=2)
    text = "none of 30 blocks ago: verify_ledger --chain can't compare the books"
    assert told["older balances"] == ("missing", text)


def has_domain(proxy: Proxy, name: str, version: str) -> None:
    """The token's contract answers as one that takes signatures."""
    contract = str(Asset.objects.get(pk=TOKEN).contract_address)
    answers = {
        "0x3644e515": domain_separator(name, version, 8453, contract),
        "0x06fdde03": abi.encode(("string",), (name,)),
        "0x54fd4d50": abi.encode(("string",), (version,)),
    }

    def told(method: str, given: list[Any], result: Any) -> Any:
        data = given[0].get("data") if method == "eth_call" else ""
        return "0x" + answers[data].hex() if data in answers else result

    proxy.changes.append(told)


@pytest.mark.parametrize(
    ("ours", "verdict", "text"),
    [
        (("USD Coin", "2"), "works", "EIP-712 name USD Coin, version 2"),
        (
            ("USDC", "2"),
            "missing",
            "the contract's EIP-712 name is USD Coin, version 2, and ours is another",
        ),
        (
            ("", ""),
            "instead",
            "the contract's EIP-712 name is USD Coin, version 2: ours isn't set, so it isn't"
            " offered",
        ),
    ],
)
def test_the_domain_that_customers_sign_is_the_contracts(
    local: LocalChain, proxy: Proxy, ours: tuple[str, str], verdict: str, text: str
) -> None:
    alone(local)
    has_domain(proxy, "USD Coin", "2")
    Asset.objects.filter(pk=TOKEN).update(
        eip712_name=ours[0], eip712_version=ours[1], is_active=True
    )
    told = asked("base", proxy.url, ends=2 if verdict == "missing" else 0)
    assert told[f"{TOKEN} signed"] == (verdict, text)


def test_a_contract_that_isnt_there_is_missing(local: LocalChain) -> None:
    told = asked("base", local.url, ends=2)
    assert told[TOKEN][0] == "missing" and told[TOKEN][1].startswith("there is no contract at 0x")


def test_a_node_of_another_network_is_refused(local: LocalChain) -> None:
    told = asked("optimism", local.url, ends=2)
    assert list(told) == ["network"]
    assert told["network"] == ("missing", "optimism node 1 is refused: it is on chain 0x2105")


@pytest.mark.parametrize("local", [(("--optimism",), 10)], indirect=True)
def test_a_node_of_an_op_stack_network(local: LocalChain) -> None:
    Asset.objects.filter(chain="optimism").update(contract_address=None)
    local.pay(local.accounts[1], 1)
    told = asked("optimism", local.url)
    assert told["blocks and headers"] == ("works", f"block {local.height} agrees with its header")
    assert told["tag finalized"][1].endswith(
        "(OP Mainnet is final when Ethereum has final data of it, some 15 to 20 minutes)"
    )


@pytest.mark.parametrize("local", [(("--network", "tempo"), 4217)], indirect=True)
def test_a_node_of_tempo_has_the_coin_that_pays_fees(local: LocalChain) -> None:
    Asset.objects.filter(chain="tempo").exclude(pk="TEMPO_PATH").update(contract_address=None)
    told = asked("tempo", local.url, ends=2)
    assert told["TEMPO_PATH"] == ("works", "a contract with 6 decimals")
    assert told["fee model"] == (
        "missing",
        "no coin is known that pays fees: nothing can be sent",
    )
    paying = Asset.objects.filter(pk="TEMPO_USDC")
    paying.update(contract_address="0x" + "ab" * 20)
    assert asked("tempo", local.url, ends=2)["fee model"] == (
        "missing",
        "there is no TEMPO_USDC, in which fees are paid: nothing can be sent",
    )
    paying.update(contract_address="0x20c0000000000000000000000000000000000001")
    assert asked("tempo", local.url)["fee model"] == ("works", "in TEMPO_USDC")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere"], "Network not found"),
        (["base"], "Base has no node: set CHAIN_BASE_URL, or give --url"),
        (["base", "--url", "node.example"], "A node's address begins with https:// or http://"),
        (["bitcoin", "--url", "http://x"], "Bitcoin isn't of the EVM family, which alone can be"),
    ],
)
def test_what_cant_be_asked_is_refused_by_a_sentence(
    settings: Any, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    settings.CHAIN_URLS = {}
    with pytest.raises(SystemExit) as end:
        call_command("check_network", *words)
    assert end.value.code == 1
    assert capsys.readouterr().err.startswith(sentence)


def test_a_dead_node_is_said_to_be_one(settings: Any) -> None:
    told = asked("base", "http://someone:hunter2@127.0.0.1:9/v3", ends=2)
    assert told == {"network": ("missing", "base node 1: ConnectionError")}


@pytest.mark.parametrize("local", [(("--block-time", "1"), 8453)], indirect=True)
def test_what_a_node_announces_is_heard(local: LocalChain, proxy: Proxy) -> None:
    alone(local)
    relay = Relay(local.url)
    stop = threading.Event()

    def pay() -> None:
        while not stop.wait(0.3):
            local.send(local.accounts[1], 1)

    paying = threading.Thread(target=pay)
    paying.start()
    try:
        told = asked("base", proxy.url, ws_url=relay.url)
    finally:
        stop.set()
        paying.join()
        relay.close()
    assert told["new blocks"] == ("works", "announced by the websocket")
    assert told["before a block"] == ("works", "transactions are announced whole")


def test_a_websocket_that_says_nothing_is_polled_instead(
    local: LocalChain, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(local)
    monkeypatch.setattr(heard, "_HEARD_SECONDS", 0.5)
    monkeypatch.setattr(heard, "_HEARD_BLOCKS", 0)
    relay = Relay(local.url)
    told = asked("base", proxy.url, ws_url=relay.url)
    assert told["new blocks"][1].startswith("agreed to announce, and none came in")
    assert told["before a block"][1].startswith("agreed to announce transactions, and none came")
    relay.close()
    told = asked("base", proxy.url, ws_url=relay.url)
    assert told["new blocks"][1].startswith("the websocket: Client")
    assert told["before a block"] == ("instead", "nothing is shown before a block has it")
    told = asked("base", proxy.url)
    assert told["new blocks"][1].startswith("no address of a websocket: asked for every")
