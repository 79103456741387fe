"""The contract of a network of card providers, asked of every adapter. The real one speaks its own
format to a server of ours."""

import hashlib
import hmac
import uuid
from decimal import Decimal
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from apps.onramp.providers.base import (
    BadSignature,
    CustomerPlace,
    NotOffered,
    OnrampCoin,
    OnrampOrder,
    OnrampProvider,
    ProviderError,
    QuoteRequest,
)
from apps.onramp.providers.onramper import Onramper
from apps.onramp.providers.sandbox import CardSandbox
from tests.onramp.cards import SECRET
from tests.onramp.network import Stand, signed

COIN = OnrampCoin("SETH", "sepolia", 18)
RATE = Decimal(1800)
GERMANY = CustomerPlace("DE")
ADDRESS = "0x" + "ab" * 20


@pytest.fixture
def stand(httpserver: HTTPServer) -> Stand:
    return Stand(httpserver)


@pytest.fixture(params=["sandbox", "onramper"])
def network(request: pytest.FixtureRequest, stand: Stand) -> OnrampProvider:
    if request.param == "sandbox":
        return CardSandbox(mode="test")
    return Onramper(
        mode="test", api_key="pk_test_x", webhook_secret=SECRET, base_url=stand.url, quote_seconds=5
    )


def order(network: OnrampProvider, **fields: Any) -> OnrampOrder:
    method = network.methods(GERMANY, "EUR", COIN)[0]
    known: dict[str, Any] = {
        "id": uuid.uuid4(),
        "mode": "test",
        "method_id": method.id,
        "place": GERMANY,
        "currency": "EUR",
    }
    known |= {
        "service_id": "moonpay",
        "charge_cents": 5000,
        "coin": COIN,
        "address": ADDRESS,
        "email": "ann@example.com",
    }
    return OnrampOrder(
        **{
            **known,
            "success_url": "https://a.example/s",
            "cancel_url": "https://a.example/c",
            **fields,
        }
    )


def test_it_says_what_it_can_do(network: OnrampProvider) -> None:
    assert (
        "EUR" in network.currencies
        and "SETH" in network.assets()
        and network.session_seconds >= 1800
    )
    assert network.floor_cents > 0 and (
        network.ceiling_cents is None or network.ceiling_cents > network.floor_cents
    )


def test_methods_are_told_apart_and_end_where_it_isnt(network: OnrampProvider) -> None:
    methods = network.methods(GERMANY, "EUR", COIN)
    assert len({method.id for method in methods}) == len(methods) == 2 and all(
        method.name and method.code and method.letter_id for method in methods
    )
    assert network.methods(CustomerPlace("BR"), "EUR", COIN) == []


def test_a_charge_is_kept_to_and_less_than_its_worth_delivered(network: OnrampProvider) -> None:
    for method in network.methods(GERMANY, "EUR", COIN):
        offers = network.quote(QuoteRequest(method, GERMANY, "EUR", COIN, RATE, charge_cents=5000))
        assert len({offer.service_id for offer in offers}) == len(offers) >= 2
        for offer in offers:
            assert offer.charge_cents == 5000 > offer.converted_cents > 0
            assert 0 < offer.crypto_atomic < 5000 * 10**16 // 1800


def test_a_delivery_is_reached_by_a_charge_that_covers_it(network: OnrampProvider) -> None:
    target = 27_777_780_000_000_000
    for method in network.methods(GERMANY, "EUR", COIN):
        offers = network.quote(
            QuoteRequest(method, GERMANY, "EUR", COIN, RATE, target_atomic=target)
        )
        best = max(offers, key=lambda one: one.crypto_atomic)
        assert (
            target <= best.crypto_atomic <= target * 101 // 100 and 5000 < best.charge_cents < 5500
        )


def test_an_order_is_opened_with_an_address_to_go_to(network: OnrampProvider) -> None:
    opened = network.open(order(network))
    assert opened.url.startswith("http") and opened.txid


def test_what_nobody_signed_is_no_callback(network: OnrampProvider) -> None:
    for headers in (
        {},
        {"X-Onramper-Webhook-Signature": "0" * 64},
        {"X-Onramper-Webhook-Signature": "ü"},
    ):
        with pytest.raises(BadSignature):
            network.read_callback(headers, b'{"status": "paid"}')


@pytest.fixture
def onramper(stand: Stand) -> Onramper:
    return Onramper(
        mode="test", api_key="pk_test_x", webhook_secret=SECRET, base_url=stand.url, quote_seconds=5
    )


@pytest.mark.parametrize(
    ("key", "mode"), [("pk_prod_1", "live"), ("pk_test_1", "test"), ("something", None)]
)
def test_a_key_tells_its_mode(key: str, mode: str | None) -> None:
    assert Onramper.mode_of(key) == mode


def test_an_order_names_ours_and_carries_no_float(onramper: Onramper, stand: Stand) -> None:
    wanted = order(onramper, charge_cents=4999)
    opened = onramper.open(wanted)
    (body,) = stand.orders.values()
    assert (body["amount"], body["partnerContext"], body["wallet"]) == (
        49.99,
        str(wanted.id),
        {"address": ADDRESS},
    )
    assert body["email"] == "ann@example.com" and stand.asked == ["pk_test_x"]
    report = onramper.status(wanted.id, opened.txid)
    assert report is not None
    assert (report.status, report.order_id, report.txid) == ("pending", str(wanted.id), opened.txid)
    assert (report.amount_cents, report.currency, report.address) == (4999, "EUR", ADDRESS)


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, NotOffered), (422, NotOffered), (500, ProviderError), (429, ProviderError)],
)
def test_a_refusal_is_not_a_failure(
    onramper: Onramper, stand: Stand, status: int, error: type[Exception]
) -> None:
    stand.status_of_open = status
    with pytest.raises(error):
        onramper.open(order(onramper))


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("new", "pending"),
        ("pending", "pending"),
        ("paid", "paid"),
        ("completed", "paid"),
        ("failed", "failed"),
        ("canceled", "failed"),
    ],
)
def test_its_words_for_how_far_a_payment_is(onramper: Onramper, said: str, status: str) -> None:
    raw, headers = signed({"status": said, "transactionId": "1"})
    assert onramper.read_callback(headers, raw).status == status


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{", b'{"status": "refunded?"}', b"[" * 50 + b"]" * 50]
)
def test_a_signed_callback_that_cant_be_read_is_none(onramper: Onramper, raw: bytes) -> None:
    mark = hmac.new(SECRET.encode(), raw, hashlib.sha256).hexdigest()
    with pytest.raises(BadSignature):
        onramper.read_callback({"X-Onramper-Webhook-Signature": mark}, raw)


@pytest.mark.parametrize("payout", [0, -1, "NaN", None, "1e500", True, [], 10**40])
def test_a_payout_that_is_no_amount_is_no_offer(
    onramper: Onramper, stand: Stand, payout: Any
) -> None:
    stand.lies = {"payout": payout}
    method = onramper.methods(GERMANY, "EUR", COIN)[0]
    assert onramper.quote(QuoteRequest(method, GERMANY, "EUR", COIN, RATE, charge_cents=5000)) == []
