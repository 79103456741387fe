"""Checks of a node of an EVM network: each ability that the product needs, asked of the node
itself, and what is done where it is missing (`check_network`). Nothing is written, and nothing is
sent."""

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings

from apps.assets.models import Asset, Chain, FeeModel, NetworkFamily
from apps.chain.encoding import abi
from apps.chain.encoding.typed_data import domain_separator
from apps.chain.models import HotWallet
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.catalog import Finality, network_in_catalog
from apps.chain.networks.evm import op_fees
from apps.chain.networks.evm.addresses import NOBODY
from apps.chain.networks.evm.block_headers import header_of
from apps.chain.networks.evm.block_receipts import read_receipts
from apps.chain.networks.evm.block_transactions import check_transactions
from apps.chain.networks.finality import final_number
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.rpc import announcements
from apps.chain.rpc.batches import BATCH_MAX, LOG_SPAN_MAX, batch_size_of
from apps.chain.rpc.heard import hear
from apps.chain.rpc.state import MULTICALL
from apps.chain.sending import fees, permits, sweep_batches
from apps.chain.sending.fee_coins import fee_coin
from apps.core import clock
from apps.core.errors import ErrorCode, Failure

# A node that is behind by more is no use for a checkout.
TIP_LATE = timedelta(minutes=10)
_SAYS = {
    "name": "0x06fdde03",
    "version": "0x54fd4d50",
    "decimals": "0x313ce567",
    "separator": "0x3644e515",
}
_FINAL: dict[Finality, str] = {
    "epochs": "after two epochs, some 13 minutes",
    "ethereum": "when Ethereum has final data of it, some 15 to 20 minutes",
    "milestones": "at a milestone of the validators, some seconds",
    "instant": "as soon as it is there",
    "work": "never for sure",
}
_TEXT_MAX = 100


class Verdict(StrEnum):
    """Of one ability: it is there, something else is done instead, or the network can't be used
    with this node."""

    WORKS = "works"
    INSTEAD = "instead"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    ability: str
    verdict: Verdict
    text: str


class NotCheckable(Failure):
    """The text says why."""


def check_node(chain: Chain, url: str, ws_url: str = "") -> list[Finding]:
    """All that the product will ask of the node at an address, and hear at that of its websocket.
    Addresses are in no text. Raises NotCheckable."""
    if chain.family != NetworkFamily.EVM:
        raise NotCheckable(f"{chain.name} isn't of the EVM family, which alone can be checked")
    if not url.startswith(("http://", "https://")):
        raise NotCheckable("A node's address begins with https:// or http://")
    if ws_url and not ws_url.startswith(("ws://", "wss://")):
        raise NotCheckable("The address of a node's websocket begins with wss:// or ws://")
    with closing(nodes_of(chain, urls=[url])) as nodes:
        found = [*_findings(chain, nodes, url)]
    return found if len(found) == 1 else [*found, *_announced(chain, ws_url)]


def _findings(chain: Chain, nodes: Nodes, url: str) -> Iterator[Finding]:
    try:
        block = nodes.latest(0)
        header = header_of(block)
    except (RpcError, Inconsistent) as error:
        yield Finding("network", Verdict.MISSING, _short(error))
        return
    yield Finding("network", Verdict.WORKS, f"chain ID {chain.chain_id}, block {header.number}")
    asked = _Asked(chain, nodes, block, header.number, header.hash)
    for check in (
        *(_version, _age, _contracts, _tags, _receipts, _roots),
        *(_tracing, _logs, _state, _old_state, _fees, _limits, _model),
        *(_multicall, _permit2, _together),
    ):
        try:
            yield from check(asked)
        except RpcError as error:
            yield Finding(check.__name__.strip("_"), Verdict.MISSING, _short(error))
    yield from _batches(asked, url)


@dataclass(frozen=True)
class _Asked:
    chain: Chain
    nodes: Nodes
    block: Any
    number: int
    hash: str

    def answer(self, method: str, *parameters: Any) -> Any:
        """The result, or the node's refusal of the call. Raises RpcError where it says nothing."""
        return self.nodes.each([(method, [*parameters])])[0]

    def of_contract(self, contract: str, *names: str) -> list[Any]:
        calls: list[Call] = [
            ("eth_call", [{"to": contract, "data": _SAYS[name]}, "latest"]) for name in names
        ]
        return self.nodes.each(calls)


