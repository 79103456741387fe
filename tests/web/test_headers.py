"""Headers reach us as they were sent, whatever their bytes: what decides something is refused when
it can't be read, never left out."""

import pytest

from apps.access.on_behalf import HEADER as ON_BEHALF
from tests.cast import Cast, Shop
from tests.web.wire import Web, bearer

ODD = ("clé".encode(), b"cl\xe9", b"\xff\xfe", "ключ".encode(), "１２３４５６".encode())
VALID = b'{"payment_intent": {"amount": "10.00", "currency": "EUR"}}'


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    ("path", "credential"),
    [
        ("/payments", "test"),
        ("/payouts", "test"),
        ("/balance_swaps", "test"),
        ("/x402/requirements", "test"),
        ("/agentic/payments", "test_agent"),
        ("/agentic/payouts", "test_agent"),
    ],
)
def test_a_key_beyond_ascii_is_422_and_nothing_is_made(
    web: Web, shop: Shop, path: str, credential: str, odd: bytes
) -> None:
    answer = web.ask(
        "POST",
        f"/api/v2{path}",
        bearer(shop.secrets[credential]),
        b"Idempotency-Key: " + odd,
        body=VALID,
    )
    assert answer.status == 422
    told = answer.json()["error"]
    assert (told["message"] if isinstance(told, dict) else told) == "Idempotency-Key is invalid"
    assert (
        web.ask("GET", "/api/v2/payments", bearer(shop.secrets["test"])).json()["meta"]["total"]
        == 0
    )


@pytest.mark.parametrize("odd", ODD)
def test_a_credential_beyond_ascii_is_401(web: Web, db: None, odd: bytes) -> None:
    for line in (
        b"Authorization: " + odd,
        b"Authorization: Bearer " + odd,
        b"Authorization: Basic " + odd,
    ):
        assert web.ask("GET", "/api/v2/payments", line).status == 401
    assert web.ask("GET", "/metrics", b"Authorization: Bearer " + odd).status == 401
    assert web.ask(
        "POST", "/api/v2/oauth/token", b"Authorization: Basic " + odd, body=b"{}"
    ).status in (400, 401)


@pytest.mark.parametrize("odd", ODD)
def test_an_account_beyond_ascii_is_nobody_and_never_the_platform_itself(
    web: Web, committed: Cast, odd: bytes
) -> None:
    shop = committed.bakery
    shop.store.is_platform = True
    shop.store.save(update_fields=["is_platform"])
    answer = web.ask(
        "POST",
        "/api/v2/payments",
        bearer(shop.secrets["test"]),
        ON_BEHALF.encode() + b": " + odd,
        body=VALID,
    )
    assert answer.status == 403


@pytest.mark.parametrize("odd", ODD)
def test_what_decides_nothing_is_harmless(web: Web, shop: Shop, odd: bytes) -> None:
    key = bearer(shop.secrets["test"])
    names = (
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
    for name in names:
        line = name + b": " + odd
        assert web.ask("GET", "/api/v2/payments", key, line).status == 200, name
        assert web.ask("GET", "/dashboard/sign-in", line).status == 200, name
        assert web.ask("GET", "/static/css/app.css", line).status in (200, 206, 304, 404, 416), name
    answer = web.ask(
        "OPTIONS",
        "/api/v2/payments",
        b"Origin: https://a.example",
        b"Access-Control-Request-Headers: " + odd,
    )
    assert answer.status == 204


@pytest.mark.parametrize("odd", ODD)
def test_a_signature_beyond_ascii_is_wrong(web: Web, db: None, odd: bytes) -> None:
    for line in (
        b"Offramp-Signature: " + odd,
        b"Offramp-Signature: t=1,v1=" + odd,
        b"Offramp-Signature: t=" + odd + b",v1=00",
    ):
        assert web.ask("POST", "/api/v2/offramp_callbacks", line, body=b"{}").status in (
            400,
            401,
            403,
        )
    callback = "/api/v2/onramp_callbacks/00000000-0000-4000-8000-000000000000"
    assert web.ask(
        "POST", callback, b"X-Onramper-Webhook-Signature: " + odd, body=b"{}"
    ).status in (401, 404)


@pytest.mark.parametrize("odd", ODD)
def test_a_host_or_a_kind_beyond_ascii_is_refused(web: Web, shop: Shop, odd: bytes) -> None:
    key = bearer(shop.secrets["test"])
    length = f"Content-Length: {len(VALID)}".encode()
    wrong_kind = web.begin(
        "POST", "/api/v2/payments", key, length, b"Content-Type: " + odd, body=VALID
    ).answer()
    assert wrong_kind.status == 415
    packed = web.begin(
        "POST",
        "/api/v2/payments",
        key,
        length,
        b"Content-Type: application/json",
        b"Content-Encoding: " + odd,
        body=VALID,
    )
    assert packed.answer().status == 415


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
