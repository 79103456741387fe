"""A relay of connections in front of a node: cut, silent or away when a test says so."""

import contextlib
import socket
import threading
from urllib.parse import urlsplit

_BYTES = 64 * 1024


class Relay:
    """`is_silent` holds back what the node says, and `is_away` takes no connection."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://someone:hunter2@127.0.0.1:{self._server.getsockname()[1]}/?key=api-key"
        self._open: list[socket.socket] = []
        self.is_silent = False
        self.is_away = False
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """End every connection that is open."""
        while self._open:
            with contextlib.suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.is_away = True
        self.cut()
        self._server.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                if self.is_away:
                    client.close()
                    continue
                node = socket.create_connection(self._target)
                self.connections += 1
                self._open += [client, node]
                for pair in ((client, node, False), (node, client, True)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, to: socket.socket, is_told: bool) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(_BYTES):
                if not (is_told and self.is_silent):
                    to.sendall(content)
        for end in (source, to):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
