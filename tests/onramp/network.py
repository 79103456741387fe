"""A stand-in that speaks Onramper's format: three providers with fees of their own, payments that
can be looked up, signed callbacks."""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.onramp.cards import SECRET

PRICES = {"eth": Decimal(1800), "usdc_ethereum": Decimal("0.9")}
# provider -> (part of the charge in basis points, fixed cents)
RAMPS = {"moonpay": (350, 0), "banxa": (150, 20), "alchemy-pay": (250, 10)}
METHODS = [
    {
        "paymentTypeId": "creditcard",
        "name": "Credit Card",
        "icon": "https://cdn.example/creditcard.svg",
    },
    {
        "paymentTypeId": "sepabanktransfer",
        "name": "SEPA Bank Transfer",
        "icon": "https://cdn.example/sepa.svg",
    },
]


@dataclass
class Stand:
    """`lies` replaces fields of the quotes; `orders` is what was opened, by the network's own
    number."""

    server: HTTPServer
    lies: dict[str, Any] = field(default_factory=dict)
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    status_of_open: int = 200

    def __post_init__(self) -> None:
        self.server.expect_request("/supported/payment-types/eur").respond_with_handler(
            self._methods
        )
        for coin in PRICES:
            self.server.expect_request(f"/quotes/eur/{coin}").respond_with_handler(self._quotes)
        self.server.expect_request("/checkout/intent", method="POST").respond_with_handler(
            self._open
        )

    @property
    def url(self) -> str:
        return self.server.url_for("").rstrip("/")

    def _methods(self, request: Request) -> Response:
        self.asked.append(request.headers["Authorization"])
        return _json({"message": METHODS if request.args["country"] != "br" else []})

    def _quotes(self, request: Request) -> Response:
        amount = Decimal(request.args["amount"])
        price = PRICES[request.path.rsplit("/", 1)[1]]
        rows: list[dict[str, Any]] = [
            {"ramp": "offline", "errors": [{"type": "NoQuote", "message": "down"}]}
        ]
        for ramp, (bps, fixed) in RAMPS.items():
            fee = amount * bps / 10_000 + Decimal(fixed) / 100
            row = {
                "ramp": ramp,
                "paymentMethod": request.args["paymentMethod"],
                "rate": price,
                "networkFee": Decimal("0.05"),
            }
            rows.append(
                {
                    **row,
                    "transactionFee": fee,
                    "payout": (amount - fee - Decimal("0.05")) / price,
                    **self.lies,
                }
            )
        return _json(rows)

    def _open(self, request: Request) -> Response:
        body = json.loads(request.data)
        if self.status_of_open != 200:
            return Response("{}", status=self.status_of_open, content_type="application/json")
        number = f"01H{len(self.orders)}-{body['partnerContext'][:8]}"
        self.orders[number] = body
        self.server.expect_request(f"/transactions/{number}").respond_with_handler(
            lambda _: _json(self.told(number))
        )
        told = {"transactionId": number, "url": f"https://buy.example/{number}", "type": "redirect"}
        return _json({"message": {"status": "in_progress", "transactionInformation": told}})

    def told(self, number: str, **changes: Any) -> dict[str, Any]:
        """The network's answer about an order."""
        body = self.orders[number]
        return {
            "transactionId": number,
            "status": body.get("now", "pending"),
            "inAmount": body["amount"],
            "sourceCurrency": body["source"],
            "walletAddress": body["wallet"]["address"],
            "partnerContext": body["partnerContext"],
            **changes,
        }


def _json(value: Any) -> Response:
    return Response(json.dumps(value, default=float), content_type="application/json")


def signed(body: dict[str, Any], secret: str = SECRET) -> tuple[bytes, dict[str, str]]:
    """A callback as it is sent."""
    raw = json.dumps(body, default=float).encode()
    return raw, {
        "X-Onramper-Webhook-Signature": hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    }
