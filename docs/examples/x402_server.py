"""A server whose report costs 90 cents, paid over x402 with Tillgate as the facilitator. The
middleware is x402's own.

    pip install "x402[evm,flask,httpx]" requests
    TILLGATE_KEY=svc_sk_test_... python x402_server.py

It asks Tillgate for what may be signed, in each asset that the store takes; the customer signs one,
Tillgate carries the signature out and books the payment. With a test key nothing moves on a chain.
When no block has it in time, what was signed is kept, and the customer who shows it again gets the
report once the payment has completed: nobody pays twice.
"""

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import flask
import requests
from x402 import x402ResourceServerSync
from x402.http import FacilitatorConfig, HTTPFacilitatorClientSync
from x402.http.facilitator_client_base import CreateHeadersAuthProvider
from x402.http.middleware.flask import payment_middleware
from x402.http.types import HTTPRequestContext, PaymentOption, RouteConfig
from x402.http.utils import decode_payment_signature_header
from x402.mechanisms.evm.exact.register import register_exact_evm_server
from x402.schemas import AssetAmount, PaymentPayload, PaymentRequirements, SettleResponse

API = os.environ.get("TILLGATE_URL", "http://localhost:8000") + "/api/v2"
FACILITATOR = f"{API}/x402"
HEADERS = {"Authorization": f"Bearer {os.environ['TILLGATE_KEY']}"}
PRICE = {"amount": "0.90", "currency": "USD"}  # more than the gas that takes it in

app = flask.Flask(__name__)
# What was signed for a payment that isn't known yet, by signature. A shop keeps it in its database,
# and may deliver when the webhook payment_intent.completed names the payment.
kept: dict[str, str] = {}


class Facilitator(HTTPFacilitatorClientSync):
    """Keeps what may be paid though no block has it yet."""

    def settle(self, payload: PaymentPayload, requirements: PaymentRequirements) -> SettleResponse:
        told = super().settle(payload, requirements)
        if told.error_reason == "settlement_pending":
            kept[payload.payload["signature"]] = told.extra["paymentIntentId"]
        return told


class KeptPayments:
    """In front of the middleware: who shows a signature that was kept gets the report, once the
    payment has completed."""

    def __init__(self, protected: Callable[..., Iterable[bytes]]) -> None:
        self.protected = protected

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        header = environ.get("HTTP_PAYMENT_SIGNATURE", "")
        payment_id = kept.get(signature_of(header)) if header else None
        if payment_id is None:
            return self.protected(environ, start_response)
        answer = requests.get(f"{API}/payments/{payment_id}", headers=HEADERS, timeout=10)
        answer.raise_for_status()
        return reply_to(answer.json()["status"])(environ, start_response)


def reply_to(status: str) -> flask.Response:
    """A customer's answer while the payment is in this status."""
    with app.app_context():
        if status == "completed":
            return flask.jsonify(report())
        reply = flask.jsonify(error=f"Your payment is {status}")
    reply.status_code = 402
    if status in ("pending", "processing"):
        reply.status_code = 503
        reply.headers["Retry-After"] = "15"
    return reply


def signature_of(header: str) -> str:
    try:
        return decode_payment_signature_header(header).payload["signature"]
    except (ValueError, AttributeError, KeyError, TypeError):
        return ""


@app.get("/report")
def report() -> dict[str, str]:
    return {"report": "It will rain tomorrow."}


def tokens() -> dict[str, tuple[str, dict[str, str]]]:
    """(network, token) of each asset that the store takes over x402."""
    supported = requests.get(f"{FACILITATOR}/supported", headers=HEADERS, timeout=10)
    supported.raise_for_status()
    found = {
        one["assetId"]: (kind["network"], one)
        for kind in supported.json()["kinds"]
        for one in kind["extra"]["assets"]
    }
    return found or sys.exit("Nothing can be paid over x402 with this key")


def accepts(context: HTTPRequestContext) -> list[dict[str, Any]]:
    """Offers to be signed: asked for once a request, in all assets. Tillgate records nothing of
    it."""
    if "accepts" not in flask.g:
        wanted = {**PRICE, "resource": context.adapter.get_url(), "description": "Report"}
        asked = requests.post(f"{FACILITATOR}/offers", json=wanted, headers=HEADERS, timeout=10)
        asked.raise_for_status()
        flask.g.accepts = asked.json()["accepts"]
    return flask.g.accepts


def asked_in(context: HTTPRequestContext, token: dict[str, str]) -> dict[str, Any]:
    """The offer that the customer has signed, else a new one in this token."""
    if context.payment_header:
        try:
            return signed_for(context.payment_header)
        except (ValueError, AttributeError):
            pass  # it can't be read: the customer is asked again
    return next(one for one in accepts(context) if one["asset"] == token["asset"])


def signed_for(header: str) -> dict[str, Any]:
    accepted = decode_payment_signature_header(header).accepted
    return {"payTo": accepted.pay_to, "amount": accepted.amount, "extra": accepted.extra or {}}


def option(network: str, token: dict[str, str]) -> PaymentOption:
    def pay_to(context: HTTPRequestContext) -> str:
        return asked_in(context, token)["payTo"]

    def price(context: HTTPRequestContext) -> AssetAmount:
        asked = asked_in(context, token)
        # Tillgate refuses a signature for the price of anything else.
        extra = {**asked["extra"], "resource": context.adapter.get_url()}
        return AssetAmount(amount=asked["amount"], asset=token["asset"], extra=extra)

    return PaymentOption(
        scheme="exact", network=network, pay_to=pay_to, price=price, max_timeout_seconds=120
    )


def protect() -> None:
    offered = tokens().values()
    headers = CreateHeadersAuthProvider(
        lambda: dict.fromkeys(("verify", "settle", "supported"), HEADERS)
    )
    facilitator = Facilitator(FacilitatorConfig(url=FACILITATOR, auth_provider=headers))
    server = register_exact_evm_server(
        x402ResourceServerSync(facilitator), networks=[network for network, _ in offered]
    )
    options = [option(network, token) for network, token in offered]
    payment_middleware(
        app, {"GET /report": RouteConfig(accepts=options, description="Report")}, server
    )
    app.wsgi_app = KeptPayments(app.wsgi_app)


if __name__ == "__main__":
    protect()
    app.run(port=int(os.environ.get("PORT", "4021")))
