"""Spending and signing of agents, for the kills: draws that leave on the chain, and payments over
x402 that come in."""

import time
from typing import Any

from apps.core import local_chain

CHAIN = "sepolia"
COIN = "SETH"
TOKEN = "USDC_SETH"
DOLLAR = 10**6
ENVELOPE = "kills"
KINDS = ("settlement", "x402")


def open_envelope(shop: Any) -> None:
    """A mandate that is never exhausted, and a token that payers can sign."""
    from apps.access.services import authenticate
    from apps.agents.requests.mandates import MandateRequest
    from apps.agents.services.mandates import create_mandate
    from apps.assets.models import Asset
    from apps.stores.settings import write_settings

    write_settings(shop.store, {"authorization_provider": "policy"})
    Asset.objects.filter(pk=TOKEN).update(eip712_name="USD Coin", eip712_version="1")
    access = authenticate(shop.secrets["test_agent"], for_agents=True)
    create_mandate(
        access, MandateRequest(asset_id=COIN, total_cap_atomic=10**21, mandate_ref=ENVELOPE), None
    )


def signed(url: str, facts: dict[str, Any], number: int) -> dict[str, Any]:
    """A signature of a payer with coins for an offer of the store. The chain's clock runs ahead of
    ours."""
    import msgspec

    from apps.access.services import authenticate
    from apps.agents.documents.x402 import requirements_document
    from apps.agents.requests.x402 import OfferRequest
    from apps.agents.services.x402_offers import make_offer
    from apps.core.process.published_secrets import CHAIN_KEYS
    from dev.demo.chain import DemoWallet
    from tests.agents.paying import Payer

    payer = Payer()
    wallet = DemoWallet(url, CHAIN_KEYS["test"])
    wallet.receipt(wallet.mint(facts["token"], payer.address, DOLLAR))
    price = OfferRequest(
        asset_id=TOKEN, amount_atomic=str(1000 + number), resource="https://shop.example/kills"
    )
    offer, _ = make_offer(authenticate(facts["key"]), price, None)
    asked = msgspec.to_builtins(requirements_document(offer))
    body = payer.signed(asked)
    now = int(local_chain.call(url, "eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    authorization = body["paymentPayload"]["payload"]["authorization"]
    authorization["validBefore"] = str(max(now, int(time.time())) + 3600)
    body["paymentPayload"]["payload"]["signature"] = payer.sign_again(asked, authorization)
    return body


def ask(facts: dict[str, Any], wish: dict[str, Any], key: str) -> str:
    """Draw, or settle what is signed, as a caller who has no answer would; how far it has come."""
    return _draw(facts, wish, key) if wish["kind"] == "settlement" else _settle(facts, wish)


def _draw(facts: dict[str, Any], wish: dict[str, Any], key: str) -> str:
    """As in live mode, where draws leave on the chain."""
    from apps.access.services import authenticate
    from apps.agents.models import Settlement
    from apps.agents.requests.mandates import SettlementRequest
    from apps.agents.services import settle
    from apps.core.idempotency import once

    access = authenticate(facts["agent"], for_agents=True)
    rows = Settlement.objects.filter(credential_id=access.credential_id, idempotency_key=key)
    if not rows.exists():
        request = SettlementRequest(
            asset_id=COIN, amount_atomic=wish["amount"], mandate_ref=ENVELOPE, pay_to=wish["to"]
        )
        start = settle._Start(None, is_sending=True, is_asset_active=True)
        settlement = settle._unsaved(access, request, key, start)
        settlement.is_dispatched = True
        once(rows, lambda: settle._draw(settlement))
    return str(rows.get().status)


def _settle(facts: dict[str, Any], wish: dict[str, Any]) -> str:
    from django.conf import settings

    from apps.access.services import authenticate
    from apps.agents.models import SignedPayment
    from apps.agents.requests.x402 import SignedPaymentRequest
    from apps.agents.services.x402_settle import settle

    settings.X402_SETTLE_SECONDS = 0
    settle(authenticate(facts["key"]), SignedPaymentRequest.read(wish["body"]))
    row = SignedPayment.objects.get(
        nonce=wish["body"]["paymentPayload"]["payload"]["authorization"]["nonce"].lower()
    )
    return "confirmed" if row.status == "settled" else str(row.status)


def advance() -> None:
    from apps.agents.services.dispatch import advance_settlements
    from apps.agents.services.x402_progress import advance_signed_payments

    advance_settlements()
    advance_signed_payments()


def what_is_wrong(url: str, facts: dict[str, Any], wish: dict[str, Any]) -> str:
    """Of one that is over: the coins went there once."""
    if wish["kind"] == "settlement":
        got = int(local_chain.call(url, "eth_getBalance", wish["to"], "latest"), 16)
        expected = wish["amount"]
    else:
        asked = wish["body"]["paymentRequirements"]
        call = {"to": facts["token"], "data": f"0x70a08231{asked['payTo'][2:].lower():0>64}"}
        got = int(local_chain.call(url, "eth_call", call, "latest"), 16)
        expected = int(asked["amount"])
    return "" if got == expected else f"{got} arrived instead of {expected}"
