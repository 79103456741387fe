"""The agent API: its requests, its answers, and every refusal with its code."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from werkzeug import Response

from apps.agents.providers.market_coingecko import CoinGeckoMarkets
from apps.agents.services import market
from apps.agents.services.payouts import set_cap
from apps.assets.models import Asset
from apps.payouts.models import Payout
from apps.payouts.services.caps import set_store_cap
from apps.stores.settings import write_settings
from tests import auditing, make
from tests.cast import Api, Cast, Shop

TO = "0x52908400098527886E0F7030069857D2E4169EE7"


@pytest.fixture
def shop(cast: Cast) -> Shop:
    """A store whose agents may refund and change tokens."""
    write_settings(cast.bakery.store, {"authorization_provider": "policy"})
    return cast.bakery


def agent(shop: Shop, mode: str = "test") -> Api:
    return Api(shop.secrets[f"{mode}_agent"])


def ask(api: Api, **fields: Any) -> Any:
    return api.post(
        "/agentic/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR", **fields}}
    )


def paid(shop: Shop) -> dict[str, Any]:
    """An agent's payment, completed."""
    made: dict[str, Any] = ask(agent(shop)).json()
    make.simulated(shop.test, made["id"])
    return made


def refusal(answer: Any) -> tuple[int, str | None]:
    return answer.status_code, answer.json()["error"]["code"]


BAD_PAYMENTS: list[tuple[dict[str, Any], str | None]] = [
    ({"amount": "10.001"}, "invalid_amount"),
    ({"amount": "Infinity"}, "invalid_amount"),
    ({"amount": "0.00"}, "invalid_amount"),
    ({"amount": None}, "invalid_amount"),
    ({"amount": 10}, "invalid_amount"),
    ({"amount": "100000000.01"}, "amount_too_large"),
    ({"amount": "1" + "0" * 30}, "amount_too_large"),
    ({"currency": ""}, "invalid_currency"),
    ({"currency": None}, "invalid_currency"),
    ({"currency": "eur"}, "unsupported_currency"),
    ({"currency": "XYZ"}, "unsupported_currency"),
    ({"metadata": {"a": 1}}, "invalid_metadata"),
    ({"metadata": {str(n): "x" for n in range(51)}}, "invalid_metadata"),
    ({"expires_in": 299}, None),
]


def test_a_payment_that_makes_no_sense_is_refused_with_the_code_of_its_field(shop: Shop) -> None:
    for fields, code in BAD_PAYMENTS:
        assert refusal(ask(agent(shop), **fields)) == (422, code), fields
    assert agent(shop).get("/agentic/payments").json()["meta"]["total"] == 0


def test_an_agent_sees_its_own_payments_and_nobody_elses(shop: Shop, cast: Cast) -> None:
    mine = ask(agent(shop)).json()
    theirs = make.payment(shop.test)
    assert [item["id"] for item in agent(shop).get("/agentic/payments").json()["data"]] == [
        mine["id"]
    ]
    assert refusal(agent(shop).get(f"/agentic/payments/{theirs['id']}")) == (404, "not_found")
    found = (
        agent(shop).get(f"/agentic/payments?reference={mine['reference'].lower()}").json()["data"]
    )
    assert [item["id"] for item in found] == [mine["id"]]


def test_only_a_pending_payment_is_canceled(shop: Shop) -> None:
    made = ask(agent(shop)).json()
    told = agent(shop).post(f"/agentic/payments/{made['id']}/cancel").json()
    assert (told["status"], told["state_reason"]) == ("expired", "canceled_by_agent")
    events = shop.test.get(f"/payments/{made['id']}/events").json()
    assert (events[-1]["event_type"], events[-1]["to_status"]) == (
        "payment_intent.canceled",
        "expired",
    )
    assert auditing.found_of("history_whole") == []
    for closed in (made, paid(shop)):
        assert refusal(agent(shop).post(f"/agentic/payments/{closed['id']}/cancel")) == (
            422,
            "not_cancelable",
        )


