"""A server whose report costs a cent, paid over x402 with Tillgate as the facilitator. The
middleware is x402's own.

    pip install "x402[evm,flask,httpx]" requests
    TILLGATE_KEY=svc_sk_live_... python x402_server.py

It asks Tillgate for an address for each customer; the customer signs, Tillgate carries the
signature out and books the payment.
"""

import os

import flask
import requests
from x402 import x402ResourceServerSync
from x402.http import FacilitatorConfig, HTTPFacilitatorClientSync
from x402.http.facilitator_client_base import CreateHeadersAuthProvider
from x402.http.middleware.flask import payment_middleware
from x402.http.types import HTTPRequestContext, PaymentOption, RouteConfig
from x402.http.utils import decode_payment_signature_header
from x402.mechanisms.evm.exact.register import register_exact_evm_server
from x402.schemas import AssetAmount

FACILITATOR = os.environ.get("TILLGATE_URL", "http://localhost:8000") + "/api/v2/x402"
HEADERS = {"Authorization": f"Bearer {os.environ['TILLGATE_KEY']}"}
ASSET_ID, PRICE_ATOMIC = (
    "ETH_USDC",
    "1000000",
)  # one USDC, which is worth more than the gas that takes it in

app = flask.Flask(__name__)


@app.get("/report")
def report() -> dict[str, str]:
    return {"report": "It will rain tomorrow."}


def token() -> tuple[str, dict[str, str]]:
    """(network, token) of the asset that is asked for."""
    supported = requests.get(f"{FACILITATOR}/supported", headers=HEADERS, timeout=10)
    supported.raise_for_status()
    for kind in supported.json()["kinds"]:
        for one in kind["extra"]["assets"]:
            if one["assetId"] == ASSET_ID:
                return kind["network"], one
    raise SystemExit(f"{ASSET_ID} can't be paid over x402 with this key")


def pay_to(context: HTTPRequestContext) -> str:
    """The address that the customer has signed for, else a new one. Tillgate refuses an address
    that it didn't give to this store."""
    if context.payment_header:
        try:
            return decode_payment_signature_header(context.payment_header).accepted.pay_to
        except (ValueError, AttributeError):
            pass  # it can't be read: the customer is asked again
    wanted = {
        "asset_id": ASSET_ID,
        "amount_atomic": PRICE_ATOMIC,
        "resource": context.adapter.get_url(),
        "description": "Report",
    }
    asked = requests.post(f"{FACILITATOR}/requirements", json=wanted, headers=HEADERS, timeout=10)
    asked.raise_for_status()
    return asked.json()["payTo"]


def protect() -> None:
    network, asked = token()
    headers = CreateHeadersAuthProvider(
        lambda: dict.fromkeys(("verify", "settle", "supported"), HEADERS)
    )
    facilitator = HTTPFacilitatorClientSync(
        FacilitatorConfig(url=FACILITATOR, auth_provider=headers)
    )
    server = register_exact_evm_server(x402ResourceServerSync(facilitator), networks=network)
    domain = {"name": asked["name"], "version": asked["version"]}
    price = AssetAmount(amount=PRICE_ATOMIC, asset=asked["asset"], extra=domain)
    option = PaymentOption(
        scheme="exact", network=network, pay_to=pay_to, price=price, max_timeout_seconds=120
    )
    payment_middleware(
        app, {"GET /report": RouteConfig(accepts=option, description="Report")}, server
    )


if __name__ == "__main__":
    protect()
    app.run(port=int(os.environ.get("PORT", "4021")))
