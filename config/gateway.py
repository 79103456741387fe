"""The web server's gateway: ASGI outside, Django's WSGI handler in threads inside.

A whole body is read on the event loop, with a deadline and a limit, before a thread is taken;
header values keep their bytes. Each request runs in a thread of its lane (config/lanes.py), and one
that finds none in time is turned away. Bodies with files have half of the memory at most, and other
bodies are small.
"""

import asyncio
import json
import logging
import sys
import uuid
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from apps.core.web import variables
from config.holding import HeldAnswers
from config.lanes import LANES, UPLOADS_LANE, Lane, brings_files, lane_of
from config.upload_shares import UploaderClaim, UploadShares

log = logging.getLogger(__name__)

BODY_SECONDS = 10.0
BODY_BYTES_MAX = 4 * 1024 * 1024  # with files
PLAIN_BYTES_MAX = 1024 * 1024
HELD_BYTES_MAX = 64 * 1024 * 1024  # bodies of all requests of this process together
HELD_FILES_BYTES_MAX = HELD_BYTES_MAX // 2
QUEUE_SECONDS = 10.0
SEND_SECONDS = 30.0
PIECE_BYTES = 64 * 1024
# What is smaller is taken from the thread at once, however slowly its reader reads.
WHOLE_BYTES_MAX = 2 * 1024 * 1024
RETRY_SECONDS = b"2"
_JSON_PATHS = ("/api/", "/oauth/")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class RequestRefusal:
    """An answer that no thread is taken for."""

    status: int
    message: str
    code: str | None = None


TOO_SLOW = RequestRefusal(408, "Request body was not received in time", "request_timeout")
TOO_LARGE = RequestRefusal(413, "Request body is too large", "body_too_large")
TOO_BUSY = RequestRefusal(503, "Service temporarily unavailable")
TOO_MANY_FILES = RequestRefusal(503, "Too many files are being uploaded. Try again in a moment")


class _Gone(Exception):
    """The client left before its request was whole."""


class _Threads:
    """The threads of a lane; who finds none free waits on the event loop."""

    def __init__(self, lane: Lane) -> None:
        self._waiting_max = lane.waiting_max
        self._waiting = 0
        self.free = asyncio.Semaphore(lane.threads)
        self.pool = ThreadPoolExecutor(lane.threads, thread_name_prefix=lane.name)

    @property
    def is_full(self) -> bool:
        """True if another request would be turned away."""
        return self.free.locked() and self._waiting >= self._waiting_max

    async def take(self) -> bool:
        if not self.free.locked():
            return await self.free.acquire()
        if self.is_full:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(QUEUE_SECONDS):
                return await self.free.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1


class _Body:
    """Received part of one request."""

    def __init__(self, content_type: str) -> None:
        self.content_type = content_type
        self.has_files = brings_files(content_type)
        self.size_max = BODY_BYTES_MAX if self.has_files else PLAIN_BYTES_MAX
        self.pieces: list[bytes] = []
        self.size = 0