BAD_REFUNDS = [
    ({"amount": "0"}, (422, "invalid_amount")),
    ({"amount": "abc"}, (422, "invalid_amount")),
    ({"amount": "1000000"}, (422, "invalid_amount")),
    ({"amount": "0.0001", "asset_id": "NOPE"}, (404, "asset_not_found")),
    ({"amount": "0.0001", "asset_id": "ETH"}, (404, "asset_not_found")),
    ({}, (422, "insufficient_balance")),
]


def test_a_refund_that_cannot_be_is_refused_with_its_code(shop: Shop) -> None:
    path = f"/agentic/payments/{paid(shop)['id']}/refunds"
    for body, expected in BAD_REFUNDS:
        assert refusal(agent(shop).post(path, body, key="k")) == expected, body
        assert agent(shop).get(path).json() == {"data": []}, body


def test_a_refund_goes_to_who_paid_and_only_with_a_provider(shop: Shop) -> None:
    made = paid(shop)
    body = {"amount": "0.0001", "destination_address": TO}  # which changes nothing
    (refund,) = (
        agent(shop).post(f"/agentic/payments/{made['id']}/refunds", body, key="k").json()["data"]
    )
    payer = make.detail(shop.test, made["id"])["transaction"]["from_address"]
    assert (refund["destination_address"].lower(), refund["amount_atomic"]) == (
        payer.lower(),
        str(10**14),
    )
    write_settings(shop.store, {"authorization_provider": "none"})
    assert refusal(
        agent(shop).post(f"/agentic/payments/{made['id']}/refunds", {"amount": "0.0001"}, key="l")
    ) == (403, "mandate_required")
    assert refusal(agent(shop).patch("/agentic/tokens/SETH", {"active": True})) == (
        403,
        "mandate_required",
    )


