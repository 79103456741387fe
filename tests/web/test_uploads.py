"""Files are read and opened one at a time, and take no thread and no memory of everybody else's."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import pytest
from django.conf import settings

from apps.core.web import variables
from config import gateway
from config.gateway import BODY_SECONDS, Gateway
from config.lanes import UPLOADS
from config.upload_shares import SHARE_MAX, UploaderClaim
from config.uploaders import uploader_of
from tests.web.wire import Web

FILES = b"multipart/form-data; boundary=x"
FORM = b"application/x-www-form-urlencoded"
PLACES = UPLOADS.threads + UPLOADS.waiting_max
_numbers = itertools.count(1)


def new_address() -> str:
    return f"192.0.2.{next(_numbers)}"


def gateway_of(application: "Application") -> Gateway:
    return Gateway(application, uploader_of=lambda scope: scope["claim"])


class Application:
    """Holds each upload until it is let go, and answers everything else at once. It finds the store
    in a header."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.let_go = threading.Event()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        if environ.get("CONTENT_TYPE", "").startswith("multipart/"):
            self.entered.release()
            self.let_go.wait(20)
            environ[variables.STORE] = environ.get("HTTP_X_STORE", "")
        start("200 OK", [("Content-Length", "2")])
        return [b"ok"]


class Asked:
    """One request of the gateway, whose body may be held back."""

    def __init__(
        self,
        asked: Gateway,
        content_type: bytes,
        path: str = "/dashboard/x",
        *,
        session: str = "",
        address: str = "",
        store: str = "",
    ) -> None:
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
            "headers": [(b"content-type", content_type), (b"x-store", store.encode())],
            # Who it is from, by the way that the server itself doesn't take.
            "claim": UploaderClaim(session, address or new_address()),
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
        asked = gateway_of(application)
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
        asked = gateway_of(application)
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
        asked = gateway_of(application)
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


async def _progress(asked: Gateway, count: int, **claim: str) -> list[Asked]:
    """So many uploads at once of one store or address, each a whole body."""
    uploads = [Asked(asked, FILES, **claim) for _ in range(count)]
    for upload in uploads:
        await upload.body(b"x")
    await asyncio.sleep(0.05)
    return uploads


def _refused(uploads: list[Asked]) -> int:
    return sum(upload.task.done() and upload.status == 503 for upload in uploads)


@pytest.mark.parametrize("is_slow", [False, True], ids=["runs long", "sends slowly"])
def test_one_store_holds_a_share_of_the_places_and_another_gets_one(
    application: Application, is_slow: bool
) -> None:
    async def story() -> None:
        asked = gateway_of(application)
        # Two sessions of its members, each from an address of its own, which the server knows.
        application.let_go.set()
        for session in ("one", "two"):
            first = Asked(asked, FILES, session=session, store="a")
            await first.body(b"x")
            await asyncio.wait_for(first.task, 5)
        application.let_go.clear()

        held: list[Asked] = []
        for number in range(PLACES + 3):
            upload = Asked(asked, FILES, session=("one", "two")[number % 2], store="a")
            await upload.body(b"x", more=is_slow)
            held.append(upload)
        await asyncio.sleep(0.05)
        assert _refused(held) == len(held) - SHARE_MAX
        (other,) = await _progress(asked, 1, session="three", store="b")
        assert not other.task.done()

        application.let_go.set()
        for upload in held:
            if is_slow and not upload.task.done():
                await upload.body(b"y")
        await asyncio.wait_for(asyncio.gather(other.task, *(each.task for each in held)), 10)
        assert other.status == 200
        (again,) = await _progress(asked, 1, session="one", store="a")
        await asyncio.wait_for(again.task, 5)
        assert again.status == 200
        assert not asked._shares._counts

    asyncio.run(story())


def test_sessions_that_nobody_knows_count_for_their_address(application: Application) -> None:
    """However many somebody invents."""

    async def story() -> None:
        asked = gateway_of(application)
        held = [
            upload
            for number in range(PLACES + 3)
            for upload in await _progress(
                asked, 1, session=f"invented {number}", address="198.51.100.7"
            )
        ]
        assert _refused(held) == len(held) - SHARE_MAX
        (other,) = await _progress(asked, 1, session="honest", address="198.51.100.8")
        assert not other.task.done()
        application.let_go.set()
        await asyncio.wait_for(asyncio.gather(other.task, *(each.task for each in held)), 10)
        assert other.status == 200

    asyncio.run(story())


def test_whoever_leaves_gives_the_place_back(application: Application) -> None:
    async def story() -> None:
        asked = gateway_of(application)
        for _ in range(3):
            leavers = [Asked(asked, FILES, address="198.51.100.7") for _ in range(SHARE_MAX)]
            for upload in leavers:
                await upload.body(b"x", more=True)
            for upload in leavers:
                await upload.messages.put({"type": "http.disconnect"})
            await asyncio.wait_for(asyncio.gather(*(each.task for each in leavers)), 5)
        assert not asked._shares._counts

    asyncio.run(story())


def test_who_sends_files_slowly_to_the_server_itself_takes_no_place_of_others(web: Web) -> None:
    """Over real connections: the processes of the server each have their places."""
    slow = Web(web.port, web.pid, "127.0.0.2")
    lines = (
        b"Content-Type: multipart/form-data; boundary=x",
        b"Content-Length: 2000000",
    )
    held = [slow.begin("POST", "/dashboard/settings/logo", *lines, body=b"-") for _ in range(16)]
    honest = Web(web.port, web.pid, "127.0.0.3")
    body = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--\r\n"
    answers = [
        honest.begin(
            "POST",
            "/dashboard/settings/logo",
            lines[0],
            f"Content-Length: {len(body)}".encode(),
            body=body,
        ).answer()
        for _ in range(4)
    ]
    assert {answer.status for answer in answers} == {403}  # it has no token, and was let in
    assert max(answer.seconds for answer in answers) < BODY_SECONDS
    statuses = [request.answer().status for request in held]
    kept = statuses.count(408)  # its body didn't come in time
    assert 0 < kept <= SHARE_MAX * len(web.workers())
    assert statuses.count(503) == len(held) - kept


@pytest.mark.parametrize(
    "cookies",
    [
        (b"sessionid=known",),
        (b"sessionid=another; sessionid=known",),
        (b"sessionid=another", b"sessionid=known"),
        (b'sessionid="known"',),
        (b'sessionid="k\\156own"',),
        (b"a=b ;sessionid = known ",),
    ],
)
def test_a_session_is_the_one_that_the_application_reads(cookies: tuple[bytes, ...]) -> None:
    """Else one store would pass for many, each time with another cookie in front."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "http_version": "1.1",
        "scheme": "http",
        "client": ("192.0.2.1", 1),
        "headers": [
            (b"cookie", cookie.replace(b"sessionid", settings.SESSION_COOKIE_NAME.encode()))
            for cookie in cookies
        ],
    }
    assert uploader_of(scope) == UploaderClaim("known", "192.0.2.1")