def _version(asked: _Asked) -> Iterator[Finding]:
    told = asked.answer("web3_clientVersion")
    if isinstance(told, str):
        yield Finding("software", Verdict.WORKS, told[:_TEXT_MAX])


def _age(asked: _Asked) -> Iterator[Finding]:
    age = clock.real_now() - header_of(asked.block).mined_at
    minutes = int(age.total_seconds() // 60)
    if age > TIP_LATE:
        yield Finding(
            "newest block",
            Verdict.MISSING,
            f"{minutes} minutes old: the node is behind, or the network stands still",
        )
    else:
        yield Finding("newest block", Verdict.WORKS, "less than ten minutes old")


def _contracts(asked: _Asked) -> Iterator[Finding]:
    for asset in Asset.objects.filter(chain=asked.chain).exclude(contract_address=None):
        yield _contract(asked, asset)
        if asset.eip712_name or asset.is_active:
            yield _domain(asked, asset)


def _contract(asked: _Asked, asset: Asset) -> Finding:
    contract = str(asset.contract_address)
    code = asked.answer("eth_getCode", contract, "latest")
    if isinstance(code, RpcError) or code in (None, "0x"):
        return Finding(asset.pk, Verdict.MISSING, f"there is no contract at {contract}")
    [told] = asked.of_contract(contract, "decimals")
    decimals = _read("uint8", told)
    if decimals is None:
        return Finding(asset.pk, Verdict.MISSING, "the contract doesn't say its decimals")
    if decimals != asset.atomic_decimals:
        return Finding(
            asset.pk,
            Verdict.MISSING,
            f"the contract has {decimals} decimals, and we count with {asset.atomic_decimals}",
        )
    return Finding(asset.pk, Verdict.WORKS, f"a contract with {decimals} decimals")


def _domain(asked: _Asked, asset: Asset) -> Finding:
    """Payments that are only signed need the domain as the contract has it."""
    ability = f"{asset.pk} signed"
    contract = str(asset.contract_address)
    separator, name, version = asked.of_contract(contract, "separator", "name", "version")
    found = _read("bytes32", separator)
    if found is None:
        if asset.eip712_name:
            return Finding(
                ability, Verdict.MISSING, "the contract has no DOMAIN_SEPARATOR, and ours is set"
            )
        return Finding(ability, Verdict.INSTEAD, "can't be paid by a signature: customers send it")
    chain_id = asked.chain.chain_id
    if asset.eip712_name:
        ours = domain_separator(asset.eip712_name, asset.eip712_version, chain_id, contract)
        if ours == found:
            text = f"EIP-712 name {asset.eip712_name}, version {asset.eip712_version}"
            return Finding(ability, Verdict.WORKS, text)
    told_name = _read("string", name)
    for told_version in (_read("string", version), "1", "2"):
        if not told_name or not told_version:
            continue
        if domain_separator(told_name, told_version, chain_id, contract) == found:
            text = f"the contract's EIP-712 name is {told_name}, version {told_version}"
            if asset.eip712_name:
                return Finding(ability, Verdict.MISSING, f"{text}, and ours is another")
            return Finding(ability, Verdict.INSTEAD, f"{text}: ours isn't set, so it isn't offered")
    if asset.eip712_name:
        return Finding(ability, Verdict.MISSING, "the contract's EIP-712 domain is another")
    return Finding(ability, Verdict.INSTEAD, "its EIP-712 domain isn't known: customers send it")


def _tags(asked: _Asked) -> Iterator[Finding]:
    known = network_in_catalog(asked.chain.pk)
    rule = f" ({asked.chain.name} is final {_FINAL[known.finality]})" if known else ""
    for tag in ("safe", "finalized"):
        told = asked.answer("eth_getBlockByNumber", tag, False)
        try:
            number = header_of(told).number
        except Inconsistent:
            text = f"not told: {_counted(asked.chain, tag)} confirmations are counted"
            yield Finding(f"tag {tag}", Verdict.INSTEAD, text + rule)
            continue
        behind = max(0, asked.number - number)
        text = f"{behind} blocks behind the newest{rule}"
        if asked.chain.finality_tag == tag and not asked.chain.counts_confirmations and not behind:
            text = (
                "the newest block has it, which isn't believed:"
                f" {_counted(asked.chain, tag)} confirmations are counted"
            )
            yield Finding(f"tag {tag}", Verdict.INSTEAD, text + rule)
            continue
        yield Finding(f"tag {tag}", Verdict.WORKS, text)


def _counted(chain: Chain, tag: str) -> int:
    """Confirmations that count where a node doesn't tell a tag."""
    stands_in = chain.tag_confirmations if chain.finality_tag == tag else 0
    return max(chain.required_confirmations, stands_in)


def _receipts(asked: _Asked) -> Iterator[Finding]:
    told = asked.answer("eth_getBlockReceipts", asked.hash)
    if isinstance(told, list):
        yield Finding("receipts by block", Verdict.WORKS, "eth_getBlockReceipts")
    else:
        text = "receipts are asked for one by one, which takes more calls"
        yield Finding("receipts by block", Verdict.INSTEAD, text)


def _roots(asked: _Asked) -> Iterator[Finding]:
    """The newest block that has transactions, of some, against its header."""
    for number in range(asked.number, max(-1, asked.number - 20), -1):
        block = asked.answer("eth_getBlockByNumber", hex(number), True)
        if isinstance(block, dict) and block.get("transactions"):
            break
    else:
        yield Finding("blocks and headers", Verdict.WORKS, "no recent block has a transaction")
        return
    try:
        check_transactions(asked.chain.pk, block, [])
        listed = block | {"transactions": [item["hash"] for item in block["transactions"]]}
        is_compared = read_receipts(asked.nodes, asked.chain.pk, listed) is not None
    except Inconsistent as error:
        text = f"{_short(error)}: nothing is credited, unless CHAIN_UNCOMPARED_ROOTS names it"
        yield Finding("blocks and headers", Verdict.MISSING, text)
        return
    if is_compared:
        yield Finding("blocks and headers", Verdict.WORKS, f"block {number} agrees with its header")
    else:
        text = "receipts can't be compared with the header: the node is believed"
        yield Finding("blocks and headers", Verdict.INSTEAD, text)


def _tracing(asked: _Asked) -> Iterator[Finding]:
    told = asked.answer("debug_traceBlockByHash", asked.hash, {"tracer": "callTracer"})
    if isinstance(told, list):
        yield Finding("tracing", Verdict.WORKS, "debug_traceBlockByHash")
    else:
        text = "payments by contracts are found by balances, and whose they are isn't known"
        yield Finding("tracing", Verdict.INSTEAD, text)


def _logs(asked: _Asked) -> Iterator[Finding]:
    told = asked.answer("eth_getLogs", {"blockHash": asked.hash})
    if not isinstance(told, list):
        yield Finding("logs by block", Verdict.MISSING, "tokens can't be seen: eth_getLogs by hash")
        return
    unknown = asked.answer("eth_getLogs", {"blockHash": "0x" + secrets.token_hex(32)})
    if isinstance(unknown, RpcError):
        yield Finding("logs by block", Verdict.WORKS, "eth_getLogs by a block's hash")
    else:
        text = "a block that the node doesn't know has no logs: the header's bloom filter decides"
        yield Finding("logs by block", Verdict.INSTEAD, text)
    first = max(0, asked.number - LOG_SPAN_MAX + 1)
    span = {"fromBlock": hex(first), "toBlock": hex(asked.number), "address": NOBODY}
    count = asked.number - first + 1
    if isinstance(asked.answer("eth_getLogs", span), list):
        yield Finding("logs of a range", Verdict.WORKS, f"{count} blocks in one question")
    else:
        text = f"not of {count} blocks: they are asked for in smaller parts, or block by block"
        yield Finding("logs of a range", Verdict.INSTEAD, text)


def _state(asked: _Asked) -> Iterator[Finding]:
    told = asked.answer("eth_getBalance", NOBODY, {"blockHash": asked.hash})
    if isinstance(told, str):
        yield Finding("balances by hash", Verdict.WORKS, "EIP-1898")
    else:
        text = "balances are asked for by number, and the block before and after"
        yield Finding("balances by hash", Verdict.INSTEAD, text)


def _tagged(asked: _Asked) -> int | None:
    if not asked.chain.finality_tag:
        return None
    try:
        told = asked.answer("eth_getBlockByNumber", asked.chain.finality_tag, False)
        return header_of(told).number
    except Inconsistent:
        return None


def _old_state(asked: _Asked) -> Iterator[Finding]:
    number = max(0, final_number(asked.chain, asked.number, _tagged(asked)) - 1)
    depth = asked.number - number
    if isinstance(asked.answer("eth_getBalance", NOBODY, hex(number)), str):
        yield Finding("older balances", Verdict.WORKS, f"{asked.number - number} blocks ago")
    else:
        text = f"none of {depth} blocks ago: verify_ledger --chain can't compare the books"
        yield Finding("older balances", Verdict.MISSING, text)


def _fees(asked: _Asked) -> Iterator[Finding]:
    methods: dict[str, Sequence[Any]] = {
        "eth_maxPriorityFeePerGas": (),
        "eth_feeHistory": (hex(fees.HISTORY_BLOCKS), "latest", [50]),
        "eth_gasPrice": (),
    }
    told = [name for name, given in methods.items() if _is_told(asked.answer(name, *given))]
    if not told:
        yield Finding("price of gas", Verdict.MISSING, f"none of {', '.join(methods)}")
    elif told[0] == "eth_maxPriorityFeePerGas":
        yield Finding("price of gas", Verdict.WORKS, told[0])
    else:
        yield Finding("price of gas", Verdict.INSTEAD, f"taken from {told[0]}")
    if told:
        tip = fees.offered_tip(asked.chain, asked.nodes, asked.block)
        price = fees.base_fee_of(asked.block) + tip
        ceiling = fees.ceiling_of(asked.chain)
        text = f"{price / fees.GWEI:.4g} gwei"
        if price > ceiling:
            most = f"{ceiling / fees.GWEI:g} gwei"
            text = f"{text}, above the ceiling of {most}: nothing is sent until it falls"
            yield Finding("price now", Verdict.MISSING, text)
        else:
            yield Finding("price now", Verdict.WORKS, text)


def _limits(asked: _Asked) -> Iterator[Finding]:
    wallet = HotWallet.objects.filter(chain=asked.chain).first()
    sender = wallet.address if wallet is not None else NOBODY
    told = asked.answer("eth_estimateGas", {"from": sender, "to": sender, "value": "0x0"})
    if isinstance(told, str):
        yield Finding("gas limits", Verdict.WORKS, f"a transfer of nothing: {int(told, 16)} gas")
    else:
        yield Finding("gas limits", Verdict.MISSING, "eth_estimateGas: nothing can be sent")


def _model(asked: _Asked) -> Iterator[Finding]:
    """Findings about the network's way to take fees."""
    model = asked.chain.fee_model
    if model == FeeModel.STABLECOIN:
        yield _coin_of_fees(asked)
    elif model == FeeModel.OP_STACK:
        prices = op_fees.prices_at(asked.nodes, "latest")
        if prices.base_fee_wei or prices.blob_base_fee_wei:
            yield Finding("fee model", Verdict.WORKS, "tells Ethereum's share of fees")
        else:
            text = "no prices of Ethereum (L1Block): its share of fees counts as none"
            yield Finding("fee model", Verdict.INSTEAD, text)
    else:
        yield Finding("fee model", Verdict.WORKS, FeeModel(model).label)


def _coin_of_fees(asked: _Asked) -> Finding:
    """Of a network that takes fees in a stablecoin: whether that is there."""
    coin = fee_coin(asked.chain).token
    if coin is None or not coin.contract_address:
        text = "no coin is known that pays fees: nothing can be sent"
        return Finding("fee model", Verdict.MISSING, text)
    code = asked.answer("eth_getCode", coin.contract_address, "latest")
    if not isinstance(code, str) or code == "0x":
        text = f"there is no {coin.pk}, in which fees are paid: nothing can be sent"
        return Finding("fee model", Verdict.MISSING, text)
    return Finding("fee model", Verdict.WORKS, f"in {coin.pk}")


def _multicall(asked: _Asked) -> Iterator[Finding]:
    code = asked.answer("eth_getCode", MULTICALL, "latest")
    if isinstance(code, str) and code != "0x":
        yield Finding("many balances", Verdict.WORKS, "Multicall3")
    else:
        yield Finding("many balances", Verdict.INSTEAD, "no Multicall3: one call each")


def _permit2(asked: _Asked) -> Iterator[Finding]:
    is_there = permits.is_there(asked.chain.chain_id, asked.nodes)
    done = "signed for it" if is_there else "sent: there is no Permit2"
    verdict = Verdict.WORKS if is_there else Verdict.INSTEAD
    yield Finding("Permit2", verdict, f"coins without signatures of their own are {done}")


def _together(asked: _Asked) -> Iterator[Finding]:
    way = sweep_batches.way_on(asked.chain, asked.nodes)
    if way.lack:
        rest = "each address gets its gas"
        if way.wallet:
            rest = f"tokens with signed transfers (EIP-3009) go in batches, of others {rest}"
        yield Finding("sweeps in batches", Verdict.INSTEAD, f"{way.lack}: {rest}")
    else:
        yield Finding("sweeps in batches", Verdict.WORKS, "by delegation (EIP-7702)")


def _batches(asked: _Asked, url: str) -> Iterator[Finding]:
    calls: list[Call] = [("eth_chainId", [])] * BATCH_MAX
    try:
        asked.nodes.each(calls)
    except RpcError as error:
        yield Finding("batches", Verdict.MISSING, _short(error))
        return
    size = batch_size_of(url).limit()
    if size >= BATCH_MAX:
        yield Finding("batches", Verdict.WORKS, f"{BATCH_MAX} calls in one request")
    else:
        text = f"{size} calls in one request: more are split, which takes longer"
        yield Finding("batches", Verdict.INSTEAD, text)


def _announced(chain: Chain, url: str) -> Iterator[Finding]:
    """Findings about what the node says by itself."""
    pace = f"asked for every {settings.CHAIN_POLL_SECONDS:g} seconds"
    unseen = "nothing is shown before a block has it"
    if not url:
        text = f"no address of a websocket: {pace}"
        yield Finding("new blocks", Verdict.INSTEAD, text)
        yield Finding("before a block", Verdict.INSTEAD, unseen)
        return
    try:
        heard = asyncio.run(hear(url, chain.chain_id, chain.block_milliseconds))
    except announcements.Lost as error:
        yield Finding("new blocks", Verdict.INSTEAD, f"the websocket: {error}; {pace}")
        yield Finding("before a block", Verdict.INSTEAD, unseen)
        return
    if heard.has_block:
        yield Finding("new blocks", Verdict.WORKS, "announced by the websocket")
    else:
        text = f"agreed to announce, and none came in {heard.seconds:.0f} seconds; {pace}"
        yield Finding("new blocks", Verdict.INSTEAD, text)
    if heard.has_whole:
        yield Finding("before a block", Verdict.WORKS, "transactions are announced whole")
    elif heard.has_hash:
        text = f"hashes alone are announced, which aren't read: {unseen}"
        yield Finding("before a block", Verdict.INSTEAD, text)
    elif heard.tells_waiting:
        text = "agreed to announce transactions, and none came: shown where they come whole"
        yield Finding("before a block", Verdict.INSTEAD, text)
    else:
        yield Finding("before a block", Verdict.INSTEAD, unseen)


def _is_told(answer: Any) -> bool:
    return answer is not None and not isinstance(answer, RpcError)


def _read(kind: str, told: Any) -> Any:
    """Value that a contract has answered; None where it has not."""
    try:
        return abi.decode((kind,), bytes.fromhex(told[2:]))[0]
    except (TypeError, ValueError):
        return None


def _short(error: RpcError | Inconsistent) -> str:
    code = getattr(error, "code", ErrorCode.UNREACHABLE)
    text = str(error)[:_TEXT_MAX]
    return text if code is not ErrorCode.UNSUPPORTED else f"{text} (the node lacks it)"