def test_payout_limits_tell_caps_and_what_is_left_of_the_day(shop: Shop) -> None:
    limits = agent(shop).get("/agentic/payout_limits?asset_id=SETH").json()["limits"]
    assert [
        (limit["asset_id"], limit["controls_configured"], limit["daily_remaining_atomic"])
        for limit in limits
    ] == [("SETH", False, None)]
    balance = make.funded(shop.test)
    set_store_cap(shop.store, "SETH", daily_atomic=balance // 2)
    body = {"asset_id": "SETH", "amount_atomic": balance // 4, "destination_address": TO}
    assert agent(shop).post("/agentic/payouts", body, key="k").status_code == 201
    (told,) = agent(shop).get("/agentic/payout_limits?asset_id=SETH").json()["limits"]
    assert (told["daily_spent_atomic"], told["daily_remaining_atomic"]) == (
        str(balance // 4),
        str(balance // 2 - balance // 4),
    )
    assert refusal(
        agent(shop).post("/agentic/payouts", body | {"amount_atomic": str(balance // 2)}, key="l")
    ) == (
        403,
        "daily_cap_exceeded",
    )
    assert refusal(agent(shop).get("/agentic/payout_limits?asset_id=NOPE")) == (
        404,
        "asset_not_found",
    )


def test_the_caps_of_a_day_begin_anew_at_midnight_utc(shop: Shop) -> None:
    part = make.funded(shop.test) // 8
    credential = shop.agent()
    set_cap(credential, Asset.objects.get(pk="SETH"), None, part)
    now = shop.access().now()
    make.advance(shop.test, int((_midnight(now) - now).total_seconds()) - 60)
    body = {"asset_id": "SETH", "amount_atomic": str(part), "destination_address": TO}

    def left() -> tuple[str, str]:
        (told,) = agent(shop).get("/agentic/payout_limits?asset_id=SETH").json()["limits"]
        return told["daily_spent_atomic"], told["daily_remaining_atomic"]

    assert agent(shop).post("/agentic/payouts", body, key="evening").status_code == 201
    assert refusal(agent(shop).post("/agentic/payouts", body, key="later")) == (
        403,
        "daily_cap_exceeded",
    )
    assert left() == (str(part), "0")
    make.advance(shop.test, 61)
    assert left() == ("0", str(part))
    assert agent(shop).post("/agentic/payouts", body, key="night").status_code == 201
    assert refusal(agent(shop).post("/agentic/payouts", body, key="again")) == (
        403,
        "daily_cap_exceeded",
    )
    made = [Payout.objects.get(idempotency_key=key).created_at for key in ("evening", "night")]
    assert made[0] < _midnight(now) <= made[1]


def _midnight(at: datetime) -> datetime:
    """The next one, UTC."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"amount_atomic": "0"}, (422, "invalid_amount")),
        ({"amount_atomic": 1.5}, (422, "invalid_amount")),
        ({"amount_atomic": None}, (422, "invalid_amount")),
        ({"destination_address": ""}, (422, "destination_required")),
        (
            {"crypto_payout_detail_id": "00000000-0000-4000-8000-000000000000"},
            (422, "destination_required"),
        ),
        ({"destination_address": "0x12"}, (422, "payout_rejected")),
        ({"amount_atomic": "1"}, (422, "payout_rejected")),
        ({"asset_id": "NOPE"}, (404, "asset_not_found")),
        ({"asset_id": "ETH"}, (422, "asset_not_active")),
    ],
)
def test_a_payout_that_cannot_be_is_refused_with_its_code(
    shop: Shop, fields: dict[str, Any], expected: tuple[int, str]
) -> None:
    body = {"asset_id": "SETH", "amount_atomic": str(10**16), "destination_address": TO, **fields}
    assert refusal(agent(shop).post("/agentic/payouts", body, key="k")) == expected


def test_without_caps_and_without_a_provider_nothing_is_paid_out(cast: Cast) -> None:
    make.funded(cast.bakery.test)
    body = {"asset_id": "SETH", "amount_atomic": str(10**16), "destination_address": TO}
    assert refusal(agent(cast.bakery).post("/agentic/payouts", body, key="k")) == (
        403,
        "payout_controls_required",
    )


def test_balances_and_exchange_rates_are_the_services_own(shop: Shop) -> None:
    make.paid(shop.test, amount="100.00")
    told = agent(shop).get("/agentic/balances?asset_id=SETH").json()
    assert [entry["amount_cents"] for entry in told["balances"]] == [
        9900
    ] and "stablecoin_summary" not in told
    rates = agent(shop).get("/agentic/exchange_rates?currency=GBP").json()
    assert [
        (rate["asset_id"], rate["rate"].rstrip("0").rstrip(".")) for rate in rates["rates"]
    ] == [("SETH", "1550")]
    assert refusal(agent(shop).get("/agentic/exchange_rates?currency=gbp")) == (
        422,
        "unsupported_currency",
    )


def test_a_token_is_accepted_or_not_but_the_last_one_stays(shop: Shop) -> None:
    api = agent(shop)
    assert api.patch("/agentic/tokens/SETH", {"active": True}).json() == {
        "asset_id": "SETH",
        "active": True,
        "provider": "policy",
    }
    assert refusal(api.patch("/agentic/tokens/SETH", {"active": False})) == (
        422,
        "asset_change_rejected",
    )
    assert refusal(api.patch("/agentic/tokens/SETH", {"active": "yes"})) == (422, "invalid_active")
    assert [item["asset_id"] for item in api.get("/agentic/tokens").json()["accepted"]] == ["SETH"]


def test_a_steady_token_is_taken_from_a_lowest_price_on(shop: Shop) -> None:
    assert refusal(
        agent(shop).patch("/agentic/tokens/SETH", {"active": True, "lowest_price": "0.98"})
    ) == (422, "asset_change_rejected")
    Asset.objects.filter(pk="USDC_SETH").update(is_active=True, contract_address="0x" + "1" * 40)
    api = agent(shop)
    path = "/agentic/tokens/USDC_SETH"
    assert api.patch(path, {"active": True, "lowest_price": "0.985"}).json() == {
        "asset_id": "USDC_SETH",
        "active": True,
        "provider": "policy",
        "lowest_price": "0.985",
    }
    assert api.patch(path, {"active": True}).json()["lowest_price"] == "0.985"
    told = {row["asset_id"]: row for row in api.get("/agentic/tokens").json()["accepted"]}
    assert told["USDC_SETH"]["lowest_price"] == "0.985" and "lowest_price" not in told["SETH"]
    for wrong, code in (
        ("0.3", "asset_change_rejected"),
        ("low", "invalid_lowest_price"),
        (0.98, "invalid_lowest_price"),
    ):
        body = {"active": True, "lowest_price": wrong}
        assert refusal(api.patch(path, body)) == (422, code)
    assert "lowest_price" not in api.patch(path, {"active": True, "lowest_price": None}).json()


@pytest.mark.parametrize("header", ["%%%", "bm90IGpzb24=", "WzFd"])
def test_an_envelope_that_cannot_be_read_counts_as_absent(shop: Shop, header: str) -> None:
    answer = agent(shop)(
        "POST",
        "/agentic/payments",
        {"payment_intent": {"amount": "10.00", "currency": "EUR"}},
        **{"X-Mandate": header},
    )
    assert answer.status_code == 201


def test_an_outside_policy_service_is_asked_and_its_silence_is_no_yes(
    shop: Shop, httpserver: Any, settings: Any
) -> None:
    settings.WEBHOOK_ALLOW_HOSTS = ["127.0.0.1", "localhost"]
    write_settings(
        shop.store,
        {"authorization_provider": "http", "authorization_url": httpserver.url_for("/allow")},
    )
    answers = iter(({"result": {"allow": True}}, {"result": {"allow": "true"}}, {"result": True}))
    httpserver.expect_request("/allow", method="POST").respond_with_handler(
        lambda request: _json(next(answers))
    )
    assert ask(agent(shop)).status_code == 201
    assert [refusal(ask(agent(shop))) for _ in range(2)] == [(403, "authorization_denied")] * 2
    asked = httpserver.log[0][0].get_json()["input"]
    assert (asked["action"], asked["details"], asked["mode"]) == (
        "payment",
        {"amount": "10.00", "currency": "EUR"},
        "test",
    )
    write_settings(shop.store, {"authorization_url": "http://127.0.0.1:9/nobody"})
    silent = ask(agent(shop))
    assert refusal(silent) == (503, "authorization_unavailable") and silent.headers["Retry-After"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"result": {"allow": 1}}', (403, "authorization_denied")),
        ('{"result": null}', (403, "authorization_denied")),
        ("{}", (403, "authorization_denied")),
        ("[1]", (403, "authorization_denied")),
        ('{"result": {"allow": true}', (503, "authorization_unavailable")),
        ("allowed", (503, "authorization_unavailable")),
        ("[" * 100_000, (503, "authorization_unavailable")),
    ],
)
def test_only_a_readable_true_allows(
    answer: str, expected: tuple[int, str], shop: Shop, httpserver: Any, settings: Any
) -> None:
    settings.WEBHOOK_ALLOW_HOSTS = ["127.0.0.1", "localhost"]
    write_settings(
        shop.store,
        {"authorization_provider": "http", "authorization_url": httpserver.url_for("/allow")},
    )
    httpserver.expect_request("/allow").respond_with_data(answer)
    assert refusal(ask(agent(shop))) == expected


def _json(body: Any) -> Any:
    return Response(json.dumps(body), content_type="application/json")


@pytest.mark.parametrize(
    ("rules", "body", "status"),
    [
        ({"max_mandate_cap_atomic": "999"}, {}, 403),
        ({"max_mandate_cap_atomic": "1000"}, {}, 201),
        ({"daily_issuance_cap_atomic": "1500"}, {}, 403),
        ({"allowed_scopes": ["books"]}, {}, 403),
        ({"allowed_scopes": ["books"]}, {"scope": "books"}, 201),
        ({"allowed_assets": ["ETH"]}, {}, 403),
        ({"max_mandate_cap_atomic": "many"}, {}, 403),
    ],
)
def test_a_stores_rules_decide_about_mandates(
    shop: Shop, rules: dict[str, Any], body: dict[str, Any], status: int
) -> None:
    sent = {"asset_id": "SETH", "total_cap_atomic": "1000", **body}
    if "daily_issuance_cap_atomic" in rules:
        assert (
            agent(shop).post("/agentic/mandates", {**sent, "mandate_ref": "first"}).status_code
            == 201
        )
    write_settings(shop.store, {"authorization_policy": rules})
    assert (
        agent(shop).post("/agentic/mandates", {**sent, "mandate_ref": "books"}).status_code
        == status
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", (422, "missing_parameter")),
        ("?symbol_or_id=NOSUCHTICKER", (404, "token_not_found")),
        ("?symbol_or_id=bitcoin%26x%3D1/../", (404, "token_not_found")),
    ],
)
def test_market_data_of_nothing_known_is_refused(query: str, expected: tuple[int, str]) -> None:
    assert refusal(Api().get(f"/agentic/market_data{query}")) == expected


@pytest.mark.parametrize(
    ("params", "currency"),
    [("ETH", "usd"), ("ethereum&currency=eur", "eur"), ("ETH&vs_currency=gbp", "gbp")],
)
def test_market_data_needs_no_credential(params: str, currency: str) -> None:
    told = Api().get(f"/agentic/market_data?symbol_or_id={params}").json()
    assert (told["coin_id"], told["vs_currency"]) == ("ethereum", currency) and told["price"] > 0


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (429, market.MarketThrottled),
        (500, market.MarketUnavailable),
        (404, market.MarketUnavailable),
    ],
)
def test_a_public_source_that_fails_is_told_as_such(
    status: int, expected: type[Exception], httpserver: Any, settings: Any
) -> None:
    httpserver.expect_request("/coins/markets").respond_with_data("{}", status=status)
    _use(settings, httpserver)
    with pytest.raises(expected):
        market.market_data("dogecoin", "usd")


def test_a_public_source_is_asked_in_its_own_form_and_once_a_minute(
    httpserver: Any, settings: Any
) -> None:
    row = {
        "id": "solana",
        "current_price": 150.5,
        "market_cap": 7,
        "total_volume": 8,
        "price_change_percentage_24h": -1.5,
    }
    httpserver.expect_request(
        "/coins/markets", query_string={"ids": "solana", "vs_currency": "usd"}
    ).respond_with_json([row])
    _use(settings, httpserver)
    told = [market.market_data("SOL", "USD") for _ in range(2)]
    assert told[0] == told[1] and (told[0].price, told[0].change_24h_pct, told[0].source) == (
        150.5,
        -1.5,
        "coingecko",
    )
    assert len(httpserver.log) == 1


@pytest.mark.parametrize("price", [None, "a lot", [1]])
def test_figures_without_a_price_are_none(price: Any, httpserver: Any, settings: Any) -> None:
    httpserver.expect_request("/coins/markets").respond_with_json(
        [{"id": "solana", "current_price": price}]
    )
    _use(settings, httpserver)
    with pytest.raises(market.MarketUnavailable):
        market.market_data("SOL", "usd")


def _use(settings: Any, httpserver: Any) -> None:
    cache.clear()
    backend = f"{CoinGeckoMarkets.__module__}.{CoinGeckoMarkets.__qualname__}"
    options = {"base_url": httpserver.url_for("").rstrip("/")}
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "market": {"live": [{"BACKEND": backend, "OPTIONS": options}]},
    }


def test_a_store_without_settings_of_agents_has_no_provider(cast: Cast) -> None:
    answer = agent(cast.bakery).get("/agentic/account").json()
    assert answer["authorization"] == {"provider": "none", "mandates": False}
