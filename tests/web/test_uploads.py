"""Files are read and opened one at a time, and take no thread and no memory of everybody else's."""

import asyncio
import threading
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import pytest

from config import gateway
from config.gateway import Gateway
from config.lanes import UPLOADS

FILES = b"multipart/form-data; boundary=x"
FORM = b"application/x-www-form-urlencoded"
PLACES = UPLOADS.threads + UPLOADS.waiting_max


class Application:
    """Holds each upload until it is let go, and answers everything else at once."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.let_go = threading.Event()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        if environ.get("CONTENT_TYPE", "").startswith("multipart/"):
            self.entered.release()
            self.let_go.wait(20)
        start("200 OK", [("Content-Length", "2")])
        return [b"ok"]


class Asked:
    """One request of the gateway, whose body may be held back."""

    def __init__(self, asked: Gateway, content_type: bytes, path: str = "/dashboard/x") -> None:
        self.messages: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.content = b""
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "http_version": "1.1",
            "scheme": "http",
            "headers": [(b"content-type", content_type)],
        }
        self.task = asyncio.ensure_future(asked(scope, self.messages.get, self._send))

    async def body(self, content: bytes = b"", *, more: bool = False) -> None:
        await self.messages.put({"type": "http.request", "body": content, "more_body": more})
        await asyncio.sleep(0)

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = dict(message["headers"])
        self.content += message.get("body", b"")


@pytest.fixture
def application() -> Iterator[Application]:
    made = Application()
    yield made
    made.let_go.set()


async def _fill(asked: Gateway, application: Application, content: bytes = b"") -> list[Asked]:
    uploads = [Asked(asked, FILES) for _ in range(PLACES)]
    for upload in uploads:
        await upload.body(content)
    await asyncio.to_thread(application.entered.acquire)
    return uploads


def test_when_all_places_are_taken_another_upload_is_told_at_once_and_pages_go_on(
    application: Application,
) -> None:
    async def story() -> None:
        asked = Gateway(application)
        uploads = await _fill(asked, application)
        for path, kind in (("/dashboard/x", b"text/plain"), ("/api/v2/x", b"application/json")):
            late = Asked(asked, FILES, path)  # of its body nothing is read
            await asyncio.wait_for(late.task, 5)
            assert late.status == 503 and int(late.headers[b"retry-after"]) >= 1
            assert late.headers[b"content-type"].startswith(kind)
            assert b"Too many files are being uploaded" in late.content
        other = Asked(asked, FORM)
        await other.body()
        await asyncio.wait_for(other.task, 5)
        assert (other.status, other.content) == (200, b"ok")
        assert not any(upload.task.done() for upload in uploads)
        application.let_go.set()
        await asyncio.wait_for(asyncio.gather(*(upload.task for upload in uploads)), 10)
        assert {upload.status for upload in uploads} == {200}

    asyncio.run(story())


def test_bodies_with_files_leave_half_of_the_memory_to_the_others(
    application: Application,
) -> None:
    async def story() -> None:
        asked = Gateway(application)
        piece = bytes(gateway.BODY_BYTES_MAX)
        held = [Asked(asked, FILES) for _ in range(gateway.HELD_BYTES_MAX // len(piece))]
        for upload in held:
            await upload.body(piece, more=True)
        await asyncio.sleep(0.1)
        refused = [upload for upload in held if upload.task.done()]
        assert len(refused) >= len(held) // 2 and {each.status for each in refused} == {503}
        other = Asked(asked, FORM)
        await other.body(bytes(gateway.PLAIN_BYTES_MAX))
        await asyncio.wait_for(other.task, 5)
        assert other.status == 200
        for upload in held:
            await upload.messages.put({"type": "http.disconnect"})
        await asyncio.gather(*(upload.task for upload in held))
        assert asked._held == asked._held_files == 0

    asyncio.run(story())


def test_a_body_without_files_is_small(application: Application) -> None:
    async def story() -> None:
        asked = Gateway(application)
        for kind, size, status in (
            (FORM, gateway.PLAIN_BYTES_MAX + 1, 413),
            (b"application/json", gateway.PLAIN_BYTES_MAX + 1, 413),
            (FILES, gateway.BODY_BYTES_MAX + 1, 413),
        ):
            request = Asked(asked, kind, "/api/v2/x")
            await request.body(bytes(size))
            await asyncio.wait_for(request.task, 5)
            assert (request.status, b"body_too_large" in request.content) == (status, True), kind

    asyncio.run(story())
