"""Card payments through the public paths: availability, what the methods cost, and sessions."""

from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client

from apps.core import crypto
from apps.onramp.models import Credential, FundingSession
from apps.stores.services import change_store
from tests import auditing, make
from tests.cast import Api, Shop
from tests.onramp.cards import PUBLIC, ask, credential, methods, opened, press, row, status

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _books_are_right(db: None) -> Any:
    yield
    assert auditing.breaches() == []


# --- whether there is a card option ---


def reason(shop: Shop, made: dict[str, Any], mode: str = "test") -> Any:
    told = make.detail(getattr(shop, mode), made["id"])["onramp_unavailable"]
    return told and told["reason"]


def only_onramper(settings: Any, mode: str = "test", url: str = "http://127.0.0.1:9") -> None:
    entry = {
        "BACKEND": "apps.onramp.providers.onramper.Onramper",
        "OPTIONS": {"base_url": url, "floor_cents": 500, "quote_seconds": 2},
    }
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "onramp": {**settings.PROVIDERS["onramp"], mode: [entry]},
    }


def _off(shop: Shop, settings: Any) -> dict[str, Any]:
    change_store(shop.store, card_funding_test=False)
    return make.payment(shop.test)


def _no_credentials(shop: Shop, settings: Any) -> dict[str, Any]:
    only_onramper(settings)
    credential("live")
    return make.payment(shop.test)


def _live_in_test(shop: Shop, settings: Any) -> dict[str, Any]:
    only_onramper(settings)
    credential("test", "pk_prod_0123456789abcdef")
    return make.payment(shop.test)


REASONS = {
    "feature_disabled": _off,
    "unsupported_currency": lambda shop, settings: make.payment(
        shop.test, currency="JPY", amount="2000"
    ),
    "below_min_amount": lambda shop, settings: make.payment(shop.test, amount="4.99"),
    "above_max_amount": lambda shop, settings: make.payment(shop.test, amount="5000.01"),
    "provider_unconfigured": _no_credentials,
    "live_credentials_in_test": _live_in_test,
}


@pytest.mark.parametrize("expected", REASONS)
def test_why_there_is_no_card_option_is_told(shop: Shop, settings: Any, expected: str) -> None:
    made = REASONS[expected](shop, settings)
    assert reason(shop, made) == expected
    assert PUBLIC.get(f"/checkout/{made['reference']}").json()["onramp"] == {
        "available": False,
        "providers": [],
    }
    refused = methods(made)
    sentence = "Card payments are not available" + (
        " for this amount" if "amount" in expected else ""
    )
    assert (refused.status_code, refused.json()) == (422, {"error": sentence})
    assert ask(made, payment_method_id="sandbox.card").json() == {"error": sentence}


def test_an_amount_out_of_bounds_is_told_with_the_bounds(shop: Shop) -> None:
    told = make.detail(shop.test, make.payment(shop.test, amount="4.99")["id"])[
        "onramp_unavailable"
    ]
    assert told["message"]
    assert {name: told[name] for name in told if name not in ("message",)} == {
        "reason": "below_min_amount",
        "charge_amount_cents": 499,
        "min_amount_cents": 500,
        "max_amount_cents": 500_000,
        "currency": "EUR",
    }


def test_test_credentials_in_live_mode_are_no_credentials(shop: Shop, settings: Any) -> None:
    only_onramper(settings, "live")
    credential("live", "pk_test_0123456789abcdef")
    assert (
        reason(shop, make.payment(shop.live, amount="50.00"), "live") == "live_credentials_in_live"
    )


