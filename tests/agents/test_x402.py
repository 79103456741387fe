"""A store is paid over x402: what it asks for, what is refused, and that one signature moves coins
at most once."""

import copy
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from apps.agents.models import PaymentOffer, SignedPayment
from apps.agents.services import x402_settle
from apps.agents.services.x402_progress import advance_signed_payments
from apps.assets.models import AcceptedAsset
from apps.assets.services import accept_all_active
from apps.chain.models import OutgoingTransaction
from apps.ledger.selectors import account_balance, balances
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.expire import expire_due
from apps.stores.models import Store
from tests import make
from tests.agents.conftest import DOLLAR, ETHER, PRICE, TOKEN, Market, Till
from tests.agents.paying import Payer
from tests.cast import Api
from tests.chain.proxy import Proxy
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.chain

# --- what is asked for ---


def test_an_exact_price_is_a_payment_intent_that_costs_the_fewest_cents_that_are_worth_it(
    market: Market,
) -> None:
    asked = market.ask(description="A report", order_id="7")
    market.settle(market.payer.signed(asked))
    payment = Payment.objects.get(pk=asked["extra"]["paymentIntentId"])
    way = PaymentAddress.objects.get(payment=payment, asset=TOKEN)
    assert (asked["scheme"], asked["network"], asked["amount"]) == (
        "exact",
        "eip155:11155111",
        "2500000",
    )
    assert (asked["asset"].lower(), asked["payTo"].lower()) == (market.token, way.address_id)
    assert (str(payment.pk), payment.reference) == (
        asked["extra"]["paymentIntentId"],
        asked["extra"]["reference"],
    )
    assert (asked["extra"]["name"], asked["extra"]["version"], way.required_atomic) == (
        "USD Coin",
        "1",
        2_500_000,
    )
    assert (payment.settlement_currency, payment.order_id, payment.description) == (
        "EUR",
        "7",
        "A report",
    )
    assert 0 < payment.settlement_amount_cents <= 250


def test_a_price_in_money_is_converted_as_on_every_payment(market: Market) -> None:
    asked = market.ask(amount_atomic=None, amount="5.00", currency="USD")
    market.settle(market.payer.signed(asked))
    way = PaymentAddress.objects.get()
    assert asked["amount"] == str(way.required_atomic) == "5000000"
    assert way.asset_id == TOKEN


def test_a_fee_on_top_is_in_the_price_that_is_signed(market: Market) -> None:
    Store.objects.filter(pk=market.shop.store.pk).update(customer_pays_fee=True)
    asked = market.ask(amount_atomic=None, amount="5.00", currency="USD")
    market.settle(market.payer.signed(asked))
    way = PaymentAddress.objects.get()
    assert way.base_atomic == 5_000_000 < int(asked["amount"]) == way.base_atomic + way.fee_atomic


def test_a_price_of_less_than_a_cent_is_taken(market: Market) -> None:
    asked = market.ask(amount_atomic="100")
    market.settle(market.payer.signed(asked))
    assert (asked["amount"], Payment.objects.get().settlement_amount_cents) == ("100", 1)


def test_a_key_is_paid_once_and_is_none_of_payments(market: Market) -> None:
    first, second = (market.api.post("/x402/requirements", PRICE, key="k") for _ in range(2))
    for answer in (first, second):
        assert answer.status_code == 201 and "Idempotent-Replayed" not in answer.headers
    market.settle(market.payer.signed(first.json()))
    late = market.settle(market.payer.signed(second.json()))
    assert (late["success"], late["errorReason"]) == (False, "duplicate_settlement")
    third = market.api.post("/x402/requirements", PRICE, key="k")
    assert third.headers["Idempotent-Replayed"] == "true"
    assert third.json()["payTo"] == first.json()["payTo"]
    made = market.api.post(
        "/payments", {"payment_intent": {"amount": "1.00", "currency": "EUR"}}, key="k"
    )
    assert made.json()["id"] != first.json()["extra"]["paymentIntentId"]
    assert PaymentOffer.objects.count() == 1


BAD_OFFERS: dict[str, tuple[dict[str, Any], int, str | None]] = {
    "no price": ({"amount_atomic": None}, 422, None),
    "two prices": ({"amount": "1.00", "currency": "EUR"}, 422, None),
    "nothing": ({"amount_atomic": "0"}, 422, None),
    "negative": ({"amount_atomic": "-1"}, 422, None),
    "too much": ({"amount_atomic": "9" * 60}, 422, None),
    "no resource": ({"resource": None}, 422, None),
    "no currency": ({"amount_atomic": None, "amount": "1.00"}, 422, None),
    "a currency that isn't": ({"currency": "XXX"}, 422, None),
    "an asset of the other mode": ({"asset_id": "ETH_USDC"}, 422, "asset_not_active"),
    "no such asset": ({"asset_id": "GOLD"}, 404, "asset_not_found"),
    "a timeout out of bounds": ({"max_timeout_seconds": 5}, 422, None),
    "text for a number": ({"expires_in": "3600"}, 422, None),
}


