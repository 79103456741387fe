"""A body that doesn't come holds nobody else up: it is waited for on the event loop, and only so
long."""

import pytest

from config.gateway import BODY_BYTES_MAX, BODY_SECONDS
from tests.cast import Cast, Shop
from tests.web.wire import Web, bearer

VALID = b'{"payment_intent": {"amount": "10.00", "currency": "EUR"}}'
PATIENCE = BODY_SECONDS / 2


@pytest.mark.parametrize("number", [pytest.param(12, marks=pytest.mark.whole), 50])
def test_unfinished_bodies_stop_nobody_and_are_answered_408(
    web: Web, committed: Cast, number: int
) -> None:
    public = bearer(committed.bakery.secrets["test_publishable"])
    slow = [
        web.begin(
            "POST",
            "/api/v2/payments",
            public,
            b"Content-Type: application/json",
            b"Content-Length: 500",
            body=b'{"',
        )
        for _ in range(number)
    ]
    for _ in range(5):
        assert web.ask("GET", "/healthz").seconds < PATIENCE
        other = web.ask("GET", "/api/v2/payments", bearer(committed.strangers.secrets["test"]))
        assert (other.status, other.seconds < PATIENCE) == (200, True)
    for request in slow:
        answer = request.answer()
        assert (answer.status, answer.headers["content-type"]) == (408, "application/json")
        assert answer.json() == {
            "error": {"message": "Request body was not received in time", "code": "request_timeout"}
        }
        assert len(answer.headers["x-request-id"]) == 32


def test_a_body_that_comes_in_pieces_is_taken_whole(web: Web, shop: Shop) -> None:
    key = bearer(shop.secrets["test"])
    request = web.begin(
        "POST",
        "/api/v2/payments",
        key,
        b"Content-Type: application/json",
        f"Content-Length: {len(VALID)}".encode(),
    )
    for byte in VALID:
        request.send(bytes([byte]))
    assert request.answer().status == 201
    chunks = (
        b"5\r\n"
        + VALID[:5]
        + b"\r\n"
        + f"{len(VALID) - 5:x}\r\n".encode()
        + VALID[5:]
        + b"\r\n0\r\n\r\n"
    )
    in_chunks = web.begin(
        "POST",
        "/api/v2/payments",
        key,
        b"Content-Type: application/json",
        b"Transfer-Encoding: chunked",
        body=chunks,
    )
    assert in_chunks.answer().json()["settlement_amount"] == "10.00"


def test_a_body_is_read_no_further_than_its_limit(web: Web, shop: Shop) -> None:
    key = bearer(shop.secrets["test"])
    kind = b"Content-Type: application/json"
    for told in (f"Content-Length: {BODY_BYTES_MAX + 1}".encode(), b"Content-Length: " + b"9" * 18):
        answer = web.begin("POST", "/api/v2/payments", key, kind, told).answer()
        assert (answer.status, answer.json()["error"]["code"]) == (413, "body_too_large")
    endless = web.begin("POST", "/api/v2/payments", key, kind, b"Transfer-Encoding: chunked")
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    try:
        for _ in range(BODY_BYTES_MAX // 65536 + 1):
            endless.send(piece)
    except OSError:
        pass  # it was refused meanwhile
    assert endless.answer().status == 413
    small = web.ask("POST", "/api/v2/payments", key, body=b" " * (1024 * 1024 + 1))
    assert (small.status, small.json()["error"]["code"]) == (413, "body_too_large")


def test_a_shops_page_can_read_why_its_body_was_refused(web: Web, shop: Shop) -> None:
    public = bearer(shop.secrets["test_publishable"])
    secret = bearer(shop.secrets["test"])
    origin = b"Origin: https://shop.example"
    kind = b"Content-Type: application/json"
    endless = f"Content-Length: {BODY_BYTES_MAX + 1}".encode()
    large = f"Content-Length: {1024 * 1024 + 1}".encode()
    body = b" " * (1024 * 1024 + 1)
    packed = b"Content-Encoding: gzip"

    def told(path: str, *lines: bytes, body: bytes = b"") -> tuple[int, str | None, str]:
        answer = web.begin("POST", f"/api/v2{path}", origin, kind, *lines, body=body).answer()
        return (
            answer.status,
            answer.headers.get("access-control-allow-origin"),
            answer.headers.get("access-control-expose-headers", "")[:12],
        )

    for path, lines in (
        ("/payments", [public]),
        ("/checkout/ABCDEFGH12345678/onramp_sessions", []),
    ):
        for status, more, sent in ((413, endless, b""), (413, large, body), (415, packed, b"")):
            length = [] if more is not packed else [b"Content-Length: 0"]
            assert told(path, *lines, more, *length, body=sent) == (status, "*", "X-Request-Id"), (
                path,
                more,
            )
    # What no page of another origin may read, it can't read when it is refused either.
    for path, lines in (("/payments", [secret]), ("/payouts", [public]), ("/nothing", [public])):
        assert told(path, *lines, endless)[:2] == (413, None)
        assert told(path, *lines, packed, b"Content-Length: 0")[:2] == (415, None)


def test_a_page_is_refused_in_words(web: Web) -> None:
    answer = web.begin(
        "POST", "/dashboard/sign-in", f"Content-Length: {BODY_BYTES_MAX + 1}".encode()
    ).answer()
    assert (answer.status, answer.content) == (413, b"Request body is too large\n")


def test_a_client_that_leaves_in_its_body_is_forgotten(web: Web, shop: Shop) -> None:
    for _ in range(20):
        request = web.begin(
            "POST",
            "/api/v2/payments",
            bearer(shop.secrets["test"]),
            b"Content-Length: 500",
            body=b"{",
        )
        request.socket.close()
    assert (
        web.ask("GET", "/api/v2/payments", bearer(shop.secrets["test"])).json()["meta"]["total"]
        == 0
    )
