"""Compares what a node says of a block with its header: as many transactions as the block has, and
the logs that its filter promises. What contradicts its header isn't believed (decision 516).

A node may list more than the header has: some networks add transactions of their own.
"""

from collections.abc import Collection, Sequence
from typing import Any

from apps.chain.encoding import bloom as blooms
from apps.chain.networks.base import BlockHeader, Inconsistent
from apps.chain.networks.evm.block_headers import TRANSFER_TOPIC, has_some, integer, settles_later
from apps.chain.providers.base import Call, Nodes, RpcError

_MALFORMED = (TypeError, KeyError, ValueError, AttributeError)


def read_logs(
    nodes: Nodes,
    chain_id: str,
    headers: Sequence[BlockHeader],
    blocks: Sequence[Any],
    contracts: Sequence[str],
) -> list[list[Any]]:
    """The logs of our tokens in each block, perhaps among others; none when there are no tokens.
    Raises Inconsistent when a list of transactions or logs is not all of its block."""
    counts: list[Call] = [
        ("eth_getBlockTransactionCountByHash", [header.hash]) for header in headers
    ]
    told_blooms = [
        None if settles_later(chain_id, block) else blooms.read(block) for block in blocks
    ]
    busy = [
        header
        for header, bloom in zip(headers, told_blooms, strict=True)
        if contracts and not _is_quiet(bloom)
    ]
    together = _of_ranges(nodes, busy, contracts)
    by_hash = [
        (header, bloom)
        for header, bloom in zip(headers, told_blooms, strict=True)
        if header.hash not in together
    ]
    log_calls = [
        _logs_call(header, () if _is_quiet(bloom) else contracts) for header, bloom in by_hash
    ]
    answers = nodes.each([*counts, *(log_calls if contracts else [])])
    for header, block, count in zip(headers, blocks, answers, strict=False):
        _check_transactions(header, block, count)
    if not contracts:
        return [[] for _ in headers]
    alone = zip((header.hash for header, _ in by_hash), answers[len(counts) :], strict=True)
    told = {**together, **dict(alone)}
    return [
        _complete(nodes, header, bloom, told[header.hash], contracts)
        for header, bloom in zip(headers, told_blooms, strict=True)
    ]