class Gateway:
    """The gateway, one per process. `headers_of` says what an answer of the application to a
    request would carry besides, `uploader_of` who brings files, and `news_of` what answers that
    wait would say now."""

    def __init__(
        self,
        application: Application,
        headers_of: Callable[[Scope], Headers] = lambda scope: [],
        uploader_of: Callable[[Scope], UploaderClaim] = lambda scope: UploaderClaim("", ""),
        news_of: Callable[[Collection[str]], Mapping[str, str]] = lambda keys: {},
    ) -> None:
        self._application = application
        self._headers_of = headers_of
        self._uploader_of = uploader_of
        self._shares = UploadShares()
        self._lanes = [_Threads(lane) for lane in LANES]
        self._held_answers = HeldAnswers(news_of, ThreadPoolExecutor(1, "news"))
        self._held = 0
        self._held_files = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = _Body(_header(scope, b"content-type"))
        claim = self._uploader_of(scope) if body.has_files else None
        share = self._shares.take(claim) if claim is not None else ""
        try:
            refusal: RequestRefusal | None = TOO_MANY_FILES  # without a byte of it
            if share is not None:
                refusal = await self._receive(scope, receive, body) or await self._serve(
                    scope, body, receive, send, claim
                )
        except _Gone:
            return
        finally:
            self._hold(body, -body.size)
            if share:
                self._shares.give_back(share)
        if refusal is not None:
            await _refuse(scope, refusal, send, self._headers_of(scope))

    async def _receive(self, scope: Scope, receive: Receive, body: _Body) -> RequestRefusal | None:
        """Read the whole body, or say why not."""
        declared = _header(scope, b"content-length") or "0"
        is_number = declared.isascii() and declared.isdigit()
        if not is_number or int(declared[:20]) > body.size_max:
            return TOO_LARGE
        if body.has_files and self._lanes[UPLOADS_LANE].is_full:
            return TOO_MANY_FILES  # without a byte of it
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await self._read(receive, body)
        except TimeoutError:
            return TOO_SLOW

    async def _read(self, receive: Receive, body: _Body) -> RequestRefusal | None:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            piece = message.get("body", b"")
            body.pieces.append(piece)
            body.size += len(piece)
            self._hold(body, len(piece))
            if body.size > body.size_max:
                return TOO_LARGE
            if self._held > HELD_BYTES_MAX:
                return TOO_BUSY
            if body.has_files and self._held_files > HELD_FILES_BYTES_MAX:
                return TOO_MANY_FILES
            if not message.get("more_body"):
                return None

    def _hold(self, body: _Body, size: int) -> None:
        self._held += size
        if body.has_files:
            self._held_files += size

    async def _serve(
        self,
        scope: Scope,
        body: _Body,
        receive: Receive,
        send: Send,
        claim: UploaderClaim | None,
    ) -> RequestRefusal | None:
        """Run the request in a thread of its lane, and hold the answer if it may wait; the refusal
        when none came free in time."""
        environ = environ_of(scope, b"".join(body.pieces))
        lane = self._lanes[lane_of(environ["PATH_INFO"], body.content_type)]
        if not await lane.take():
            log.warning("no thread came free in time")
            return TOO_MANY_FILES if body.has_files else TOO_BUSY
        loop = asyncio.get_running_loop()
        try:
            messages = await loop.run_in_executor(
                lane.pool, self._run, environ, _Sender(loop, send)
            )
        finally:
            lane.free.release()
        if claim is not None:
            self._shares.learn(claim, environ.get(variables.STORE, ""))
        if (hold := environ.get(variables.HOLD)) is not None:
            text = await self._held_answers.changed(hold, receive)
            messages = _saying(messages[0], text)
        for message in messages:
            await send(message)
        return None

    def _run(self, environ: dict[str, Any], sender: "_Sender") -> list[MutableMapping[str, Any]]:
        """In the thread: what is left to be sent of the answer."""
        head: MutableMapping[str, Any] = {"type": "http.response.start"}

        def start(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
            head["status"] = int(status[:3])
            head["headers"] = [
                (name.encode("latin-1"), value.encode("latin-1")) for name, value in headers
            ]

        answer = self._application(environ, start)
        with _closing(answer):
            if (
                not getattr(answer, "streaming", False)
                or _length(head["headers"]) <= WHOLE_BYTES_MAX
            ):
                return [head, _piece(b"".join(answer))]
            sender.send(head)
            pieces: list[bytes] = []
            size = 0
            for piece in answer:
                pieces.append(piece)
                size += len(piece)
                if size >= PIECE_BYTES:
                    sender.send(_piece(b"".join(pieces), more=True))
                    pieces = []
                    size = 0
            return [_piece(b"".join(pieces))]


class _Sender:
    """Sends from a thread, which waits until the reader has taken it; one that takes nothing for
    long loses the connection."""

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send) -> None:
        self._loop = loop
        self._send = send

    def send(self, message: MutableMapping[str, Any]) -> None:
        asyncio.run_coroutine_threadsafe(self._in_time(message), self._loop).result()

    async def _in_time(self, message: MutableMapping[str, Any]) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self._send(message)


def _header(scope: Scope, header_name: bytes) -> str:
    """The first header of the name; empty without one."""
    value: bytes = next((value for name, value in scope["headers"] if name == header_name), b"")
    return value.decode("latin-1")


def _closing(answer: Any) -> AbstractContextManager[Any]:
    return closing(answer) if hasattr(answer, "close") else nullcontext()


def _length(headers: Sequence[tuple[bytes, bytes]]) -> float:
    """Announced length of the answer; without one it may be endless."""
    return next(
        (int(value) for name, value in headers if name.lower() == b"content-length"), float("inf")
    )


def _piece(content: bytes, *, more: bool = False) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


def _saying(head: MutableMapping[str, Any], text: str) -> list[MutableMapping[str, Any]]:
    """An answer with the same headers and another text."""
    content = text.encode()
    kept = [each for each in head["headers"] if each[0].lower() != b"content-length"]
    length = (b"content-length", str(len(content)).encode())
    return [{**head, "headers": [*kept, length]}, _piece(content)]


async def _refuse(scope: Scope, refusal: RequestRefusal, send: Send, more: Headers) -> None:
    """In the API's shape, or in plain words."""
    is_json = str(scope["path"]).startswith(_JSON_PATHS)
    body = {"error": {"message": refusal.message, "code": refusal.code}}
    content = json.dumps(body).encode() if is_json else f"{refusal.message}\n".encode()
    headers = [
        (b"content-type", b"application/json" if is_json else b"text/plain; charset=utf-8"),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", uuid.uuid4().hex.encode()),
        *more,
    ]
    if refusal.status == 503:
        headers.append((b"retry-after", RETRY_SECONDS))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send(_piece(content))


_FIXED: dict[str, Any] = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
}
# The server tells bodies by these, and the body is whole here.
_SPENT = {"", "HTTP_TRANSFER_ENCODING", "HTTP_CONTENT_LENGTH", "HTTP_EXPECT"}


def environ_of(scope: Scope, body: bytes) -> dict[str, Any]:
    """The request as WSGI has it: text holds one character per byte."""
    server = scope.get("server") or ("localhost", 80)
    client = scope.get("client") or ("", 0)
    environ = {
        **_FIXED,
        "REQUEST_METHOD": scope["method"],
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": client[0],
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": BytesIO(body),
        "CONTENT_LENGTH": str(len(body)),
    }
    for name, value in scope["headers"]:
        key = _key_of(name)
        if key in _SPENT:
            continue
        text = value.decode("latin-1")
        if key in environ:
            text = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        environ[key] = text
    return environ


@lru_cache(maxsize=512)
def _key_of(name: bytes) -> str:
    """A header's name in WSGI. One with an underscore has none: it would pass for another with a
    hyphen."""
    if b"_" in name:
        return ""
    text = name.decode("latin-1").upper().replace("-", "_")
    return text if text == "CONTENT_TYPE" else f"HTTP_{text}"
