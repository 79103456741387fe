"""Onramper, an aggregator of card providers, over its HTTP API.

Its keys tell their mode by their prefix. A callback is signed with a secret of ours over the raw
body; everything else is asked.
"""

import hashlib
import hmac
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from apps.chain.networks.families import stored
from apps.core import money
from apps.core.errors import ErrorCode
from apps.core.messages.fields import is_deeper
from apps.core.outbound import net
from apps.onramp.providers.base import (
    EXPIRED,
    FAILED,
    PAID,
    PENDING,
    BadSignature,
    CustomerPlace,
    Method,
    NotOffered,
    OnrampCoin,
    OnrampOffer,
    OnrampOrder,
    Opened,
    ProviderError,
    ProviderReport,
    QuoteRequest,
)  # fmt: skip

# Our asset -> (its name of the coin, its name of the network). Test keys know main networks only;
# nothing is delivered with them.
COINS = {
    "ETH": ("eth", "ethereum"),
    "ETH_USDC": ("usdc_ethereum", "ethereum"),
    "ETH_USDT": ("usdt_ethereum", "ethereum"),
    "POL_USDC": ("usdc_polygon", "polygon"),
    "POL_USDT": ("usdt_polygon", "polygon"),
    "BASE_USDC": ("usdc_base", "base"),
    "ARB_USDC": ("usdc_arbitrum", "arbitrum"),
    "SETH": ("eth", "ethereum"),
    "USDC_SETH": ("usdc_ethereum", "ethereum"),
}
ASSETS = {
    "live": ("BASE_USDC", "POL_USDC", "ARB_USDC", "ETH_USDC", "POL_USDT", "ETH_USDT", "ETH"),
    "test": ("SETH", "USDC_SETH"),
}
STATUSES = {
    "new": PENDING,
    "pending": PENDING,
    "paid": PAID,
    "completed": PAID,
    "failed": FAILED,
    "canceled": FAILED,
    "cancelled": FAILED,
    "expired": EXPIRED,
}
SIGNATURE_HEADER = "X-Onramper-Webhook-Signature"
DEPTH_MAX = 32
METHODS_MAX = 12
# The first look when a delivery is wanted: what it is worth and a usual cut; then a little more
# than that look says.
GUESS_BPS = money.Bps(10_400)
MARGIN_BPS = money.Bps(10_020)


# An object of theirs: each field is read by its own rule, and one that breaks it may be left out.
Row = Mapping[str, object]