def test_what_can_not_be_asked_for(till: Till) -> None:
    for name, (change, status, code) in BAD_OFFERS.items():
        answer = till.api.post("/x402/requirements", {**PRICE, **change})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), name
    AcceptedAsset.objects.filter(store=till.shop.store, asset=TOKEN).delete()
    assert (
        till.api.post("/x402/requirements", PRICE).json()["error"]["code"] == "asset_not_accepted"
    )
    coin = till.shop.live.post("/x402/requirements", {**PRICE, "asset_id": "ETH"})
    assert coin.json()["error"]["code"] == "asset_not_signable"
    assert not Payment.objects.exists()


def test_a_payment_key_can_read_what_is_supported_and_others_nothing(market: Market) -> None:
    told = market.api.get("/x402/supported").json()
    [kind] = told["kinds"]
    assert (kind["x402Version"], kind["scheme"], kind["network"]) == (2, "exact", "eip155:11155111")
    coin, token = sorted(kind["extra"]["assets"], key=lambda one: str(one["assetId"]))
    assert (coin["assetId"], coin["name"], coin["decimals"]) == ("SETH", "Simulated ETH", 18)
    assert (token["assetId"], token["asset"].lower(), token["name"], token["version"]) == (
        TOKEN,
        market.token,
        "USD Coin",
        "1",
    )
    assert [signer.lower() for signer in told["signers"]["eip155:*"]] == [market.hot]
    reader = market.shop.with_scopes("payments:read")
    publishable = Api(market.shop.secrets["test_publishable"])
    for api, code in ((reader, "insufficient_scope"), (publishable, "publishable_key_forbidden")):
        refused = [
            api.get("/x402/supported"),
            *(api.post(f"/x402/{name}", {}) for name in ("requirements", "verify", "settle")),
        ]
        assert {(item.status_code, item.json()["error"]["code"]) for item in refused} == {
            (403, code)
        }


# --- what is settled ---


def test_a_signed_payment_is_unknown_until_a_block_has_it_then_settled_and_its_intent_completed(
    market: Market,
) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    assert market.verify(body) == {"isValid": True, "payer": market.payer.account.address}
    first = market.settle(body)
    assert (first["success"], first["errorReason"], first["extra"]["state"]) == (
        False,
        "settlement_pending",
        "unknown",
    )
    assert market.verify(body)["invalidReason"] == "invalid_exact_evm_nonce_already_used"
    market.send()
    second = market.settle(body)
    assert (second["success"], second["network"], second["amount"]) == (
        True,
        "eip155:11155111",
        "2500000",
    )
    assert market.held(asked["payTo"]) == 2_500_000
    market.bury()
    row = SignedPayment.objects.get()
    assert (row.status, row.tx_hash) == ("settled", second["transaction"])
    assert list(row.steps.values_list("to_status", flat=True)) == [
        "verified",
        "submitted",
        "unknown",
        "settled",
    ]
    detail = make.detail(market.api, asked["extra"]["paymentIntentId"])
    assert (detail["status"], detail["state_reason"]) == ("completed", "completed_exact")
    assert (detail["transaction"]["tx_hash"], detail["transaction"]["from_address"].lower()) == (
        row.tx_hash,
        market.payer.address,
    )
    assert balances(market.shop.store.pk, "test")[TOKEN].available_atomic == 2_475_000
    sent = OutgoingTransaction.objects.get(purpose="x402")
    assert account_balance(None, "test", "SETH", "network_fees") == -sent.network_fee_atomic < 0
    browser = Browser(market.shop.owner)
    room = text(browser.get("agents/x402"))
    page = text(browser.get(f"payments/{detail['id']}"))
    assert "2.5" in room and "https://shop.example/report" in room and "Settled" in room
    assert "Paid over x402" in page and market.payer.address in page and row.tx_hash in page


