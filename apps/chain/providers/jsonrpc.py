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
import structlog
from prometheus_client import Counter

from apps.chain.providers.base import Call, RpcError
from apps.core.errors import ErrorCode
from apps.core.http import requests

CONNECT_SECONDS = 3.0
READ_SECONDS = 10.0
TOTAL_SECONDS = 30.0
ANSWER_BYTES_MAX = 32 * 1024 * 1024
BATCH_MAX = 100
IDENTIFY_SECONDS = 60.0
COMPARE_SECONDS = 15.0
PAUSE_SECONDS_MAX = 60.0
_REVERTED = 3  # Geth's own
# What a contract that reverts hands back: Error(string) and Panic(uint256). Nethermind puts it in
# words.
_REVERT_DATA = ("0x08c379a0", "0x4e487b71", "Reverted")

log = structlog.get_logger(__name__)
_failures = Counter(
    "tillgate_chain_rpc_errors", "Failed requests to chain nodes", ["chain", "node"]
)


def code_of(error: Any) -> ErrorCode:
    """What a node's `error` object means. Here alone its words are read, as the last resort: nodes
    agree on no code for a revert."""
    code, data, text = (
        (error.get(key) for key in ("code", "data", "message"))
        if isinstance(error, dict)
        else (None, None, None)
    )
    says_why = isinstance(data, str) and data.startswith(_REVERT_DATA)
    if code == _REVERTED or says_why or "revert" in str(text).lower():
        return ErrorCode.REVERTED
    return ErrorCode.REFUSED if isinstance(code, int) else ErrorCode.MALFORMED


class CallRefused(RpcError):
    """The node belongs to another chain."""


class Node:
    """One address: its session, when it was last identified, and until when it rests after a
    failure."""

    def __init__(self, name: str, url: str, patience_seconds: float | None = None) -> None:
        self.name = name
        self._url = url
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
        for start in range(0, len(calls), BATCH_MAX):
            results += self._ask(calls[start : start + BATCH_MAX])
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

    def _ask(self, calls: Sequence[Call]) -> list[Any]:
        requests = [
            {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
            for number, (method, parameters) in enumerate(calls)
        ]
        answer = self._post(orjson.dumps(requests if len(requests) > 1 else requests[0]))
        answers = answer if isinstance(answer, list) else [answer]
        by_id = {entry.get("id"): entry for entry in answers if isinstance(entry, dict)}
        results = [self._result(by_id.get(number, {})) for number in range(len(calls))]
        for entry in by_id.values():  # of the whole batch, or without a place in it
            if entry.get("error") is not None and not (
                isinstance(entry.get("id"), int) and 0 <= entry["id"] < len(calls)
            ):
                raise self._refusal(entry["error"])
        for result in results:
            if isinstance(result, RpcError) and not result.is_refusal:
                raise result
        return results

    def _result(self, answer: Mapping[str, Any]) -> Any:
        if answer.get("error") is not None:
            return self._refusal(answer["error"])
        return (
            answer["result"]
            if "result" in answer
            else RpcError(f"{self.name}: an answer without a result")
        )

    def _refusal(self, error: Any) -> RpcError:
        text = error.get("message") if isinstance(error, dict) else None
        return RpcError(f"{self.name}: {str(text)[:200]}", code_of(error))

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
                if response.status_code != 200:
                    raise RpcError(f"{self.name}: HTTP {response.status_code}")
                return orjson.loads(self._read(response, deadline))
        except (requests.RequestException, OSError) as error:
            raise RpcError(
                f"{self.name}: {type(error).__name__}"
            ) from None  # its text has the address
        except ValueError:
            raise RpcError(f"{self.name}: the answer isn't JSON") from None

    def _read(self, response: requests.Response, deadline: float) -> bytes:
        content = bytearray()
        for part in response.iter_content(64 * 1024):
            content += part
            if len(content) > ANSWER_BYTES_MAX:
                raise RpcError(f"{self.name}: the answer is too large")
            if time.monotonic() > deadline:
                raise RpcError(f"{self.name}: the answer takes too long")
        return bytes(content)


_Ask = Callable[[Node, Sequence[Call]], list[Any]]


class JsonRpc:
    """The nodes of one chain, for one thread. It stays with a node as long as that one works and
    keeps up."""

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
        self._chain = chain
        self._chain_id = chain_id
        self._nodes = [
            Node(f"{chain} node {place}", url, patience_seconds)
            for place, url in enumerate(urls, 1)
        ]
        self._compared_at: float | None = None

    def call(self, method: str, parameters: list[Any]) -> Any:
        return self.batch([(method, parameters)])[0]

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        return self._first(calls, Node.ask)

    def each(self, calls: Sequence[Call]) -> list[Any]:
        return self._first(calls, Node.each) if calls else []

    def _first(self, calls: Sequence[Call], ask: _Ask) -> list[Any]:
        """What the first node says that answers."""
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
        block = self._latest(
            self.batch([("eth_chainId", []), ("eth_getBlockByNumber", ["latest", False])])
        )
        now = time.monotonic()
        is_due = self._compared_at is None or now - self._compared_at > COMPARE_SECONDS
        if len(self._nodes) == 1 or (_height(block) >= known_number and not is_due):
            return block
        self._compared_at = now
        return self._highest(block)

    def doubt(self) -> None:
        _failures.labels(self._chain, self._nodes[0].name).inc()
        self._nodes[0].failed()

    def close(self) -> None:
        for node in self._nodes:
            node.close()

    def _latest(self, answers: list[Any]) -> Any:
        """The newest block, once its node has said again which chain it is on."""
        if answers[0] != hex(self._chain_id):
            node = self._nodes[0]
            node.failed()
            raise self._refuse(node, f"it is on chain {str(answers[0])[:30]}")
        if _height(answers[1]) < 0:
            raise RpcError(f"{self._nodes[0].name}: no newest block")
        return answers[1]

    def _highest(self, block: Any) -> Any:
        """The newest block of the node that is furthest; we go on with that node."""
        best = self._nodes[0]
        for node in [
            candidate for candidate in self._nodes[1:] if candidate.rests_until <= time.monotonic()
        ]:
            try:
                other = self._ask(node, [("eth_getBlockByNumber", ["latest", False])])[0]
            except RpcError:
                continue
            if _height(other) > _height(block):
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
            _failures.labels(self._chain, node.name).inc()
            if not error.is_refusal:
                node.failed()
            log.warning("node_failed", node=node.name, error=str(error))
            raise
        node.worked()
        return results

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
        node.identified_at = time.monotonic()

    def _refuse(self, node: Node, why: str) -> CallRefused:
        log.error("node_refused", node=node.name, reason=why)
        return CallRefused(f"{node.name} is refused: {why}")


def _height(block: Any) -> int:
    """The number of a block; -1 when this isn't one."""
    try:
        return int(block["number"], 16)
    except (TypeError, KeyError, ValueError):
        return -1
