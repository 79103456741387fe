"""Web servers on this machine that receive webhooks: a well-behaved one, and ones that do whatever
a handler says."""

import contextlib
import http.server
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, Self


class Receiver:
    """Keeps what it was sent; `answer` is the status it gives."""

    def __init__(self, answer: int = 200) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(
                    {
                        "path": self.path,
                        "headers": {k.lower(): v for k, v in self.headers.items()},
                        "raw": raw,
                    }
                )
                outer.heard()
                self.send_response(outer.answer)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def heard(self) -> None:
        """Between a request and its answer."""

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(request["raw"]) for request in self.requests]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class CountingReceiver(Receiver):
    """Answers after a moment; `most` is the number of requests that were open at once."""

    def __init__(self) -> None:
        self.open = 0
        self.most = 0
        self.lock = threading.Lock()
        super().__init__()

    def heard(self) -> None:
        with self.lock:
            self.open += 1
            self.most = max(self.most, self.open)
        time.sleep(0.01)
        with self.lock:
            self.open -= 1


class RawReceiver:
    """Hands each connection to `talk`, which may do anything; `connections` counts them."""

    def __init__(
        self, talk: Callable[[socket.socket], None], context: ssl.SSLContext | None = None
    ) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self._talk = talk
        self._context = context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.port}/hook"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(peer)
            threading.Thread(target=self._handle, args=[peer], daemon=True).start()

    def _handle(self, peer: socket.socket) -> None:
        try:
            wrapped = self._context.wrap_socket(peer, server_side=True) if self._context else peer
            self.requests.append(wrapped.recv(65536))
            self._talk(wrapped)
            wrapped.close()
        except OSError:
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Else who waits in accept() would take what comes to the next socket of this number.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for peer in self._open:
            peer.close()