def test_one_authorization_pays_one_offer_once_and_an_offer_is_paid_by_one_authorization(
    market: Market,
) -> None:
    asked = market.ask()
    first, second = (market.payer.signed(asked) for _ in range(2))
    market.settle(first)
    assert market.settle(second)["errorReason"] == "duplicate_settlement"
    assert market.verify(second)["invalidReason"] == "duplicate_settlement"
    market.send()
    assert market.settle(first)["success"]
    for _ in range(2):
        again = market.settle(first)
        assert (again["success"], again["errorReason"]) == (
            False,
            "invalid_exact_evm_nonce_already_used",
        )
        assert again["transaction"] == SignedPayment.objects.get().tx_hash
        market.bury()
    assert market.settle(second)["errorReason"] in (
        "duplicate_settlement",
        "invalid_transaction_state",
    )
    assert OutgoingTransaction.objects.filter(purpose="x402").count() == 1


def test_an_authorization_that_the_payer_spent_elsewhere_fails_and_the_offer_can_be_paid_by_another(
    market: Market,
) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    market.settle(body)
    market.chain.call("anvil_impersonateAccount", market.payer.address)
    market.chain.call("anvil_setBalance", market.payer.address, hex(ETHER))
    data = "0xa9059cbb" + f"{'7' * 40:0>64}" + f"{100 * DOLLAR:064x}"
    market.chain.wait(
        market.chain.call(
            "eth_sendTransaction", {"from": market.payer.address, "to": market.token, "data": data}
        )
    )
    market.send()
    advance_signed_payments()
    row = SignedPayment.objects.get()
    assert (row.status, row.failure_reason) == ("failed", "The token refuses the authorization")
    assert market.settle(body)["errorReason"] == "transaction_failed"
    market.chain.mint(market.token, market.payer.address, 100 * DOLLAR)
    other = market.payer.signed(asked)
    market.settle(other)
    market.send()
    assert market.settle(other)["success"]


def test_an_intent_whose_time_is_over_waits_for_what_was_signed_in_time(market: Market) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    market.settle(body)
    Payment.objects.update(expires_at="2026-01-01T00:00:00Z")
    expire_due()
    assert Payment.objects.get().status == "pending"
    market.send()
    market.bury()
    assert Payment.objects.get().status == "completed" and market.settle(body)["success"]


def test_whoever_finds_no_seat_is_told_at_once_that_it_is_not_known_yet_and_it_stays_so(
    market: Market, settings: Any
) -> None:
    body = market.payer.signed(market.ask())
    settings.X402_SETTLE_SECONDS = 60
    for _ in range(settings.X402_WAITING_MAX):
        assert x402_settle._seats.acquire(blocking=False)
    try:
        began = time.monotonic()
        told = market.settle(body)
        assert (told["errorReason"], told["extra"]["state"]) == (
            "settlement_pending",
            "unknown",
        ) and time.monotonic() - began < 30
    finally:
        x402_settle._seats.release(settings.X402_WAITING_MAX)
    # A row that nobody waits for, after a while.
    SignedPayment.objects.update(status="submitted", updated_at="2026-01-01T00:00:00Z")
    advance_signed_payments()
    row = SignedPayment.objects.get()
    assert (row.status, row.steps.last().note) == ("unknown", "Nobody waits for it")


# --- what is refused ---


def _at(*path: str) -> Callable[[dict[str, Any], Any], None]:
    def change(body: dict[str, Any], value: Any) -> None:
        for name in path[:-1]:
            body = body[name]
        body[path[-1]] = value

    return change


