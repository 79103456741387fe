"""JSON-RPC over HTTP to the nodes that the operator configured. The next one is used when one
fails, answers rubbish or lags.

A node of another chain, or with another first block, is never listened to. Addresses of nodes may
hold credentials: they are never logged and are in no error text; a node is called by its place in
the list.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

import orjson
import requests
import structlog
from prometheus_client import Counter

from apps.chain.providers.base import Call, RpcError
from apps.chain.rpc.batches import LogSpan, batch_size_of
from apps.chain.rpc.refusals import code_of, is_of_batch
from apps.core.errors import ErrorCode

CONNECT_SECONDS = 3.0
READ_SECONDS = 10.0
TOTAL_SECONDS = 30.0
ANSWER_BYTES_MAX = 32 * 1024 * 1024
IDENTIFY_SECONDS = 60.0
COMPARE_SECONDS = 15.0
PAUSE_SECONDS_MAX = 60.0
# Methods that a node lacks are logged once; so many are remembered.
LACKING_MAX = 1000

log = structlog.get_logger(__name__)
_failures = Counter(
    "tillgate_chain_rpc_errors", "Failed requests to chain nodes", ["chain", "node"]
)
_lacking: set[tuple[str, ...]] = set()


class CallRefused(RpcError):
    """The node belongs to another chain."""


class BatchFailed(RpcError):
    """A node gave several calls no usable answer. Asked one of them alone, it says whether that was
    for their number: the same `answer` isn't."""

    def __init__(self, error: RpcError) -> None:
        super().__init__(str(error), error.code)
        self.answer = getattr(error, "answer", None)


class NodeRefusal(RpcError):
    """With the `error` object as the node wrote it."""

    def __init__(self, node: str, answer: Any) -> None:
        text = answer.get("message") if isinstance(answer, dict) else None
        super().__init__(f"{node}: {str(text)[:200]}", code_of(answer))
        self.answer = answer


class TooSlow(RpcError):
    """No answer, or not all of it, within the time."""


