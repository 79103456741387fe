"""Headers reach us as they were sent, whatever their bytes: what decides something is refused when
it can't be read, never left out."""

from itertools import product

from apps.access.on_behalf import HEADER as ON_BEHALF
from tests.cast import Shop
from tests.web.wire import Web, bearer

ODD = ("clé".encode(), b"cl\xe9", b"\xff\xfe", "ключ".encode(), "１２３４５６".encode())
VALID = b'{"payment_intent": {"amount": "10.00", "currency": "EUR"}}'


KEYED = (
    ("/payments", "test"),
    ("/payouts", "test"),
    ("/balance_swaps", "test"),
    ("/x402/requirements", "test"),
    ("/agentic/payments", "test_agent"),
    ("/agentic/payouts", "test_agent"),
)


def test_a_key_beyond_ascii_is_422_and_nothing_is_made(web: Web, shop: Shop) -> None:
    for (path, credential), odd in product(KEYED, ODD):
        key = b"Idempotency-Key: " + odd
        answer = web.ask(
            "POST", f"/api/v2{path}", bearer(shop.secrets[credential]), key, body=VALID
        )
        assert answer.status == 422, (path, odd)
        told = answer.json()["error"]
        message = told["message"] if isinstance(told, dict) else told
        assert message == "Idempotency-Key is invalid", (path, odd)
    made = web.ask("GET", "/api/v2/payments", bearer(shop.secrets["test"])).json()
    assert made["meta"]["total"] == 0


def test_a_credential_beyond_ascii_is_401(web: Web, db: None) -> None:
    for odd, kind in product(ODD, (b"", b"Bearer ", b"Basic ")):
        line = b"Authorization: " + kind + odd
        assert web.ask("GET", "/api/v2/payments", line).status == 401, line
    for odd in ODD:
        secret, basic = (b"Authorization: " + kind + odd for kind in (b"Bearer ", b"Basic "))
        assert web.ask("GET", "/metrics", secret).status == 401, odd
        assert web.ask("POST", "/api/v2/oauth/token", basic, body=b"{}").status in (400, 401), odd


def test_an_account_beyond_ascii_is_nobody_and_never_the_platform_itself(
    web: Web, shop: Shop
) -> None:
    shop.store.is_platform = True
    shop.store.save(update_fields=["is_platform"])
    key = bearer(shop.secrets["test"])
    for odd in ODD:
        line = ON_BEHALF.encode() + b": " + odd
        assert web.ask("POST", "/api/v2/payments", key, line, body=VALID).status == 403, odd


HARMLESS = (
    b"Accept-Language",
    b"X-Request-Id",
    b"Origin",
    b"Referer",
    b"User-Agent",
    b"X-Forwarded-For",
    b"Cookie",
    b"X-CSRFToken",
    b"HX-Request",
    b"HX-Current-URL",
    b"HX-Target",
    b"X-Mandate",
    b"If-None-Match",
    b"If-Modified-Since",
    b"Range",
    b"Accept",
    b"X-OTP-Code",
    b"Forwarded",
    b"Sec-Fetch-Site",
    b"Accept-Encoding",
    b"PAYMENT-SIGNATURE",
    b"X-PAYMENT",
    b"X-Forwarded-Host",
)


def test_what_decides_nothing_is_harmless(web: Web, shop: Shop) -> None:
    """All of them together decide nothing either."""
    key = bearer(shop.secrets["test"])
    asked = b"Access-Control-Request-Headers: "
    for odd in ODD:
        lines = [name + b": " + odd for name in HARMLESS]
        assert web.ask("GET", "/api/v2/payments", key, *lines).status == 200, odd
        assert web.ask("GET", "/dashboard/sign-in", *lines).status == 200, odd
        assert web.ask("GET", "/static/css/app.css", *lines).status in (200, 206, 304, 404, 416)
        preflight = web.ask(
            "OPTIONS", "/api/v2/payments", b"Origin: https://a.example", asked + odd
        )
        assert preflight.status == 204, odd


def test_a_signature_beyond_ascii_is_wrong(web: Web, db: None) -> None:
    callback = "/api/v2/onramp_callbacks/00000000-0000-4000-8000-000000000000"
    for odd in ODD:
        for signature in (odd, b"t=1,v1=" + odd, b"t=" + odd + b",v1=00"):
            line = b"Offramp-Signature: " + signature
            answer = web.ask("POST", "/api/v2/offramp_callbacks", line, body=b"{}")
            assert answer.status in (400, 401, 403), line
        line = b"X-Onramper-Webhook-Signature: " + odd
        assert web.ask("POST", callback, line, body=b"{}").status in (401, 404), line


def test_a_host_or_a_kind_beyond_ascii_is_refused(web: Web, shop: Shop) -> None:
    key = bearer(shop.secrets["test"])
    length = f"Content-Length: {len(VALID)}".encode()
    for odd in ODD:
        kind = b"Content-Type: " + odd
        packed = (b"Content-Type: application/json", b"Content-Encoding: " + odd)
        for lines in ((kind,), packed):
            request = web.begin("POST", "/api/v2/payments", key, length, *lines, body=VALID)
            assert request.answer().status == 415, lines


def test_a_header_that_comes_twice_is_read_whole(web: Web, shop: Shop) -> None:
    key = bearer(shop.secrets["test"])
    twice = web.ask("GET", "/api/v2/payments", key, bearer(shop.secrets["live"]))
    assert twice.status == 401
    made = web.ask(
        "POST",
        "/api/v2/payments",
        key,
        b"Idempotency-Key: one",
        "Idempotency-Key: clé".encode(),
        body=VALID,
    )
    assert made.status == 422


def test_an_underscore_does_not_pass_for_a_hyphen(web: Web, shop: Shop) -> None:
    assert (
        web.ask(
            "GET",
            "/api/v2/payments",
            b"Authorization_: x",
            f"AUTHORIZATION: Bearer {shop.secrets['test']}".encode(),
        ).status
        == 200
    )
    answer = web.ask("GET", "/healthz", b"X_Request_Id: mine")
    assert answer.headers["x-request-id"] != "mine"
    assert web.ask("GET", "/healthz", b"X-Request-Id: mine").headers["x-request-id"] == "mine"