_SIGNED = ("paymentPayload", "payload", "authorization")
_ASKED = ("paymentRequirements",)
_ACCEPTED = ("paymentPayload", "accepted")
_VALUE = "invalid_exact_evm_payload_authorization_value"
_RECIPIENT = "invalid_exact_evm_payload_recipient_mismatch"
BAD_PAYMENTS: dict[str, tuple[tuple[str, ...], Any, str]] = {
    "no payload": (("paymentPayload",), None, "invalid_payload"),
    "no requirements": (("paymentRequirements",), "x", "invalid_payment_requirements"),
    "an older version": (("x402Version",), 1, "invalid_x402_version"),
    "an older payload": (("paymentPayload", "x402Version"), 1, "invalid_x402_version"),
    "nothing accepted": (("paymentPayload", "accepted"), [], "invalid_payload"),
    "another scheme": ((*_ASKED, "scheme"), "upto", "unsupported_scheme"),
    "another scheme accepted": ((*_ACCEPTED, "scheme"), "upto", "unsupported_scheme"),
    "another network accepted": ((*_ACCEPTED, "network"), "eip155:1", "invalid_network"),
    "another asset": ((*_ASKED, "asset"), "0x" + "9" * 40, "invalid_payment_requirements"),
    "an asset that is no text": ((*_ASKED, "asset"), 7, "invalid_payment_requirements"),
    "another way to transfer": (
        (*_ASKED, "extra"),
        {"assetTransferMethod": "permit2"},
        "unsupported_scheme",
    ),
    "another amount asked": ((*_ASKED, "amount"), "1", "invalid_payment_requirements"),
    "another recipient asked": ((*_ASKED, "payTo"), "0x" + "9" * 40, _RECIPIENT),
    "no authorization": (("paymentPayload", "payload"), {"signature": "0x"}, "invalid_payload"),
    "a recipient that is none": ((*_SIGNED, "to"), "somewhere", "invalid_payload"),
    "another recipient signed": ((*_SIGNED, "to"), "0x" + "9" * 40, _RECIPIENT),
    "another value signed": ((*_SIGNED, "value"), "2499999", _VALUE),
    "more value signed": ((*_SIGNED, "value"), "2500001", _VALUE),
    "a value that is a number": ((*_SIGNED, "value"), 2500000, "invalid_payload"),
    "a value beyond 256 bits": ((*_SIGNED, "value"), "9" * 78, "invalid_payload"),
    "a short nonce": ((*_SIGNED, "nonce"), "0x01", "invalid_payload"),
    "another nonce than signed": (
        (*_SIGNED, "nonce"),
        "0x" + "1" * 64,
        "invalid_exact_evm_payload_signature",
    ),
    "another payer than signed": (
        (*_SIGNED, "from"),
        "0x" + "9" * 40,
        "invalid_exact_evm_payload_signature",
    ),
    "a later end than signed": (
        (*_SIGNED, "validBefore"),
        "9999999999",
        "invalid_exact_evm_payload_signature",
    ),
    "a short signature": (
        ("paymentPayload", "payload", "signature"),
        "0x00",
        "invalid_exact_evm_payload_signature",
    ),
    "a signature of nothing": (
        ("paymentPayload", "payload", "signature"),
        "0x" + "0" * 130,
        "invalid_exact_evm_payload_signature",
    ),
}


def test_what_is_no_valid_payment_is_refused_with_the_words_of_the_protocol(market: Market) -> None:
    right = market.payer.signed(market.ask())
    for name, (path, value, reason) in BAD_PAYMENTS.items():
        body = copy.deepcopy(right)
        _at(*path)(body, value)
        assert market.verify(body)["invalidReason"] == reason, name
        told = market.settle(body)
        assert (told["success"], told["errorReason"], told["transaction"]) == (
            False,
            reason,
            "",
        ), name
    network = copy.deepcopy(right)
    network["paymentRequirements"]["network"] = network["paymentPayload"]["accepted"]["network"] = (
        "eip155:1"
    )
    assert market.verify(network)["invalidReason"] == "invalid_network"
    assert (
        market.verify({})["invalidReason"] == "invalid_payload"
        and market.settle({})["network"] == ""
    )
    assert not SignedPayment.objects.exists() and market.verify(right)["isValid"]


def _signed_with_times(
    market: Market, asked: dict[str, Any], after: int, before: int
) -> dict[str, Any]:
    body = market.payer.signed(asked)
    signed = body["paymentPayload"]["payload"]["authorization"]
    signed |= {"validAfter": str(after), "validBefore": str(before)}
    body["paymentPayload"]["payload"]["signature"] = market.payer.sign_again(asked, signed)
    return body


def test_other_callers_other_times_and_a_silent_chain_settle_and_record_nothing(
    market: Market, cast: Any, settings: Any
) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    accept_all_active(cast.strangers.store)
    for api, reason in ((cast.strangers.test, _RECIPIENT), (market.shop.live, "invalid_network")):
        assert market.verify(body, api)["invalidReason"] == reason
        assert market.settle(body, api)["errorReason"] == reason

    with closing(Proxy(market.chain.url)) as proxy:
        proxy.whole = 503, b""
        settings.CHAIN_URLS = {"sepolia": [proxy.url]}
        assert market.verify(body)["invalidReason"] == "unexpected_verify_error"
        assert market.settle(body)["errorReason"] == "unexpected_settle_error"
    settings.CHAIN_URLS = {"sepolia": [market.chain.url]}
    assert not SignedPayment.objects.exists() and market.verify(body)["isValid"]

    now = int(time.time())
    early = _signed_with_times(market, asked, now + 600, now + 900)
    assert market.settle(early)["errorReason"].endswith("valid_after")
    late = _signed_with_times(market, asked, 0, now + 2)
    assert market.settle(late)["errorReason"].endswith("valid_before")
    poor = Payer()
    assert market.settle(poor.signed(asked))["errorReason"] == "insufficient_funds"
    make.advance(market.api, 2 * 3600)
    ended = market.settle(market.payer.signed(asked))
    assert ended["errorReason"] == "invalid_transaction_state"
    assert not SignedPayment.objects.exists() and not Payment.objects.exists()
