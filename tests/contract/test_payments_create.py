"""POST /payments, rule by rule: what is refused, in which shape, naming which field, and what is
taken."""

from typing import Any

import pytest

from apps.payments.models import Payment
from tests.cast import Api, Shop

ITEM = {"description": "Chair", "quantity": 2, "unit_amount_cents": 500}
FULLWIDTH = "１１.１"
ARABIC = "١٠"
DEVANAGARI = "१०"
EMOJI = "\U0001f600"
REFUSED: dict[str, list[Any]] = {
    "amount": [
        "0",
        "0.00",
        "-0",
        "-1.00",
        "0.001",
        "10.005",
        "1e2",
        "1e309",
        "1e999999999",
        "1e-5",
        "NaN",
        "sNaN",
        "Infinity",
        "-Infinity",
        FULLWIDTH,
        ARABIC,
        DEVANAGARI,
        "1_000",
        " 10",
        "10 ",
        "10.",
        ".5",
        "10,50",
        "0x10",
        "1\u00000",
        "92233720368547758.08",
        "100000000.01",
        10,
        10.5,
        True,
        ["10"],
        None,
        "",
        "+10",
        "abc",
    ],
    "order_id": ["x" * 256, {"a": "b"}, "a\u0000b", 7],
    "title": ["x" * 151, ["x"], "a\u0000b", "\ud800", 123, " " * 10_000],
    "description": ["x" * 501, "a\u0000b"],
    "image_url": [
        "http://h.example/a.png",
        "javascript:alert(1)",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "//h.example/a.png",
        "https://h.example/" + "a" * 2048,
        'https://h.example/"onerror=alert(1)',
        "https://h.example/<script>",
        "file:///etc/passwd",
        "https://h.example:99999/",
        "https://[::1",
        "https://раура.example/",
    ],
    "success_url": [
        "javascript:alert(document.cookie)",
        "JaVaScRiPt:alert(1)",
        "java\nscript:alert(1)",
        "vbscript:msgbox(1)",
        "//evil.example",
        "https://shop.example@evil.example/",
        "/thanks",
        "https://shop.example/" + "a" * 100_000,
        "ftp://shop.example/",
        "not a url",
        5,
        "https://shop.example\\@evil.example/",
        "https://%65vil.example/",
        "https://shop.example/\n",
    ],
    "failed_url": ["javascript:alert(1)", "https://user:pw@shop.example/"],
    "expires_in": [299, 86401, 0, -3600, "600", "６００", 10**30, 300.5, True],
    "metadata": [
        {"a": True},
        {"a": 1},
        {"a": None},
        {"a": {"b": "c"}},
        {f"k{n}": "v" for n in range(51)},
        {"a\u0000": "x"},
        {"a": "x\u0000"},
        {"a": "\ud800"},
        {"a": "x" * 17_000},
        ["a"],
        "a",
    ],
    "line_items": [
        [ITEM] * 51,
        {"a": 1},
        "chair",
        ["chair"],
        [{"quantity": -1}],
        [{**ITEM, "quantity": 0}],
        [{**ITEM, "quantity": "2"}],
        [{**ITEM, "unit_amount_cents": -1}],
        [{**ITEM, "unit_amount_cents": 5.5}],
        [{**ITEM, "unit_amount_cents": 2**63}],
        [{**ITEM, "description": "x" * 256}],
        [{**ITEM, "image_url": "http://i.example/c.png"}],
    ],
    "customer_pays_fee": ["false", "yes", 1, 0, []],
}


def ask(api: Api, **fields: Any) -> Any:
    return api.post(
        "/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR", **fields}}
    )


@pytest.mark.parametrize("field", REFUSED)
def test_a_broken_rule_is_told_in_one_sentence_that_names_the_field(
    bakery: Shop, field: str
) -> None:
    for value in REFUSED[field]:
        answer = ask(bakery.test, **{field: value})
        assert answer.status_code == 422, (value, answer.content)
        assert list(answer.json()) == ["error"], value
        assert field in answer.json()["error"], value
    assert not Payment.objects.visible_to(bakery.access()).exists()


