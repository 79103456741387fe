"""A slow line: documents come piece by piece, and the browser may paint what it has so far."""

import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

# Long enough that a browser lays out and paints before the next piece comes.
PAUSE_SECONDS = 0.1
TAGS_A_PIECE = 12
PASSED_ON = ("Content-Type", "Content-Security-Policy")


class Trickling:
    """A server before the product's."""

    def __init__(self, upstream: str) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(upstream))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def _handler(upstream: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = requests.get(upstream + self.path, timeout=30)
            self.send_response(answer.status_code)
            for name in PASSED_ON:
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            for piece in _pieces(answer):
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(PAUSE_SECONDS)

        def log_message(self, *args: object) -> None:
            """Nobody reads it."""

    return Handler


def _pieces(answer: requests.Response) -> Iterator[bytes]:
    """The head of a document, then some tags at a time; anything else at once."""
    if not answer.headers["Content-Type"].startswith("text/html"):
        yield answer.content
        return
    head, body, rest = answer.content.partition(b"<body")
    yield head
    tags = re.findall(rb"<[^<]*", body + rest)
    for first in range(0, len(tags), TAGS_A_PIECE):
        yield b"".join(tags[first : first + TAGS_A_PIECE])
