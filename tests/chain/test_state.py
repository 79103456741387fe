"""Many balances of one block: by Multicall3 where the chain has it, and an answer that isn't one
costs calls and never a figure."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.audit import custody
from apps.chain.providers.base import Call, RpcError
from apps.chain.providers.jsonrpc import JsonRpc
from apps.chain.rpc import state
from apps.chain.rpc.state import MULTICALL, BlockReference, each_at
from tests.chain.conftest import Reader
from tests.chain.local import SEPOLIA_ID, LocalChain
from tests.chain.multicall import CODE
from tests.chain.proxy import Proxy

pytestmark = pytest.mark.chain

HOLDERS = [f"0x{number:040x}" for number in range(10**9, 10**9 + 230)]


@pytest.fixture
def node(chain: LocalChain, proxy: Proxy) -> JsonRpc:
    for place, holder in enumerate(HOLDERS):
        chain.call("anvil_setBalance", holder, hex(place * 10**15))
    chain.mine(2)
    return JsonRpc("sepolia", SEPOLIA_ID, [proxy.url])


def tip(chain: LocalChain) -> BlockReference:
    return BlockReference(chain.height, chain.block(chain.height)["hash"])


def held(node: JsonRpc, at: BlockReference, holders: list[str] | None = None) -> list[int]:
    calls: list[Call] = [("eth_getBalance", [holder, at.hash]) for holder in holders or HOLDERS]
    return [int(answer, 16) for answer in each_at(node, calls, at)]


EXPECTED = [place * 10**15 for place in range(len(HOLDERS))]


def test_without_the_contract_each_is_asked(chain: LocalChain, proxy: Proxy, node: JsonRpc) -> None:
    assert held(node, tip(chain)) == EXPECTED
    assert proxy.calls.count("eth_getBalance") == len(HOLDERS)


def test_with_it_all_are_asked_in_a_few_calls(
    chain: LocalChain, proxy: Proxy, node: JsonRpc
) -> None:
    chain.put(CODE, MULTICALL)
    at = tip(chain)
    chain.mine()
    chain.call("anvil_setBalance", HOLDERS[5], hex(1))
    chain.mine()
    assert held(node, at) == EXPECTED
    assert (proxy.calls.count("eth_call"), proxy.calls.count("eth_getBalance")) == (2, 1)


def test_tokens_are_asked_so_too_and_a_contract_that_is_none_has_none(
    chain: LocalChain, proxy: Proxy, node: JsonRpc
) -> None:
    chain.put(CODE, MULTICALL)
    token = chain.deploy_token()
    for place in range(12):
        chain.mint(token, HOLDERS[place], 7 + place)
    at = tip(chain)

    def answers(contract: str) -> list[Any]:
        calls: list[Call] = [
            ("eth_call", [{"to": contract, "data": f"0x70a08231{holder[2:]:0>64}"}, at.hash])
            for holder in HOLDERS[:20]
        ]
        return each_at(node, calls, at)

    proxy.calls.clear()
    assert [int(answer, 16) for answer in answers(token)] == [7 + it for it in range(12)] + [0] * 8
    assert proxy.calls.count("eth_call") == 2
    assert answers("0x" + "77" * 20) == ["0x"] * 20


# What stands at the address, or is answered for it, and isn't Multicall3.
LIES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda _: "0x",
    "null": lambda _: None,
    "a word": lambda _: "0x" + "0" * 63 + "1",
    "cut short": lambda answer: answer[: len(answer) // 2],
    "one more": lambda answer: answer[:66] + f"{int(answer[66:130], 16) + 1:064x}" + answer[130:],
    "failures": lambda answer: answer.replace(f"{1:064x}", f"{0:064x}"),
    "no hex": lambda _: "zz",
}


@pytest.mark.parametrize("lie", LIES)
def test_an_answer_of_another_shape_is_not_believed(
    chain: LocalChain, proxy: Proxy, node: JsonRpc, lie: str
) -> None:
    chain.put(CODE, MULTICALL)
    proxy.lie("eth_call", LIES[lie])
    assert held(node, tip(chain)) == EXPECTED


def test_figures_that_the_node_denies_are_not_believed(
    chain: LocalChain, proxy: Proxy, node: JsonRpc
) -> None:
    chain.put(CODE, MULTICALL)
    proxy.lie("eth_call", lambda answer: answer.replace(f"{7 * 10**15:064x}", f"{10**20:064x}"))
    assert held(node, tip(chain)) == EXPECTED


@pytest.mark.parametrize("refusal", ["eth_call", "eth_getCode"])
def test_a_node_that_refuses_it_is_asked_one_by_one(
    chain: LocalChain, proxy: Proxy, node: JsonRpc, refusal: str
) -> None:
    chain.put(CODE, MULTICALL)
    proxy.refused_with[refusal] = (-32000, "out of gas")
    assert held(node, tip(chain)) == EXPECTED


def by_number_only(proxy: Proxy) -> None:
    """As ganache, which knows blocks by their numbers alone."""
    proxy.refusal_of = lambda method, parameters: (
        (-32700, 'Cannot wrap a "object" as a json-rpc type')
        if method != "eth_getLogs" and "blockHash" in str(parameters[1:2])
        else None
    )


@pytest.mark.parametrize("has_contract", [False, True])
def test_a_node_that_knows_no_hashes_is_asked_by_number(
    chain: LocalChain, proxy: Proxy, node: JsonRpc, has_contract: bool
) -> None:
    if has_contract:
        chain.put(CODE, MULTICALL)
    by_number_only(proxy)
    at = tip(chain)
    chain.mine(3)
    assert held(node, at) == EXPECTED
    with pytest.raises(RpcError, match="another one now"):
        held(node, BlockReference(at.number, "0x" + "ab" * 32))


def test_a_refusal_of_every_way_is_a_refusal(
    chain: LocalChain, proxy: Proxy, node: JsonRpc
) -> None:
    proxy.unknown.add("eth_getBalance")
    at = tip(chain)
    [answer] = each_at(node, [("eth_getBalance", [HOLDERS[0], at.hash])], at)
    assert isinstance(answer, RpcError) and answer.is_refusal


def test_the_audit_of_a_chain_asks_so_too(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(CODE, MULTICALL)
    chain.pay(address, 10**15)
    chain.mine(12)
    watcher.read()
    for prepare in (lambda: None, lambda: by_number_only(proxy)):
        prepare()
        books = [book for book in custody.booked() if book.asset.pk == "SETH"]
        (checked,) = custody.compare(books)
        assert checked.detail == ""
    assert state.CALLS_MIN > 1
