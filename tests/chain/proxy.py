"""A JSON-RPC proxy that lies, lags and fails on demand, in front of a real node."""

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

Change = Callable[
    [str, list[Any], Any], Any
]  # method, parameters, the node's result -> what is told instead


class Proxy:
    """`changes` alter single results, `whole` replaces the answer, `behind` hides the newest
    blocks, `unknown`, `refused_with`, `refuses` and `pruned` refuse, `hangs_up_at` ends the
    connection; more calls than `batch_max` in one request are refused as `refuse_batch` does."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.changes: list[Change] = []
        self.whole: tuple[int, bytes] | None = None
        self.behind = 0
        self.unknown: set[str] = set()
        self.pruned: Callable[[list[Any]], bool] = lambda given: False
        self.refused_with: dict[str, tuple[int, str]] = {}
        self.refusal_of: Callable[[str, list[Any]], tuple[int, str] | None] = lambda *asked: None
        self.hangs_up_at: set[str] = set()
        self.batch_max: int | None = None
        self.batch_refusal = "one error"
        self.batches_refused = 0
        self.batches: list[int] = []
        self.refuses: Callable[[str, list[Any]], bool] = lambda method, given: False
        self.delay_seconds = 0.0
        self.cut = False
        self.cuts: Callable[[str], bool] = lambda body: False  # of single requests
        self.calls: list[str] = []
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://someone:hunter2@127.0.0.1:{self._server.server_address[1]}/v3/api-key"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def lie(self, method: str, tell: Callable[[Any], Any]) -> None:
        """Change what this method answers."""
        self.changes.append(lambda called, _, result: tell(result) if called == method else result)

    def settle_later(self, after: int = 2) -> None:
        """Tell blocks as Avalanche's nodes do since Helicon (ACP-194): a header has the filter and
        the root of the receipts of blocks before, which it settles, and says up to which."""

        def settling(method: str, _: list[Any], result: Any) -> Any:
            if not method.startswith("eth_getBlockBy") or not isinstance(result, dict):
                return result
            settled = hex(max(0, int(result["number"], 16) - after))
            earlier = self._ask("eth_getBlockByNumber", [settled, False])["result"]
            told = {name: earlier[name] for name in ("logsBloom", "receiptsRoot")}
            return {**result, **told, "settledHeight": settled}

        self.changes.append(settling)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        method = request["method"]
        parameters = request["params"]
        self.calls.append(method)
        is_pruned = method == "eth_getBalance" and self.pruned(parameters)
        if method in self.unknown or is_pruned or self.refuses(method, parameters):
            return {
                "jsonrpc": "2.0",
                "id": request["id"],
                "error": {"code": -32601, "message": "not available"},
            }
        if refusal := self.refused_with.get(method) or self.refusal_of(method, parameters):
            code, message = refusal
            error = {"code": code, "message": message}
            return {"jsonrpc": "2.0", "id": request["id"], "error": error}
        tip = (
            int(self._ask("eth_blockNumber", [])["result"], 16) - self.behind
            if self.behind
            else None
        )
        if tip is not None and method == "eth_getBlockByNumber" and parameters[0] == "latest":
            parameters = [hex(tip), *parameters[1:]]
        told = self._ask(method, parameters)
        if tip is not None and method == "eth_getBlockByNumber" and int(parameters[0], 16) > tip:
            told = {"result": None}
        if "result" in told:
            for change in self.changes:
                told = {"result": change(method, request["params"], told["result"])}
        return {"jsonrpc": "2.0", "id": request["id"], **told}

    def refuse_batch(self, asked: list[dict[str, Any]]) -> tuple[int, bytes] | None:
        """Status and body as nodes and providers write them; None for a connection that ends."""
        most = self.batch_max or 0
        self.batches_refused += 1
        error = {"code": -32005, "message": "batch size too large"}
        match self.batch_refusal:
            case "one error":
                return 200, _body({"jsonrpc": "2.0", "id": None, "error": error})
            case "no batches":
                error = {"code": -32600, "message": "batch requests are not supported"}
                return 200, _body({"jsonrpc": "2.0", "id": None, "error": error})
            case "geth":
                error = {"code": -32600, "message": "batch too large"}
                return 200, _body([{"jsonrpc": "2.0", "id": asked[0]["id"], "error": error}])
            case "too long an answer":
                error = {"code": -32003, "message": "response too large"}
                rest = [{"jsonrpc": "2.0", "id": it["id"], "error": error} for it in asked[most:]]
                return 200, _body([self.answer(item) for item in asked[:most]] + rest)
            case "each":
                return 200, _body(
                    [{"jsonrpc": "2.0", "id": it["id"], "error": error} for it in asked]
                )
            case "cut short":
                return 200, _body([self.answer(item) for item in asked[:most]])
            case "the first alone":
                return 200, _body(self.answer(asked[0]))
            case "a page":
                return 200, b"<html>payload too large</html>"
            case "hangs up":
                return None
            case status:
                return int(status), _body({"error": error})

    def _ask(self, method: str, parameters: list[Any]) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        answer = requests.post(self.target, json=body, timeout=30).json()
        return {key: answer[key] for key in ("result", "error") if key in answer}


def _body(answer: Any) -> bytes:
    return json.dumps(answer).encode()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is none of our business."""


class _Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        asked = json.loads(content)
        is_cut = self.proxy.cut or self.proxy.cuts(content.decode())
        time.sleep(self.proxy.delay_seconds)
        count = len(asked) if isinstance(asked, list) else 1
        self.proxy.batches.append(count)
        items = asked if isinstance(asked, list) else [asked]
        if any(item["method"] in self.proxy.hangs_up_at for item in items):
            self.close_connection = True
            return
        if self.proxy.whole is not None:
            status, body = self.proxy.whole
        elif self.proxy.batch_max is not None and count > self.proxy.batch_max:
            refusal = self.proxy.refuse_batch(asked)
            if refusal is None:
                self.close_connection = True
                return
            status, body = refusal
        else:
            answers = [
                self.proxy.answer(item) for item in (asked if isinstance(asked, list) else [asked])
            ]
            status = 200
            body = json.dumps(answers if isinstance(asked, list) else answers[0]).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if is_cut else body)
        self.close_connection = is_cut

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""