def test_no_address_in_an_asset_that_is_delivered(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.onramp.providers.sandbox.ASSETS", {"live": (), "test": ("OTHER",)})
    assert reason(shop, make.payment(shop.test)) == "no_settlement_asset"


def test_a_stores_own_credentials_come_before_those_of_all(shop: Shop, settings: Any) -> None:
    only_onramper(settings)
    credential("test", "pk_prod_0123456789abcdef")
    made = make.payment(shop.test, amount="50.00")
    assert reason(shop, made) == "live_credentials_in_test"
    credential("test", store=shop.store)
    assert reason(shop, made) is None


def test_secrets_are_sealed_and_bound_to_their_row(db: None) -> None:
    one = credential("live", "pk_prod_0123456789abcdef")
    assert "pk_prod_0123" not in one.sealed_api_key and one.api_key_hint == "pk_prod_…"
    other = credential("test")
    Credential.objects.filter(pk=other.pk).update(sealed_api_key=one.sealed_api_key)
    with pytest.raises(ValueError, match="MAC"):
        crypto.decrypt(one.sealed_api_key, other.place("sealed_api_key"))


# --- what the methods cost ---


def test_methods_are_priced_best_first(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    body = methods(made).json()
    assert (body["provider"], body["fee_borne_by"], body["service_fee_cents"]) == (
        "sandbox",
        "merchant",
        0,
    )
    assert (body["currency"], body["settlement_amount_cents"]) == ("EUR", 5000)
    assert [payment_method["id"] for payment_method in body["payment_methods"]] == [
        "sandbox.sepa",
        "sandbox.card",
    ]
    for payment_method in body["payment_methods"]:
        assert (
            payment_method["charge_amount_cents"] == 5000 > payment_method["converted_amount_cents"]
        )
        assert [provider["recommended"] for provider in payment_method["providers"]] == [True] + [
            False
        ] * (len(payment_method["providers"]) - 1)
        amounts = [Decimal(provider["crypto_amount"]) for provider in payment_method["providers"]]
        assert amounts == sorted(amounts, reverse=True)


def test_a_customer_who_bears_the_fees_is_charged_for_a_whole_delivery(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00", customer_pays_fee=True)
    body = methods(made).json()
    assert body["fee_borne_by"] == "payer" and body["service_fee_cents"] > 50
    needed = Decimal(made["payment_addresses"][0]["crypto_amount"])
    for payment_method in body["payment_methods"]:
        assert (
            needed <= Decimal(payment_method["crypto_amount"]) <= needed * Decimal("1.01")
            and payment_method["charge_amount_cents"] > 5000
        )


def test_what_would_cost_the_store_more_than_the_card_rate_is_left_out(
    shop: Shop, settings: Any
) -> None:
    settings.CARD_RATE_BPS = 200
    assert [
        payment_method["id"]
        for payment_method in methods(make.payment(shop.test, amount="50.00")).json()[
            "payment_methods"
        ]
    ] == ["sandbox.sepa"]
    settings.CARD_RATE_BPS = 10
    made = make.payment(shop.test, amount="50.00")
    assert methods(made).json()["payment_methods"] == []
    assert ask(made, payment_method_id="sandbox.card").json() == {
        "error": "Card payments are not available for this amount"
    }


PLACES: list[tuple[str, dict[str, str], int]] = [
    ("?country=US&region=US-CA", {}, 2),
    ("?country=US&region=NY", {}, 0),
    ("?country=BR", {}, 0),
    ("?country=BR", {"CF-IPCountry": "DE"}, 2),
    ("?country=DE", {"CF-IPCountry": "US", "CF-Region-Code": "NY"}, 0),
    ("?country=DE", {"CF-IPCountry": "XX"}, 2),
    ("", {}, 2),
]


def test_the_place_is_the_edges_then_the_parameter_then_the_stores(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    for query, edge, count in PLACES:
        told = methods(made, query, **edge).json()["payment_methods"]
        assert len(told) == count, (query, edge)


def test_a_country_is_needed_and_taken_literally(shop: Shop) -> None:
    change_store(shop.store, country="")
    made = make.payment(shop.test, amount="50.00")
    assert methods(made).json() == {"error": "Country is required"}
    assert methods(made, "?country=de").json() == {
        "error": "country must be two upper-case letters"
    }
    assert methods(made, "?country=DE&provider=nobody").json() == {
        "error": "Card payments are not available"
    }
    assert methods(made, "?country=DE&provider=sandbox").status_code == 200


# --- sessions ---


def test_a_session_is_opened_once_and_shown_on_the_payment(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    session = opened(made, customer_email="ann@example.com")
    assert (
        session["status"],
        session["amount_cents"],
        session["currency"],
        session["paid_at"],
    ) == ("pending", 5000, "EUR", None)
    detail = make.detail(shop.test, made["id"])
    assert (detail["onramp_session"]["id"], detail["onramp_unavailable"]) == (session["id"], None)
    assert (
        detail["onramp_session"]["destination_address"] == made["payment_addresses"][0]["address"]
    )
    assert detail["onramp_session"]["provider_name"] == "Sandbox Pay"
    assert opened(made, "sandbox.sepa") == session
    assert FundingSession.objects.count() == 1


def test_the_provider_that_was_chosen_is_taken_and_else_the_best(shop: Shop) -> None:
    chosen = make.payment(shop.test, amount="50.00")
    gone = make.payment(shop.test, amount="50.00")
    assert (
        row(opened(chosen, provider_service_id="sandbox-exchange")).service_id == "sandbox-exchange"
    )
    assert row(opened(gone, provider_service_id="closed-down")).service_id == "sandbox-pay"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "Unknown payment method"),
    ({"payment_method_id": "sandbox.cash"}, "Unknown payment method"),
    ({"payment_method_id": 7}, "payment_method_id must be a string"),
    ({"payment_method_id": "sandbox.card", "provider": "x"}, "Card payments are not available"),
    (
        {"payment_method_id": "sandbox.card", "customer_email": '"<svg/onload=1>"@x.example'},
        "customer_email must be an email address",
    ),
    (
        {"payment_method_id": "sandbox.card", "country": "de"},
        "country must be two upper-case letters",
    ),
    ({"payment_method_id": "sandbox.card", "region": "<script>"}, "region is invalid"),
]


def test_what_is_refused_is_a_plain_string(shop: Shop) -> None:
    for fields, sentence in REFUSED:
        answer = ask(make.payment(shop.test, amount="50.00"), **fields)
        assert (answer.status_code, answer.json()) == (422, {"error": sentence}), fields
    assert not FundingSession.objects.exists()


def test_unknown_and_ended_payments_have_no_card_paths(shop: Shop) -> None:
    for reference in ("ABC", "Z" * 16):
        assert (
            ask({"reference": reference}).json()
            == methods({"reference": reference}).json()
            == {"error": "Checkout not found"}
        )
    made = make.payment(shop.test, amount="50.00")
    make.advance(shop.test, 90_000)
    for answer in (methods(made), ask(made, payment_method_id="sandbox.card")):
        assert (answer.status_code, answer.json()) == (
            422,
            {"error": "Payment can no longer be paid"},
        )


def test_a_paid_session_is_the_last(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    press(opened(made), "paid")
    answer = ask(made, payment_method_id="sandbox.card")
    assert (answer.status_code, answer.json()) == (
        409,
        {"error": "Payment has already been funded by card"},
    )
    detail = make.detail(shop.test, made["id"])
    assert (detail["status"], detail["amount_paid"], detail["onramp_session"]["status"]) == (
        "pending",
        "0.00",
        "paid",
    )
    assert PUBLIC.get(f"/checkout/{made['reference']}").json()["onramp"]["available"] is False


@pytest.mark.parametrize("outcome", ["failed", "expired"])
def test_after_a_session_that_came_to_nothing_another_may_be_opened(
    shop: Shop, outcome: str
) -> None:
    made = make.payment(shop.test, amount="50.00")
    first = opened(made)
    press(first, outcome)
    press(first, "paid")  # an end stays
    assert status(shop, made) == outcome
    second = opened(made)
    assert second["id"] != first["id"]
    press(second, "pending")
    assert status(shop, made) == "pending"


def test_any_origin_may_ask_without_credentials(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    path = f"/checkout/{made['reference']}"
    for answer in (
        Api(Origin="https://shop.example").get(f"{path}/onramp/payment_methods"),
        Api(Origin="https://shop.example")(
            "OPTIONS", f"{path}/onramp_sessions", **{"Access-Control-Request-Headers": "x-anything"}
        ),
    ):
        assert (
            answer.headers["Access-Control-Allow-Origin"] == "*"
            and "Access-Control-Allow-Credentials" not in answer.headers
        )
    assert answer.headers["Access-Control-Allow-Headers"] == "x-anything"


def test_each_path_has_a_budget_of_its_own(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    assert methods(made).headers["RateLimit-Policy"] == '"onramp_methods";q=20;w=60'
    assert (
        ask(made, payment_method_id="sandbox.card").headers["RateLimit-Policy"]
        == '"onramp_sessions";q=12;w=60'
    )
    refused = next(
        answer for answer in (methods(made) for _ in range(100)) if answer.status_code == 429
    )
    assert (
        refused.json()["error"]["code"] == "rate_limited"
        and int(refused.headers["Retry-After"]) >= 1
    )


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        ("paid", "The card was charged. There’s nothing more to do on this page."),
        ("failed", "The card was declined and nothing was charged."),
        ("expired", "This card payment expired and nothing was charged."),
    ],
)
def test_a_card_page_that_has_ended_says_how(shop: Shop, outcome: str, sentence: str) -> None:
    session = opened(make.payment(shop.test, amount="50.00"))
    path = f"/sandbox/card/{session['id']}"
    assert "Open until" in Client().get(path).content.decode()
    press(session, outcome)
    page = unescape(Client().get(path).content.decode())
    assert sentence in page and "Open until" not in page and "<form" not in page