def _of_ranges(
    nodes: Nodes, headers: Sequence[BlockHeader], contracts: Sequence[str]
) -> dict[str, list[Any]]:
    """The logs of blocks that are read together, by the block's hash, from as few questions as the
    node allows. Those of a range that it refuses, or of which it tells other blocks than these, are
    left out, to be asked for by hash. What a range lacks, the block's filter promises."""
    found: dict[str, list[Any]] = {}
    left = [[*headers]]
    while left:
        part = left.pop()
        most = nodes.log_span.limit()
        if min(len(part), most) < 2:
            continue
        if _length(part) > most:
            left += [part[: len(part) // 2], part[len(part) // 2 :]]
            continue
        [logs] = nodes.each([_range_call(part, contracts)])
        if isinstance(logs, RpcError):
            nodes.log_span.refused(_length(part))
            left.append(part)
        elif (by_block := _by_block(part, logs)) is not None:
            found |= by_block
    return found


def _length(headers: Sequence[BlockHeader]) -> int:
    return headers[-1].number - headers[0].number + 1


def _by_block(headers: Sequence[BlockHeader], logs: Any) -> dict[str, list[Any]] | None:
    """None where the answer is of another branch, or no list of logs."""
    hashes = {header.number: header.hash for header in headers}
    found: dict[str, list[Any]] = {header.hash: [] for header in headers}
    try:
        for log in logs:
            number = integer(log["blockNumber"])
            if number not in hashes:  # a quiet block in between has its own question
                continue
            if log["blockHash"].lower() != hashes[number]:
                return None
            found[hashes[number]].append(log)
    except _MALFORMED:
        return None
    return found


def _check_transactions(header: BlockHeader, block: Any, count: Any) -> None:
    """`count` is asked for apart, so that a list that was cut is found; a node that can't tell it
    is believed without."""
    try:
        transactions = block["transactions"]
        for transaction in transactions:
            own_hash = transaction.get("blockHash")
            if own_hash is not None and own_hash.lower() != header.hash:
                raise Inconsistent(f"a transaction of another block than {header.number}")
        is_short = not transactions and has_some(block.get("transactionsRoot"))
        if not isinstance(count, RpcError):
            is_short = is_short or len(transactions) < integer(count)
    except _MALFORMED:
        raise Inconsistent(f"block {header.number} has a transaction that isn't one") from None
    if is_short:
        raise Inconsistent(f"block {header.number} has more transactions than were listed")


def _is_quiet(bloom: int | None) -> bool:
    return bloom is not None and blooms.is_quiet(bloom)


def _complete(
    nodes: Nodes, header: BlockHeader, bloom: int | None, logs: Any, contracts: Sequence[str]
) -> list[Any]:
    """The logs of a block, compared with its filter. All of a quiet block were asked for, and of
    another one all are asked for when a token's are missing that the filter promises."""
    is_whole = _is_quiet(bloom)
    if is_whole and isinstance(logs, RpcError):
        is_whole = False
        logs = nodes.call(*_logs_call(header, contracts))
    if isinstance(logs, RpcError):
        raise logs
    try:
        if not is_whole and bloom is not None and _lacks(bloom, logs, contracts):
            logs = nodes.call(*_logs_call(header, ()))
            is_whole = True
        if is_whole and bloom is not None:
            _check_whole(header, bloom, logs)
        if bloom is not None:
            _check_strangers(nodes, header, bloom, logs, contracts)
        return list(logs)
    except _MALFORMED:
        raise Inconsistent(f"block {header.number} has a log that isn't one") from None


def _lacks(bloom: int, logs: Any, contracts: Collection[str]) -> bool:
    """Tell whether the filter has a token without a log; in a busy block it may be wrong."""
    if not blooms.contains(bloom, [TRANSFER_TOPIC]):
        return False
    present = {log["address"].lower() for log in logs}
    return any(
        contract not in present and blooms.contains(bloom, [contract]) for contract in contracts
    )


def _check_whole(header: BlockHeader, bloom: int, logs: Any) -> None:
    """All logs of a block explain every bit of its filter, and none is left out between two."""
    places = {integer(log["logIndex"]) for log in logs}
    has_gap = bool(places) and max(places) - min(places) + 1 != len(places)
    if bloom & ~blooms.of_logs(logs) or has_gap:
        raise Inconsistent(f"block {header.number} has more logs than were listed")


def _check_strangers(
    nodes: Nodes, header: BlockHeader, bloom: int, logs: Any, contracts: Collection[str]
) -> None:
    """A log that the filter denies is believed when its transaction's receipt has it as well: such
    are the networks' own, of bridges."""
    strangers = [
        log for log in logs if log["address"].lower() in contracts and blooms.of_log(log) & ~bloom
    ]
    receipts = nodes.batch(
        [("eth_getTransactionReceipt", [log["transactionHash"]]) for log in strangers]
    )
    for log, receipt in zip(strangers, receipts, strict=True):
        is_there = (
            isinstance(receipt, dict)
            and receipt["blockHash"].lower() == header.hash
            and _named(log) in [_named(entry) for entry in receipt["logs"]]
        )
        if not is_there:
            raise Inconsistent(f"block {header.number} has a log that its header denies")


def _named(log: Any) -> tuple[Any, ...]:
    return integer(log["logIndex"]), log["address"].lower(), log["topics"], log["data"]


def _range_call(headers: Sequence[BlockHeader], contracts: Sequence[str]) -> Call:
    log_filter = {"fromBlock": hex(headers[0].number), "toBlock": hex(headers[-1].number)}
    return "eth_getLogs", [{**log_filter, "address": [*contracts], "topics": [TRANSFER_TOPIC]}]


def _logs_call(header: BlockHeader, contracts: Sequence[str]) -> Call:
    """Transfers of these tokens; without any, all logs of the block."""
    log_filter: dict[str, object] = {"blockHash": header.hash}
    if contracts:
        log_filter |= {"address": list(contracts), "topics": [TRANSFER_TOPIC]}
    return "eth_getLogs", [log_filter]
