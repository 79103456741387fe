"""Many balances as of one block: by Multicall3 where the chain has it, else one by one.

The block is named by its hash. A node that can't be asked so is asked by the number, between two
looks at the header there, which must be the same block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.chain.providers.base import Call, Nodes, RpcError

# At the same address on nearly every chain: github.com/mds1/multicall3.
MULTICALL = "0xca11bde05977b3631167028862be2a173976ca11"
CALLS_MAX = 200
# Fewer are as well asked one by one.
CALLS_MIN = 10
_AGGREGATE = "0x82ad56cb"  # aggregate3((address,bool,bytes)[])
_NATIVE = "4d2301cc"  # getEthBalance(address)
_WORD = 64


@dataclass(frozen=True)
class BlockReference:
    """A block that is to be asked about."""

    number: int
    hash: str


def each_at(nodes: Nodes, calls: Sequence[Call], at: BlockReference) -> list[Any]:
    """The answers to calls of `eth_getBalance`, `eth_getTransactionCount` and `eth_call`, with a
    refusal (RpcError) in its place. The block takes the place of their last parameter. Raises
    RpcError."""
    if not calls:
        return []
    answers = _ask(nodes, calls, {"blockHash": at.hash})
    if nodes.takes_hashes or any(not isinstance(answer, RpcError) for answer in answers):
        nodes.takes_hashes = True
        return answers
    header: Call = ("eth_getBlockByNumber", [hex(at.number), False])
    before = nodes.call(*header)
    by_number = _ask(nodes, calls, hex(at.number))
    for block in (before, nodes.call(*header)):
        if not isinstance(block, dict) or str(block.get("hash")).lower() != at.hash.lower():
            raise RpcError(f"block {at.number} is another one now")
    return by_number


def _ask(nodes: Nodes, calls: Sequence[Call], block: Any) -> list[Any]:
    pinned: list[Call] = [(method, [*parameters[:-1], block]) for method, parameters in calls]
    answers: dict[int, Any] = {}
    if len(pinned) >= CALLS_MIN and all(_inner(call) is not None for call in pinned):
        answers = _together(nodes, pinned, block)
    alone = [place for place in range(len(pinned)) if place not in answers]
    answers |= zip(alone, nodes.each([pinned[place] for place in alone]), strict=True)
    return [answers[place] for place in range(len(pinned))]


def _together(nodes: Nodes, calls: Sequence[Call], block: Any) -> dict[int, Any]:
    """The answers of Multicall3, by place: none where it is missing, or where it contradicts what
    the node says of one of them alone."""
    [code] = nodes.each([("eth_getCode", [MULTICALL, block])])
    if isinstance(code, RpcError) or code in ("0x", None):
        return {}
    answers: dict[int, Any] = {}
    for start in range(0, len(calls), CALLS_MAX):
        part = calls[start : start + CALLS_MAX]
        data = _AGGREGATE + _written([inner for call in part if (inner := _inner(call))])
        [answer] = nodes.each([("eth_call", [{"to": MULTICALL, "data": data}, block])])
        for place, figure in enumerate(_read(answer, len(part))):
            if figure is not None:
                answers[start + place] = figure
    # The one with the most says whether the contract is what it should be.
    sample = max(answers, key=lambda place: int(answers[place], 16), default=None)
    if sample is None:
        return {}
    [alone] = nodes.each([calls[sample]])
    if isinstance(alone, RpcError) or _number(alone) != int(answers[sample], 16):
        return {}
    return answers


def _inner(call: Call) -> tuple[str, str] | None:
    """Contract and data of the same question for Multicall3; None when it can't ask it."""
    method, parameters = call
    if method == "eth_getBalance":
        return MULTICALL, f"{_NATIVE}{parameters[0][2:]:0>64}"
    if method == "eth_call" and set(parameters[0]) == {"to", "data"}:
        return parameters[0]["to"], parameters[0]["data"][2:]
    return None


def _written(inner: Sequence[tuple[str, str]]) -> str:
    """The arguments: a list of (target, may fail, data)."""
    tails = []
    for target, data in inner:
        padded = data + "0" * (-len(data) % _WORD)
        tails.append(f"{target[2:]:0>64}{1:064x}{96:064x}{len(data) // 2:064x}{padded}")
    heads = []
    offset = 32 * len(tails)
    for tail in tails:
        heads.append(f"{offset:064x}")
        offset += len(tail) // 2
    return f"{32:064x}{len(tails):064x}" + "".join(heads) + "".join(tails)


def _read(answer: Any, count: int) -> list[str | None]:
    """A list of (has succeeded, data), as hex quantities; None for what is no single word, which is
    asked for alone. All None for what isn't such a list."""
    nothing: list[str | None] = [None] * count
    try:
        data = bytes.fromhex(answer[2:])
        if _word(data, 0) != 32 or _word(data, 32) != count:
            return nothing
        return [_entry(data, 64 + _word(data, 64 + 32 * place)) for place in range(count)]
    except (TypeError, ValueError, AttributeError):
        return nothing


def _entry(data: bytes, start: int) -> str | None:
    has_succeeded = _word(data, start) == 1
    body = start + _word(data, start + 32)
    return hex(_word(data, body + 32)) if has_succeeded and _word(data, body) == 32 else None


def _word(data: bytes, start: int) -> int:
    word = data[start : start + 32]
    if len(word) != 32:
        raise ValueError("cut short")
    return int.from_bytes(word)


def _number(answer: Any) -> int:
    try:
        return int(answer, 16)
    except (TypeError, ValueError):
        return -1