@dataclass(frozen=True)
class Onramper:
    """`base_url` without a slash at the end; `quote_seconds` bounds each call."""

    mode: str
    api_key: str
    webhook_secret: str
    base_url: str
    quote_seconds: float = 8.0
    floor_cents: int = 3000
    ceiling_cents: int | None = None

    name = "onramper"
    needs_credentials = True
    currencies = frozenset({"EUR", "USD", "GBP", "CHF", "SEK", "NOK", "DKK", "JPY", "SGD", "HKD"})
    session_seconds = 24 * 3600

    @staticmethod
    def mode_of(api_key: str) -> str | None:
        return {"pk_prod_": "live", "pk_test_": "test"}.get(api_key[:8])

    def assets(self) -> tuple[str, ...]:
        return ASSETS[self.mode]

    def methods(self, place: CustomerPlace, currency: str, coin: OnrampCoin) -> list[Method]:
        query = {"type": "buy", "destination": COINS[coin.asset_id][0], **self._where(place)}
        answer = self._get(f"/supported/payment-types/{currency.lower()}", query)
        rows = answer.get("message") if isinstance(answer, dict) else None
        return [method for row in _rows(rows)[:METHODS_MAX] if (method := _method(row)) is not None]

    def quote(self, ask: QuoteRequest) -> list[OnrampOffer]:
        if ask.target_atomic is None:
            return self._quote(ask, ask.charge_cents or 0)
        guess = money.share(
            money.cents_at_least(ask.target_atomic, ask.rate, ask.coin.atomic_decimals), GUESS_BPS
        )
        first = self._quote(ask, guess)
        if not first:
            return []
        best = max(offer.crypto_atomic for offer in first)
        return self._quote(
            ask, -(-guess * ask.target_atomic * MARGIN_BPS // (best * money.BASIS_POINTS))
        )

    def open(self, order: OnrampOrder) -> Opened:
        coin, network = COINS[order.coin.asset_id]
        body = {
            "onramp": order.service_id,
            "source": order.currency.lower(),
            "destination": coin,
            "amount": orjson.Fragment(
                money.text_from_cents(order.charge_cents)
            ),  # a number in its JSON, and no float in ours
            "type": "buy",
            "paymentMethod": order.method_id,
            "network": network,
            "country": order.place.country.lower(),
            "partnerContext": str(order.id),
            "wallet": {"address": order.address},
            "supportedParams": {
                "partnerData": {
                    "redirectUrl": {"success": order.success_url, "failure": order.cancel_url}
                }
            },
            **({"email": order.email} if order.email else {}),
        }
        try:
            answer = net.post_json(
                f"{self.base_url}/checkout/intent",
                body,
                self._headers(),
                timeout=self.quote_seconds,
            )
        except ProviderError as error:
            if error.code is not ErrorCode.REFUSED:
                raise
            raise NotOffered from None
        message = answer.get("message") if isinstance(answer, dict) else None
        details = message.get("transactionInformation") if isinstance(message, dict) else None
        url, txid = (
            (details.get("url"), details.get("transactionId"))
            if isinstance(details, dict)
            else (None, None)
        )
        if not isinstance(url, str) or not url.startswith("https://") or len(url) > 2048:
            raise ProviderError(ErrorCode.MALFORMED, "no address to send the customer to")
        return Opened(url, txid if isinstance(txid, str) and 0 < len(txid) <= 100 else None)

    def status(self, order_id: uuid.UUID, txid: str | None) -> ProviderReport | None:
        if txid is None:
            return None
        answer = self._get(f"/transactions/{txid}", {})
        return _report(answer) if isinstance(answer, dict) else None

    def read_callback(self, headers: Mapping[str, str], body: bytes) -> ProviderReport:
        expected = hmac.new(self.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
        if not self.webhook_secret or not hmac.compare_digest(
            expected.encode(), headers.get(SIGNATURE_HEADER, "").lower().encode()
        ):
            raise BadSignature
        if is_deeper(body, DEPTH_MAX):
            raise BadSignature
        try:
            message = json.loads(body, parse_float=Decimal)
        except ValueError:
            raise BadSignature from None
        report = _report(message) if isinstance(message, dict) else None
        if report is None:
            raise BadSignature
        return report

    def _quote(self, ask: QuoteRequest, charge_cents: int) -> list[OnrampOffer]:
        path = f"/quotes/{ask.currency.lower()}/{COINS[ask.coin.asset_id][0]}"
        query = {
            "amount": money.text_from_cents(charge_cents),
            "paymentMethod": ask.method.id,
            "type": "buy",
            **self._where(ask.place),
        }
        rows = _rows(self._get(path, query))
        return [
            offer
            for row in rows
            if (offer := _offer(row, charge_cents, ask.coin.atomic_decimals)) is not None
        ]

    def _get(self, path: str, query: dict[str, str]) -> Any:
        return net.get_json(
            self.base_url + path, query, self._headers(), timeout=self.quote_seconds
        )

    def _headers(self) -> dict[str, str]:
        return {"Authorization": self.api_key}

    @staticmethod
    def _where(place: CustomerPlace) -> dict[str, str]:
        region = {"subdivision": place.region.lower()} if place.region else {}
        return {"country": place.country.lower(), **region}


def _rows(answer: object) -> list[Row]:
    if not isinstance(answer, list):
        raise ProviderError(ErrorCode.MALFORMED, "not a list")
    return [row for row in answer if isinstance(row, dict)]


def _word(value: Any, longest: int = 100) -> str:
    """A short text that may be shown and stored, else nothing."""
    return (
        value
        if isinstance(value, str) and 0 < len(value) <= longest and value.isprintable()
        else ""
    )


def _picture(value: Any) -> str | None:
    return (
        value
        if isinstance(value, str)
        and value.startswith("https://")
        and len(value) <= 500
        and value.isprintable()
        else None
    )


def _method(row: Row) -> Method | None:
    id = _word(row.get("paymentTypeId"), 50)
    name = _word(row.get("name")) or id
    return Method(id, name, id, id[:2].upper(), _picture(row.get("icon"))) if id else None


def _offer(row: Row, charge_cents: int, decimals: int) -> OnrampOffer | None:
    """A row with errors, or whose figures can't be read, is no offer."""
    ramp = _word(row.get("ramp"), 50)
    crypto = money.read_atomic(row.get("payout"), decimals)
    fees = [money.read_cents(row.get(name) or 0) for name in ("networkFee", "transactionFee")]
    if not ramp or row.get("errors") or not crypto or None in fees:
        return None
    converted = charge_cents - sum(fee for fee in fees if fee is not None)
    return OnrampOffer(
        ramp,
        ramp.replace("-", " ").replace("_", " ").title(),
        ramp,
        charge_cents,
        converted,
        crypto,
    )


def _report(transaction: Row) -> ProviderReport | None:
    status = STATUSES.get(str(transaction.get("status", "")).lower())
    if status is None:
        return None
    amount = transaction.get("inAmount")
    currency = transaction.get("sourceCurrency")
    address = transaction.get("walletAddress")
    return ProviderReport(
        status=status,
        order_id=_word(transaction.get("partnerContext")),
        txid=_word(transaction.get("transactionId")) or None,
        amount_cents=None if amount is None else money.read_cents(amount),
        currency=currency.upper() if isinstance(currency, str) else None,
        address=stored(address) if isinstance(address, str) else None,
    )
