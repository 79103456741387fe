"""Transfers of contracts to an address in a block, by the traces of its transactions.

A trace belongs to the transaction that it names. One that is missing, was given up or can't be read
is asked for alone; a transaction that can't be traced costs only itself.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import structlog

from apps.chain.models import Block
from apps.chain.networks.base import Inconsistent, Transfer
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.core.errors import ErrorCode

FIRST_LOG_INDEX = -2
MOVING = frozenset({"CALL", "CREATE", "CREATE2", "SELFDESTRUCT"})
PLAIN_GAS = 21_000  # a transaction that may use no more calls no code
ALONE_MAX = 300
_TRACER = {"tracer": "callTracer"}
# For one alone: longer than the five seconds that nodes give each of a block, shorter than an
# answer may take.
_TRACER_ALONE = {"tracer": "callTracer", "timeout": "8s"}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Traced:
    """The transfers by the traces. `untraced` are the transactions without one; `can_trace` is
    false for a node that doesn't do it."""

    transfers: list[Transfer] = field(default_factory=list)
    untraced: frozenset[str] = frozenset()
    can_trace: bool = True


# A call as the tracer tells it. What a node leaves out or writes otherwise is found where it is
# read.
Frame = TypedDict(
    "Frame",
    {"type": str, "from": str, "to": str, "value": str, "error": str, "calls": "list[Frame]"},
    total=False,
)


def inner_transfers(nodes: Nodes, block: Block, address: str) -> Traced:
    """Raises RpcError when the block itself can't be read."""
    try:
        answer = nodes.call("debug_traceBlockByHash", [block.hash, _TRACER])
    except RpcError as error:
        if error.code is ErrorCode.UNSUPPORTED:
            return Traced(can_trace=False)
        answer = None
    hashes = _hashes_of(nodes, block)
    by_hash: dict[str, list[Transfer]] = {}
    for tx_hash, frame in _frames_of(answer, frozenset(hashes)):
        _keep(by_hash, tx_hash, frame, address)
    _trace_alone(nodes, [tx_hash for tx_hash in hashes if tx_hash not in by_hash], by_hash, address)
    transfers = [transfer for tx_hash in hashes for transfer in by_hash.get(tx_hash, ())]
    untraced = frozenset(hashes) - by_hash.keys()
    if untraced:
        log.warning(
            "transactions_untraced",
            chain=block.chain_id,
            block=block.number,
            count=len(untraced),
            of=len(hashes),
        )
    return Traced(transfers, frozenset(untraced))


def _hashes_of(nodes: Nodes, block: Block) -> list[str]:
    """The block's transactions that may have called code, in their order."""
    answer = nodes.call("eth_getBlockByHash", [block.hash, True])
    try:
        return [
            transaction["hash"].lower()
            for transaction in answer["transactions"]
            if int(transaction.get("gas") or "0x0", 16) != PLAIN_GAS
        ]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise Inconsistent(f"block {block.number} has a transaction that isn't one") from None


def _frames_of(answer: Any, hashes: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The traces of a block by transaction. One that names none, as old nodes write them, is
    nobody's."""
    for trace in answer if isinstance(answer, list) else ():
        tx_hash = trace.get("txHash") if isinstance(trace, Mapping) else None
        if isinstance(tx_hash, str) and tx_hash.lower() in hashes:
            yield tx_hash.lower(), trace.get("result")


def _trace_alone(
    nodes: Nodes, hashes: Sequence[str], by_hash: dict[str, list[Transfer]], address: str
) -> None:
    """Those that the block's traces leave out; what can't be traced so either stays left out."""
    calls: list[Call] = [
        ("debug_traceTransaction", [tx_hash, _TRACER_ALONE]) for tx_hash in hashes[:ALONE_MAX]
    ]
    try:
        answers = nodes.each(calls)
    except RpcError:
        return
    for tx_hash, answer in zip(hashes, answers, strict=False):
        if not isinstance(answer, RpcError):
            _keep(by_hash, tx_hash, answer, address)


def _keep(by_hash: dict[str, list[Transfer]], tx_hash: str, frame: Any, address: str) -> None:
    """A trace that isn't one is as good as none."""
    try:
        by_hash[tx_hash] = [
            Transfer(
                "",
                tx_hash,
                FIRST_LOG_INDEX - place,
                inner["from"].lower(),
                address,
                int(inner["value"], 16),
            )
            for place, inner in enumerate(value_frames(frame))
            if inner["to"].lower() == address
        ]
    except (TypeError, KeyError, ValueError, AttributeError):
        by_hash.pop(tx_hash, None)


def value_frames(top: Frame) -> Iterator[Frame]:
    """The calls inside a call that moved coins, in order; nothing below a failed one did."""
    if top["type"] and top.get("error"):
        return
    waiting = list(reversed(top.get("calls") or ()))
    while waiting:
        frame = waiting.pop()
        if frame.get("error"):
            continue
        if frame["type"] in MOVING and int(frame.get("value") or "0x0", 16) > 0:
            yield frame
        waiting += reversed(frame.get("calls") or ())
