"""Offers of x402 before anybody signs: they leave nothing behind, one payment may be paid in
several assets, and nobody can change what was asked. In test mode all of it works without a chain.
"""

import copy
import secrets
from typing import Any

import pytest
from django.apps import apps
from django.core import signing
from django.db import connection

from apps.access.services import authenticate
from apps.agents.models import PaymentOffer, SignedPayment
from apps.agents.offers import LENGTH_MAX, SALT
from apps.agents.requests.x402 import PriceRequest
from apps.agents.services.x402_offers import make_offers
from apps.chain.addresses import UNRECORDED_FROM
from apps.chain.models import Address, OutgoingTransaction
from apps.ledger.selectors import balances
from apps.payments.models import Payment, PaymentAddress
from apps.webhooks.models import Event
from tests import auditing, make
from tests.agents.conftest import TOKEN, Market, Till
from tests.agents.paying import Payer
from tests.cast import Cast
from tests.whole import usually

PRICE = {"amount": "5.00", "currency": "EUR", "resource": "https://shop.example/report"}
UNKNOWN = "invalid_exact_evm_payload_recipient_mismatch"


def offers(till: Till, **fields: Any) -> list[dict[str, Any]]:
    answer = till.api.post("/x402/offers", {**PRICE, **fields})
    assert answer.status_code == 200, answer.content
    return list(answer.json()["accepts"])