class Node:
    """An address: its session, when it was last identified, and until when it rests after a
    failure."""

    # Of answers that have a body to read.
    statuses: tuple[int, ...] = (200,)

    def __init__(
        self, chain: str, place: int, url: str, patience_seconds: float | None = None
    ) -> None:
        self.name = f"{chain} node {place}"
        self._chain = chain
        self._url = url
        self._batch_size = batch_size_of(url)
        self._read_seconds = min(READ_SECONDS, patience_seconds or READ_SECONDS)
        self._total_seconds = patience_seconds or TOTAL_SECONDS
        self._session = requests.Session()
        self._session.trust_env = False
        self.identified_at: float | None = None
        self.rests_until = 0.0
        self._pause_seconds = 0.5

    def ask(self, calls: Sequence[Call]) -> list[Any]:
        results = self.each(calls)
        for result in results:
            if isinstance(result, RpcError):
                raise result
        return results

    def each(self, calls: Sequence[Call]) -> list[Any]:
        """As `ask`, with what it refuses in its place."""
        results: list[Any] = []
        while len(results) < len(calls):
            limit = self._batch_size.limit()
            results += self._part(calls[len(results) : len(results) + limit])
        return results

    def failed(self) -> None:
        self.identified_at = None
        self.rests_until = time.monotonic() + self._pause_seconds
        self._pause_seconds = min(self._pause_seconds * 2, PAUSE_SECONDS_MAX)

    def worked(self) -> None:
        self.rests_until = 0.0
        self._pause_seconds = 0.5

    def close(self) -> None:
        self._session.close()

    def _part(self, calls: Sequence[Call]) -> list[Any]:
        """The answers to these, or to the first of them, when so many are too many."""
        try:
            results = self._ask(calls)
        except BatchFailed as error:
            [first] = self._ask(calls[:1])
            if isinstance(first, NodeRefusal) and first.answer == error.answer:
                raise first from None
            self._batch_size.refused(len(calls), self._chain, self.name)
            return [first]
        except TooSlow:
            self._batch_size.slow(len(calls), self._chain, self.name)
            raise
        self._batch_size.accepted(len(calls), self._chain, self.name)
        return results

    def _ask(self, calls: Sequence[Call]) -> list[Any]:
        requests = [
            {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
            for number, (method, parameters) in enumerate(calls)
        ]
        if len(requests) == 1:
            return [self._alone(self._post(orjson.dumps(requests[0])))]
        try:
            return self._together(self._post(orjson.dumps(requests)), len(requests))
        except TooSlow:
            raise
        except RpcError as error:
            raise BatchFailed(error) from None

    def _alone(self, answer: Any) -> Any:
        answers = answer if isinstance(answer, list) else [answer]
        result = self._result(answers[0] if answers and isinstance(answers[0], dict) else {})
        if isinstance(result, RpcError) and not result.is_refusal:
            raise result
        return result

    def _together(self, answer: Any, count: int) -> list[Any]:
        """A result for each call; RpcError when any has none, or the batch itself was refused."""
        answers = answer if isinstance(answer, list) else [answer]
        by_id = {entry.get("id"): entry for entry in answers if isinstance(entry, dict)}
        for number, entry in by_id.items():
            error = entry.get("error")
            has_place = isinstance(number, int) and 0 <= number < count and answers is answer
            if error is not None and (not has_place or is_of_batch(error)):
                raise NodeRefusal(self.name, error)
        results = [self._result(by_id.get(number, {})) for number in range(count)]
        for result in results:
            if isinstance(result, RpcError) and not result.is_refusal:
                raise result
        return results

    def _result(self, answer: Mapping[str, Any]) -> Any:
        if answer.get("error") is not None:
            return NodeRefusal(self.name, answer["error"])
        return (
            answer["result"]
            if "result" in answer
            else RpcError(f"{self.name}: an answer without a result")
        )

    def _post(self, body: bytes) -> Any:
        deadline = time.monotonic() + self._total_seconds
        try:
            response = self._session.post(
                self._url,
                data=body,
                headers={"Content-Type": "application/json"},
                timeout=(min(CONNECT_SECONDS, self._read_seconds), self._read_seconds),
                stream=True,
                allow_redirects=False,
            )
            with closing(response):
                if response.status_code not in self.statuses:
                    raise RpcError(f"{self.name}: HTTP {response.status_code}")
                return orjson.loads(self._read(response, deadline))
        except (requests.RequestException, OSError) as error:  # its text has the address
            kind = TooSlow if isinstance(error, requests.Timeout) else RpcError
            raise kind(f"{self.name}: {type(error).__name__}") from None
        except ValueError:
            raise RpcError(f"{self.name}: the answer isn't JSON") from None

    def _read(self, response: requests.Response, deadline: float) -> bytes:
        content = bytearray()
        for part in response.iter_content(64 * 1024):
            content += part
            if len(content) > ANSWER_BYTES_MAX:
                raise RpcError(f"{self.name}: the answer is too large")
            if time.monotonic() > deadline:
                raise TooSlow(f"{self.name}: the answer takes too long")
        return bytes(content)


_Ask = Callable[[Node, Sequence[Call]], list[Any]]


class JsonRpc:
    """The nodes of one chain, for one thread. It stays with a node as long as that one works and
    keeps up."""

    node: type[Node] = Node

    def __init__(
        self,
        chain: str,
        chain_id: int,
        urls: Sequence[str],
        genesis_hash: str = "",
        patience_seconds: float | None = None,
    ) -> None:
        self.genesis_hash = genesis_hash
        self.calls_made = 0
        self.takes_hashes = False
        self.log_span = LogSpan()
        self._chain = chain
        self._chain_id = chain_id
        self._nodes = [
            self.node(chain, place, url, patience_seconds) for place, url in enumerate(urls, 1)
        ]
        self._compared_at: float | None = None

    def call(self, method: str, parameters: list[Any]) -> Any:
        return self.batch([(method, parameters)])[0]

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        return self._first(calls, Node.ask)

    def each(self, calls: Sequence[Call]) -> list[Any]:
        return self._first(calls, Node.each) if calls else []

    def anyone(self, calls: Sequence[Call]) -> list[Any]:
        results: list[Any] = [None] * len(calls)
        has_answered = not calls
        last = RpcError(f"{self._chain}: no node is configured")
        for node in self._in_order():
            missing = [place for place, answer in enumerate(results) if answer is None]
            if not missing:
                break
            try:
                answers = self._ask(node, [calls[place] for place in missing], Node.each)
            except RpcError as error:
                last = error
                continue
            has_answered = True
            for place, answer in zip(missing, answers, strict=True):
                results[place] = None if isinstance(answer, RpcError) else answer
        if not has_answered:
            raise last
        return results

    def _first(self, calls: Sequence[Call], ask: _Ask) -> list[Any]:
        """Answers of the first node that answers."""
        last = RpcError(f"{self._chain}: no node is configured")
        for node in self._in_order():
            try:
                results = self._ask(node, calls, ask)
            except RpcError as error:
                last = error
                continue
            self._prefer(node)
            return results
        raise last

    def latest(self, known_number: int) -> Any:
        block = self._newest()
        now = time.monotonic()
        is_due = self._compared_at is None or now - self._compared_at > COMPARE_SECONDS
        if len(self._nodes) == 1 or (self._height(block) >= known_number and not is_due):
            return block
        self._compared_at = now
        return self._highest(block)

    def doubt(self) -> None:
        _failures.labels(self._chain, self._nodes[0].name).inc()
        self._nodes[0].failed()

    def close(self) -> None:
        for node in self._nodes:
            node.close()

    def _newest(self) -> Any:
        """The newest block, once its node has said again which chain it is on."""
        answers = self.batch([("eth_chainId", []), ("eth_getBlockByNumber", ["latest", False])])
        if answers[0] != hex(self._chain_id):
            node = self._nodes[0]
            node.failed()
            raise self._refuse(node, f"it is on chain {str(answers[0])[:30]}")
        if self._height(answers[1]) < 0:
            raise RpcError(f"{self._nodes[0].name}: no newest block")
        return answers[1]

    def _newest_of(self, node: Node) -> Any:
        return self._ask(node, [("eth_getBlockByNumber", ["latest", False])])[0]

    def _height(self, block: Any) -> int:
        """The number of a block; -1 when this isn't one."""
        try:
            return int(block["number"], 16)
        except (TypeError, KeyError, ValueError):
            return -1

    def _highest(self, block: Any) -> Any:
        """The newest block of the node that is furthest; we go on with that node."""
        best = self._nodes[0]
        for node in [
            candidate for candidate in self._nodes[1:] if candidate.rests_until <= time.monotonic()
        ]:
            try:
                other = self._newest_of(node)
            except RpcError:
                continue
            if self._height(other) > self._height(block):
                best = node
                block = other
        if best is not self._nodes[0]:
            log.warning("node_lags", node=self._nodes[0].name, instead=best.name)
            self._prefer(best)
        return block

    def _in_order(self) -> list[Node]:
        """The preferred node first; those that rest after a failure last."""
        now = time.monotonic()
        return sorted(self._nodes, key=lambda node: node.rests_until > now)

    def _prefer(self, node: Node) -> None:
        if self._nodes[0] is not node:
            self._nodes.remove(node)
            self._nodes.insert(0, node)

    def _ask(self, node: Node, calls: Sequence[Call], ask: _Ask = Node.ask) -> list[Any]:
        try:
            if (
                node.identified_at is None
                or time.monotonic() - node.identified_at > IDENTIFY_SECONDS
            ):
                self._identify(node)
            self.calls_made += len(calls)
            results = ask(node, calls)
        except RpcError as error:
            self._note(node, calls, error)
            raise
        node.worked()
        return results

    def _note(self, node: Node, calls: Sequence[Call], error: RpcError) -> None:
        """A contract that reverts, and a method that the node doesn't have, are no failures of the
        node."""
        if error.code is ErrorCode.REVERTED:
            return
        if error.code is ErrorCode.UNSUPPORTED:
            asked_for = (node.name, *{method for method, _ in calls})
            if asked_for not in _lacking and len(_lacking) < LACKING_MAX:
                _lacking.add(asked_for)
                log.info("node_lacks_method", node=node.name, answer=str(error))
            return
        _failures.labels(self._chain, node.name).inc()
        if not error.is_refusal:
            node.failed()
        log.warning("node_failed", node=node.name, error=str(error))

    def _identify(self, node: Node) -> None:
        """Hear which chain the node is on and how that chain began."""
        self.calls_made += 2
        chain_id, first = node.ask([("eth_chainId", []), ("eth_getBlockByNumber", ["0x0", False])])
        if chain_id != hex(self._chain_id):
            raise self._refuse(node, f"it is on chain {str(chain_id)[:30]}")
        genesis_hash = first.get("hash") if isinstance(first, dict) else None
        if not isinstance(genesis_hash, str):
            raise RpcError(f"{node.name}: no first block")
        if self.genesis_hash and genesis_hash != self.genesis_hash:
            raise self._refuse(node, "its chain began with another block")
        self.genesis_hash = genesis_hash
        self._identified(node)

    def _identified(self, node: Node) -> None:
        node.identified_at = time.monotonic()

    def _refuse(self, node: Node, why: str) -> CallRefused:
        log.error("node_refused", node=node.name, reason=why)
        return CallRefused(f"{node.name} is refused: {why}")
