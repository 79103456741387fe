"""What every path does with broken transport: JSON answers of the documented shape, never a page,
never a 500."""

from typing import Any

import pytest

from tests.cast import Api, Shop

DEEP = b"[" * 100_000
NESTED = b'{"payment_intent": {"line_items": ' + b"[" * 1000 + b"]" * 1000 + b"}}"
VALID = b'{"payment_intent": {"amount": "10.00", "currency": "EUR"}}'


@pytest.mark.parametrize(
    "raw",
    [
        b"[]",
        b'"x"',
        b"5",
        b"null",
        b"{",
        b"",
        DEEP,
        NESTED,
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}',
        b"\xef\xbb\xbf" + VALID,
        b'{"payment_intent":{"amount":NaN,"currency":"EUR"}}',
        b'{"a": Infinity}',
        b"\xff\xfe",
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_a_body_that_is_no_json_object_is_refused(bakery: Shop, raw: bytes) -> None:
    answer = bakery.test("POST", "/payments", raw=raw)
    if raw == b"":
        assert answer.status_code == 422
        return
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_json"


@pytest.mark.parametrize(
    "content_type",
    [
        "application/x-www-form-urlencoded",
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/xml",
    ],
)
def test_another_content_type_is_415(bakery: Shop, content_type: str) -> None:
    answer = bakery.test.client.post(
        "/api/v2/payments", data=VALID, content_type=content_type, headers=bakery.test.headers
    )
    assert answer.status_code == 415
    assert answer.json()["error"]["code"] is None


def test_a_body_over_one_mebibyte_is_413(bakery: Shop) -> None:
    answer = bakery.test("POST", "/payments", raw=b" " * (1024 * 1024 + 1))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")


def test_a_compressed_body_is_415(bakery: Shop) -> None:
    answer = bakery.test("POST", "/payments", raw=VALID, **{"Content-Encoding": "gzip"})
    assert answer.status_code == 415


@pytest.mark.parametrize(
    "path",
    [
        "/no_such_thing",
        "//payments",
        "/payments/..%2f..%2fadmin",
        "/payments/",
        "/payments/x/y/z",
        "",
    ],
)
def test_an_unknown_path_is_a_json_404(bakery: Shop, path: str) -> None:
    for api in (bakery.test, Api()):
        for method in ("GET", "POST"):
            answer = api(method, path, {} if method == "POST" else None)
            assert (answer.status_code, answer.json()) == (
                404,
                {"error": {"message": "Not found", "code": None}},
            )


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("PUT", "/payments", {"GET", "POST"}), ("DELETE", "/checkout/ABCDEFGH12345678", {"GET"})],
)
def test_an_unknown_method_is_405_and_says_what_is_allowed(
    bakery: Shop, method: str, path: str, allowed: set[str]
) -> None:
    answer = bakery.test(method, path, {})
    assert answer.status_code == 405
    assert {part.strip() for part in answer.headers["Allow"].split(",")} == allowed
    assert answer.json()["error"]["code"] is None


def test_trace_is_405_to_strangers_too(db: None) -> None:
    assert Api()("TRACE", "/payments").status_code == 405


def test_the_accept_header_does_not_turn_an_answer_into_a_page(bakery: Shop) -> None:
    answer = bakery.test.get("/payments/x", Accept="text/html")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("given", ["abc-DEF_123", "x" * 64])
def test_a_sane_request_id_is_kept(bakery: Shop, given: str) -> None:
    assert bakery.test.get("/payments", **{"X-Request-Id": given}).headers["X-Request-Id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "<script>", "é"])
def test_any_other_request_id_is_replaced(bakery: Shop, given: str) -> None:
    answer = bakery.test.get("/payments", **{"X-Request-Id": given})
    assert len(answer.headers["X-Request-Id"]) == 32


def test_a_foreign_host_is_refused_and_never_used_for_links(bakery: Shop) -> None:
    answer = bakery.test.client.get(
        "/api/v2/checkout/ABCDEFGH12345678", headers={"Host": "evil.example"}
    )
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/json"
    made = bakery.test.post(
        "/payments",
        {"payment_intent": {"amount": "1.00", "currency": "EUR"}},
        **{"X-Forwarded-Host": "evil.example"},
    )
    assert "evil.example" not in made.content.decode()


def test_only_public_paths_and_publishable_creates_answer_any_origin(bakery: Shop) -> None:
    origin = {"Origin": "https://evil.example"}
    public = Api()(
        "OPTIONS",
        "/checkout/ABCDEFGH12345678",
        **origin,
        **{"Access-Control-Request-Headers": "X-Anything"},
    )
    assert (
        public.headers["Access-Control-Allow-Origin"],
        public.headers["Access-Control-Allow-Headers"],
    ) == ("*", "X-Anything")
    assert "Access-Control-Allow-Credentials" not in public.headers
    assert "Access-Control-Allow-Origin" not in bakery.test.get("/payments", **origin).headers
    assert (
        "Access-Control-Allow-Origin"
        not in Api()("OPTIONS", "/webhook_endpoints", **origin).headers
    )
    body: Any = {"payment_intent": {"amount": "1.00", "currency": "EUR"}}
    assert (
        "Access-Control-Allow-Origin" not in bakery.test.post("/payments", body, **origin).headers
    )
    made = Api(bakery.secrets["test_publishable"]).post("/payments", body, **origin)
    assert (made.status_code, made.headers["Access-Control-Allow-Origin"]) == (201, "*")


@pytest.mark.parametrize(
    "query",
    [
        "reference=%00",
        "order_id=%00",
        "q=%F0%9F%98%80",
        "from=%00",
        "to=9999-12-31",
        "status=%00",
        "page=%00",
    ],
)
def test_odd_queries_are_answered(bakery: Shop, query: str) -> None:
    assert bakery.test.get(f"/payments?{query}").status_code == 200


@pytest.mark.parametrize(
    ("query", "page", "per_page"),
    [
        ("page=0", 1, 10),
        ("page=-1", 1, 10),
        ("page=abc", 1, 10),
        ("page=", 1, 10),
        ("page=1e2", 1, 10),
        ("page=1.5", 1, 10),
        ("page=%00", 1, 10),
        ("page=１", 1, 10),
        ("page=null", 1, 10),
        ("per_page=0", 1, 1),
        ("per_page=-1", 1, 1),
        ("per_page=101", 1, 100),
        ("per_page=abc", 1, 10),
        ("per_page=99999999999999999999", 1, 100),
        ("page=7&per_page=3", 7, 3),
    ],
)
def test_paging_reads_what_it_can_and_clamps_the_rest(
    bakery: Shop, query: str, page: int, per_page: int
) -> None:
    meta = bakery.test.get(f"/payments?{query}").json()["meta"]
    assert (meta["page"], meta["per_page"], meta["total"], meta["total_pages"]) == (
        page,
        per_page,
        0,
        0,
    )


def test_a_page_past_the_end_is_empty(bakery: Shop) -> None:
    for page in ("2", "99999999999999999999"):
        assert bakery.test.get(f"/payments?page={page}").json()["data"] == []


def test_brackets_in_strings_are_no_nesting(bakery: Shop) -> None:
    answer = bakery.test.post(
        "/payments",
        {"payment_intent": {"amount": "1.00", "currency": "EUR", "title": '[{"\\' * 35}},
    )
    assert answer.status_code == 201