MISSING: list[tuple[Any, str]] = [
    ({"amount": "10.00", "currency": "EUR"}, "payment_intent is required"),
    ({"payment_intent": None}, "payment_intent is required"),
    ({"payment_intent": []}, "payment_intent must be an object"),
    ({"payment_intent": "x"}, "payment_intent must be an object"),
    ({"payment_intent": {"amount": "10.00"}}, "currency is required"),
    ({"payment_intent": {"currency": "EUR"}}, "amount is required"),
    (
        {"payment_intent": {"amount": "0.00", "currency": "EUR"}},
        "amount must be greater than zero",
    ),
    (
        {"payment_intent": {"amount": "1000.50", "currency": "JPY"}},
        "amount must be a whole number in JPY",
    ),
]


def test_what_is_missing_is_named(bakery: Shop) -> None:
    for body, sentence in MISSING:
        answer = bakery.test.post("/payments", body)
        assert (answer.status_code, answer.json()) == (422, {"error": sentence})


def test_an_unsupported_currency_is_told_with_code_null(bakery: Shop) -> None:
    for code in ("AUD", "eur", "ETH", "EURO"):
        answer = ask(bakery.test, currency=code)
        assert answer.status_code == 422
        assert answer.json() == {
            "error": {"message": f"Unsupported settlement currency: {code}", "code": None}
        }


ALLOWED: list[dict[str, Any]] = [
    {"title": "a" * 150},
    {"title": EMOJI * 150},
    {"description": EMOJI * 500},
    {"order_id": "a" * 255},
    {"order_id": EMOJI * 255},
    {"title": "Invoice \u202excod.exe"},
    {"title": "\u0410pple St\u043ere"},
    {"title": '" onmouseover=alert(1) x="'},
    {"title": "{{7*7}}{% debug %}"},
    {"order_id": '=HYPERLINK("http://e.example","x")'},
    {"order_id": "\t=1+1"},
    {"image_url": "https://h.example/a.svg"},
    {"image_url": "https://169.254.169.254/latest/meta-data/"},
    {"success_url": "https://shop.example/?token=secret"},
    {"success_url": "http://shop.example/ok"},
    {"expires_in": 300},
    {"expires_in": 86400},
    {"expires_in": None},
    {"metadata": {}},
    {"metadata": {"__proto__": "x"}},
    {"metadata": {"a": "<img src=x onerror=alert(1)>"}},
    {"amount": "0010.00"},
    {"amount": "1000.00", "currency": "JPY"},
    {"amount": "100000000.00"},
    {"line_items": [ITEM]},
    {"line_items": [{**ITEM, "name": "<svg onload=alert(1)>"}]},
    {"customer_pays_fee": None},
]


def test_what_the_rules_allow_is_taken_as_sent(bakery: Shop) -> None:
    for fields in ALLOWED:
        answer = ask(bakery.test, **fields)
        assert answer.status_code == 201, (fields, answer.content)
        for name in ("title", "description", "order_id", "image_url", "success_url"):
            assert answer.json()[name] == fields.get(name), fields


def test_plain_http_redirects_are_for_localhost_only_in_live_mode(bakery: Shop) -> None:
    assert ask(bakery.live, success_url="http://shop.example/ok").status_code == 422
    assert ask(bakery.live, success_url="http://localhost:3000/ok").status_code == 201


def test_an_idempotency_key_is_printable_and_short(bakery: Shop) -> None:
    body = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    for key in ("x" * 256, "schlüssel", "a\x01b"):
        answer = bakery.test.post("/payments", body, key=key)
        assert (answer.status_code, answer.json()) == (
            422,
            {"error": "Idempotency-Key is invalid"},
        ), key