def of(accepts: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(one for one in accepts if one["extra"]["name"] == name)


def counts() -> dict[str, int]:
    """Rows of every table that belongs to payments, chain, agents and webhooks."""
    models = [
        model
        for label in ("payments", "chain", "agents", "webhooks", "ledger")
        for model in apps.get_app_config(label).get_models()
    ]
    return {model._meta.db_table: model._base_manager.count() for model in models}


def last_index() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM chain_deposit_index")
        return int(cursor.fetchone()[0])


def test_ten_thousand_looks_at_a_price_leave_nothing_behind(till: Till) -> None:
    access = authenticate(till.shop.secrets["test_secret"])
    price = PriceRequest.read(PRICE)
    before, index = counts(), last_index()
    shown = {
        offer.pay_to
        for _ in range(usually(short=300, whole=10_000))
        for offer in make_offers(access, price)
    }
    assert len(shown) == 2 * usually(short=300, whole=10_000)
    assert counts() == before and last_index() == index


def test_an_offer_is_the_answer_402_as_it_is_sent(till: Till) -> None:
    told = till.api.post("/x402/offers", {**PRICE, "description": "A report"}).json()
    assert told["x402Version"] == 2
    assert told["resource"] == {"url": PRICE["resource"], "description": "A report"}
    assert {one["extra"]["name"] for one in told["accepts"]} == {"USD Coin", "Simulated ETH"}
    payments = {one["extra"]["paymentIntentId"] for one in told["accepts"]}
    assert len(payments) == 1 and not Payment.objects.exists()


@pytest.mark.chain
def test_one_payment_is_paid_in_one_of_its_assets(market: Market) -> None:
    accepts = offers(market)
    dollars, coins = of(accepts, "USD Coin"), of(accepts, "Simulated ETH")
    market.settle(market.payer.signed(dollars))
    payment = Payment.objects.get()
    assert str(payment.pk) == dollars["extra"]["paymentIntentId"]
    assert PaymentAddress.objects.get().asset_id == TOKEN
    late = market.settle(market.payer.signed(coins))
    assert (late["success"], late["errorReason"]) == (False, "duplicate_settlement")
    market.send()
    market.bury()
    payment.refresh_from_db()
    assert payment.status == "completed"
    assert Address.objects.filter(index__gte=UNRECORDED_FROM).count() == 1


def test_in_test_mode_a_signature_pays_without_a_chain_or_a_coin(till: Till) -> None:
    asked = offers(till, asset_ids=["SETH"], order_id="7")[0]
    payer = Payer()
    body = payer.signed(asked)
    assert till.verify(body) == {"isValid": True, "payer": payer.account.address}
    assert not Payment.objects.exists()
    told = till.settle(body)
    assert (told["success"], told["extra"]["state"], len(told["transaction"])) == (
        True,
        "settled",
        66,
    )
    detail = make.detail(till.api, asked["extra"]["paymentIntentId"])
    assert (detail["status"], detail["state_reason"], detail["order_id"]) == (
        "completed",
        "completed_exact",
        "7",
    )
    assert detail["transaction"]["from_address"].lower() == payer.address
    assert 0 < balances(till.shop.store.pk, "test")["SETH"].available_atomic < int(asked["amount"])
    types = set(Event.objects.values_list("type", flat=True))
    assert {"payment_intent.created", "payment_intent.completed"} <= types
    again = till.settle(body)
    assert (again["success"], again["errorReason"]) == (
        False,
        "invalid_exact_evm_nonce_already_used",
    )
    assert till.verify(body)["invalidReason"] == "invalid_exact_evm_nonce_already_used"
    other = till.settle(payer.signed(asked))
    assert other["errorReason"] == "duplicate_settlement"
    assert SignedPayment.objects.count() == 1
    assert not OutgoingTransaction.objects.exists()
    assert auditing.breaches() == []


def test_a_wrong_signature_pays_nothing_in_test_mode(till: Till) -> None:
    body = Payer().signed(offers(till, asset_ids=["SETH"])[0])
    other = Payer().signed(offers(till, asset_ids=["SETH"])[0])
    body["paymentPayload"]["payload"]["signature"] = other["paymentPayload"]["payload"]["signature"]
    assert till.settle(body)["errorReason"] == "invalid_exact_evm_payload_signature"
    assert not Payment.objects.exists()


def test_no_simulated_token_is_known_in_live_mode(till: Till) -> None:
    asked = offers(till, asset_ids=["SETH"])[0]
    body = Payer().signed({**asked, "network": "eip155:1"})
    told = till.settle(body, till.shop.live)
    assert told["errorReason"] in ("invalid_network", "invalid_payment_requirements")
    assert not Payment.objects.exists()


def test_nobody_changes_what_was_asked(till: Till, cast: Cast) -> None:
    """Another amount, another address, a seal of another price, and none at all."""
    asked = offers(till, asset_ids=["SETH"])[0]
    cheap = offers(till, asset_ids=["SETH"], amount="0.01")[0]
    seal = asked["extra"]["offer"]
    dear = {**asked, "extra": {**asked["extra"], "offer": cheap["extra"]["offer"]}}
    altered = {**asked, "extra": {**asked["extra"], "offer": seal[:-1] + "AB"[seal.endswith("A")]}}
    bare = copy.deepcopy(asked)
    del bare["extra"]["offer"]
    forged = signing.dumps(signing.loads(seal, salt=SALT), salt="x402.other", compress=True)
    foreign = {**asked, "extra": {**asked["extra"], "offer": forged}}
    cheaper = {**asked, "amount": cheap["amount"]}
    another = {**cheap, "extra": {**cheap["extra"], "resource": "https://shop.example/gold"}}
    reasons = {
        UNKNOWN: (dear, altered, bare, foreign),
        "invalid_payment_requirements": (cheaper, another),
    }
    for reason, changed in reasons.items():
        for one in changed:
            body = Payer().signed(one)
            assert till.verify(body)["invalidReason"] == reason
            assert till.settle(body)["errorReason"] == reason
    body = Payer().signed(asked)
    assert till.settle(body, cast.strangers.test)["errorReason"] == UNKNOWN
    assert not Payment.objects.exists() and till.settle(body)["success"]


def test_the_seal_comes_back_with_the_signature_where_a_server_has_not_kept_it(till: Till) -> None:
    """Middleware makes the requirements anew, and knows only what its route says."""
    asked = offers(till, asset_ids=["SETH"])[0]
    body = Payer().signed(asked)
    kept = {name: asked["extra"][name] for name in ("name", "version")}
    body["paymentRequirements"] = {**asked, "extra": kept}
    assert till.settle(body)["success"]


def test_a_price_has_an_end(till: Till) -> None:
    asked = offers(till, asset_ids=["SETH"], expires_in=300)[0]
    make.advance(till.api, 301)
    told = till.settle(Payer().signed(asked))
    assert (told["success"], told["errorReason"]) == (False, "invalid_transaction_state")
    assert not Payment.objects.exists()


def test_what_does_not_fit_a_header_is_refused(till: Till) -> None:
    noise = {str(number): secrets.token_hex(100) for number in range(20)}
    answer = till.api.post("/x402/offers", {**PRICE, "metadata": noise})
    assert answer.status_code == 422
    assert str(LENGTH_MAX) in answer.json()["error"]["message"]


def test_a_payment_that_is_there_already_is_paid_by_a_signature(till: Till) -> None:
    made = till.api.post(
        "/payments", {"payment_intent": {"amount": "5.00", "currency": "EUR"}}
    ).json()
    way = PaymentAddress.objects.get(asset="SETH")
    asked = offers(till, asset_ids=["SETH"])[0]
    domain = {name: asked["extra"][name] for name in ("name", "version")}
    amount = str(way.required_atomic)
    mine = {**asked, "payTo": way.address_id, "amount": amount, "extra": domain}
    told = till.settle(Payer().signed(mine))
    assert told["success"] and told["extra"]["paymentIntentId"] == made["id"]
    assert make.detail(till.api, made["id"])["status"] == "completed"
    assert PaymentOffer.objects.get().payment_id == Payment.objects.get().pk
