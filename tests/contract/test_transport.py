"""Broken transport at every path: JSON answers of the documented shape, never a page, never a
500."""

from typing import Any

from tests.cast import Api, Shop

DEEP = b"[" * 100_000
NESTED = b'{"payment_intent": {"line_items": ' + b"[" * 1000 + b"]" * 1000 + b"}}"
VALID = b'{"payment_intent": {"amount": "10.00", "currency": "EUR"}}'


NO_OBJECT: list[bytes] = [
    b"[]",
    b'"x"',
    b"5",
    b"null",
    b"{",
    DEEP,
    NESTED,
    b'{"a": 1, "a": 2}',
    b'{"a": {"b": 1, "b": 1}}',
    b"\xef\xbb\xbf" + VALID,
    b'{"payment_intent":{"amount":NaN,"currency":"EUR"}}',
    b'{"a": Infinity}',
    b"\xff\xfe",
    b'{"a": ' + b"9" * 5000 + b"}",
]


def test_a_body_that_is_no_json_object_is_refused(bakery: Shop) -> None:
    for raw in NO_OBJECT:
        answer = bakery.test("POST", "/payments", raw=raw)
        assert answer.status_code == 400, raw[:40]
        assert answer.json()["error"]["code"] == "invalid_json", raw[:40]
    assert bakery.test("POST", "/payments", raw=b"").status_code == 422


def test_another_content_type_is_415(bakery: Shop) -> None:
    for content_type in [
        "application/x-www-form-urlencoded",
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/xml",
    ]:
        answer = bakery.test.client.post(
            "/api/v2/payments", data=VALID, content_type=content_type, headers=bakery.test.headers
        )
        assert answer.status_code == 415, content_type
        assert answer.json()["error"]["code"] is None, content_type


def test_a_body_over_one_mebibyte_is_413(bakery: Shop) -> None:
    answer = bakery.test("POST", "/payments", raw=b" " * (1024 * 1024 + 1))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")


def test_a_compressed_body_is_415(bakery: Shop) -> None:
    answer = bakery.test("POST", "/payments", raw=VALID, **{"Content-Encoding": "gzip"})
    assert answer.status_code == 415


def test_an_unknown_path_is_a_json_404(bakery: Shop) -> None:
    for path in [
        "/no_such_thing",
        "//payments",
        "/payments/..%2f..%2fadmin",
        "/payments/",
        "/payments/x/y/z",
        "",
    ]:
        for api in (bakery.test, Api()):
            for method in ("GET", "POST"):
                answer = api(method, path, {} if method == "POST" else None)
                assert (answer.status_code, answer.json()) == (
                    404,
                    {"error": {"message": "Not found", "code": None}},
                ), path


def test_an_unknown_method_is_405_and_says_what_is_allowed(bakery: Shop) -> None:
    for method, path, allowed in [
        ("PUT", "/payments", {"GET", "POST"}),
        ("DELETE", "/checkout/ABCDEFGH12345678", {"GET"}),
    ]:
        answer = bakery.test(method, path, {})
        assert answer.status_code == 405, method
        assert {part.strip() for part in answer.headers["Allow"].split(",")} == allowed, method
        assert answer.json()["error"]["code"] is None, method


def test_trace_is_405_to_strangers_too(db: None) -> None:
    assert Api()("TRACE", "/payments").status_code == 405


def test_the_accept_header_does_not_turn_an_answer_into_a_page(bakery: Shop) -> None:
    answer = bakery.test.get("/payments/x", Accept="text/html")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/json"


def test_a_sane_request_id_is_kept(bakery: Shop) -> None:
    for given in ["abc-DEF_123", "x" * 64]:
        assert (
            bakery.test.get("/payments", **{"X-Request-Id": given}).headers["X-Request-Id"] == given
        ), given


def test_any_other_request_id_is_replaced(bakery: Shop) -> None:
    for given in ["", "x" * 65, "a b", "<script>", "é"]:
        answer = bakery.test.get("/payments", **{"X-Request-Id": given})
        assert len(answer.headers["X-Request-Id"]) == 32, given


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


ODD_QUERIES: list[str] = [
    "reference=%00",
    "order_id=%00",
    "q=%F0%9F%98%80",
    "from=%00",
    "to=9999-12-31",
    "status=%00",
    "page=%00",
]


def test_odd_queries_are_answered(bakery: Shop) -> None:
    for query in ODD_QUERIES:
        assert bakery.test.get(f"/payments?{query}").status_code == 200, query


def test_a_page_past_the_end_is_empty(bakery: Shop) -> None:
    for page in ("2", "99999999999999999999"):
        assert bakery.test.get(f"/payments?page={page}").json()["data"] == []


def test_brackets_in_strings_are_no_nesting(bakery: Shop) -> None:
    answer = bakery.test.post(
        "/payments",
        {"payment_intent": {"amount": "1.00", "currency": "EUR", "title": '[{"\\' * 35}},
    )
    assert answer.status_code == 201
