"""Drawing in a process of its own, which ends a moment after the last document: what a drawing
takes goes back.

The library of PDF is fifty megabytes, and a long document takes more, which Python never gives
back. It knows no settings and no secrets, and what it answers is bytes: pages come from merchants.
`python -m apps.core.documents.process FD` is its command line.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from apps.core.documents.pdf import EmbeddedFile, load, render

_ROOT = Path(__file__).resolve().parents[3]
# Its part of the environment: where programs, fonts and their cache are.
_ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "FONTCONFIG_FILE",
    "FONTCONFIG_PATH",
    "LD_LIBRARY_PATH",
)
KEPT_SECONDS = 5.0
PAGE_SECONDS = 60
LISTING_SECONDS = 1500
_PIECE_BYTES = 1024 * 1024
_DRAWN = b"+"
_FAILED = b"-"


class NotRendered(Exception):
    """It could not be drawn: what the drawing process said, or that it has ended or takes too
    long."""


class Process:
    """A drawing process, to be asked one thing after another. It dies with the process that started
    it, and of what takes too long. A long listing gets a process for itself alone, since it may
    grow large, started before its lines are read."""

    def __init__(self) -> None:
        self._connection, child_end = Pipe()
        command = [sys.executable, "-m", "apps.core.documents.process", str(child_end.fileno())]
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        with child_end:
            self._process = subprocess.Popen(  # noqa: S603  our own module
                command,
                cwd=_ROOT,
                env=environment,
                pass_fds=(child_end.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            self.pid = self._process.pid

    def __enter__(self) -> "Process":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def page(self, html: str, inside: EmbeddedFile | None) -> bytes:
        """A whole HTML document as PDF. Raises NotRendered."""
        return b"".join(self._answer(("page", html, inside, PAGE_SECONDS), ()))

    def listing(
        self, html: str, pages: Iterable[Sequence[str]], columns: int, file: IO[bytes]
    ) -> None:
        """The document and behind it each page's lines, of so many letters at most. Raises
        NotRendered."""
        for piece in self._answer(("listing", html, columns, LISTING_SECONDS), pages):
            file.write(piece)

    def _answer(self, job: tuple[Any, ...], more: Iterable[Sequence[str]]) -> Iterator[bytes]:
        with suppress(ConnectionError):  # it says why before it ends
            self._connection.send(job)
            for page in more:
                self._connection.send(page)
            self._connection.send(None)
        try:
            while (piece := self._connection.recv_bytes())[:1] == _DRAWN:
                if len(piece) == 1:
                    return
                yield piece[1:]
        except (OSError, EOFError) as error:
            raise NotRendered(f"the drawing process ended ({type(error).__name__})") from None
        raise NotRendered(piece[1:].decode())


_lock = threading.Lock()
_kept: Process | None = None
_end: threading.Timer | None = None


def render_apart(html: str, inside: EmbeddedFile | None = None) -> bytes:
    """A whole HTML document as PDF, by the process that drew the last one if that was a moment ago.
    Raises NotRendered."""
    global _kept, _end
    with _lock:
        if _end is not None:
            _end.cancel()
        _kept = _kept or Process()
        try:
            drawn = _kept.page(html, inside)
        except BaseException:
            _kept.end()
            _kept = None
            raise
        _end = threading.Timer(KEPT_SECONDS, _let_go)
        _end.daemon = True
        _end.start()
        return drawn


def _let_go() -> None:
    """Ends the process, unless something was drawn meanwhile; a timer's work."""
    global _kept
    with _lock:
        if _kept is not None and threading.current_thread() is _end:
            _kept.end()
            _kept = None


def main(number: int) -> None:
    """The process: answers until nobody is there to ask, or until something could not be drawn. It
    loads the library meanwhile: half a second that passes while the first document is written."""
    load()
    with Connection(number) as connection, suppress(OSError, EOFError):
        while _answer_one(connection):
            pass


def _answer_one(connection: "Connection[Any, Any]") -> bool:
    kind, html, detail, seconds = connection.recv()
    signal.alarm(seconds)
    with tempfile.TemporaryFile() as file:
        try:
            _draw(kind, html, detail, iter(connection.recv, None), file)
        except Exception:
            connection.send_bytes(_FAILED + traceback.format_exc().encode())
            return False
        file.seek(0)
        while piece := file.read(_PIECE_BYTES):
            connection.send_bytes(_DRAWN + piece)
    connection.send_bytes(_DRAWN)
    signal.alarm(0)
    return True


def _draw(
    kind: str, html: str, detail: Any, pages: Iterator[Sequence[str]], file: IO[bytes]
) -> None:
    if kind == "listing":
        from apps.core.documents import listing

        listing.append(render(html), pages, file, detail)
        return
    next(pages, None)  # there are none
    file.write(render(html, detail))


if __name__ == "__main__":
    main(int(sys.argv[1]))
