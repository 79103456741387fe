"""An off-ramp behind HTTP. Our reference is its idempotency key: the same order sent twice is one
order there.

docs/operators.md describes its requests and responses. An unreadable response never counts as a
settlement.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from apps.assets.models import Asset
from apps.chain.networks.families import address_in
from apps.core import money
from apps.core.errors import ErrorCode, ProviderError
from apps.core.outbound import net
from apps.payouts.providers.base import (
    ACCEPTED,
    FAILED,
    SETTLED,
    OfframpOrder,
    OfframpOutcome,
    OfframpQuote,
)

CODES = frozenset(
    {"insufficient_funds", "destination_invalid", "temporarily_unavailable", "unknown"}
)
_STATES = {"pending": ACCEPTED, "settled": SETTLED, "failed": FAILED}
_TEXT_MAX = 100


class HttpOfframp:
    name = "http"
    poll_seconds = 15

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key

    def quote(self, asset: Asset, amount_atomic: int, currency: str) -> OfframpQuote:
        parameters = {
            "asset": asset.coin_symbol,
            "network": asset.chain_id,
            "amount": _coins(asset, amount_atomic),
            "currency": currency,
        }
        answer = self._object(
            net.get_json(self._url("quotes"), params=parameters, headers=self._headers())
        )
        rate = money.read_rate(answer.get("rate"))
        fiat = _cents(answer, "fiat_amount_cents")
        fee = _cents(answer, "fee_cents")
        if rate is None or fiat is None or fee is None:
            raise ProviderError(ErrorCode.MALFORMED, "not a quote")
        return OfframpQuote(fiat, fee, rate)

    def create(self, order: OfframpOrder, at: datetime) -> OfframpOutcome:
        asset = order.asset
        body = {
            "reference": order.reference,
            "asset": asset.coin_symbol,
            "network": asset.chain_id,
            "amount": _coins(asset, order.amount_atomic),
            "currency": order.currency,
            "beneficiary": {"name": order.holder, "account": order.account},
        }
        try:
            answer = net.post_json(
                self._url("payouts"),
                body,
                headers={**self._headers(), "Idempotency-Key": order.reference},
            )
        except ProviderError as error:
            if error.code is not ErrorCode.REFUSED:
                raise
            return OfframpOutcome(FAILED, reason=f"The off-ramp refused the order ({error})")
        return self._outcome(answer)

    def look(self, order: OfframpOrder, at: datetime, real: datetime) -> OfframpOutcome:
        return self._outcome(
            net.get_json(self._url(f"payouts/{order.reference}"), headers=self._headers())
        )

    def _url(self, path: str) -> str:
        if not self.base_url:
            raise ProviderError(ErrorCode.UNAVAILABLE, "no off-ramp is configured")
        return f"{self.base_url}/{path}"

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._api_key}"}

    @staticmethod
    def _object(answer: object) -> Mapping[str, object]:
        if not isinstance(answer, dict):
            raise ProviderError(ErrorCode.MALFORMED, "not an object")
        return answer

    def _outcome(self, answer: Any) -> OfframpOutcome:
        body = self._object(answer)
        state = _STATES.get(str(body.get("status")))
        if state is None:
            raise ProviderError(ErrorCode.MALFORMED, "unknown status")
        if state == FAILED:
            code = _text(body, "failure_code")
            return OfframpOutcome(
                FAILED,
                provider_id=_text(body, "id"),
                code=code if code in CODES else "unknown",
                reason=_text(body, "failure_message") or "The off-ramp failed it",
            )
        fiat = _cents(body, "fiat_amount_cents")
        if state == SETTLED and fiat is None:
            raise ProviderError(ErrorCode.MALFORMED, "settled without an amount")
        address = _text(body, "deposit_address")
        return OfframpOutcome(
            state,
            provider_id=_text(body, "id"),
            deposit_address=address_in(address),
            fiat_cents=fiat,
            fee_cents=_cents(body, "fee_cents"),
            rate=money.read_rate(body.get("rate")),
            bank_reference=_text(body, "bank_reference"),
        )


def _coins(asset: Asset, amount_atomic: int) -> str:
    return money.decimal_from_atomic(amount_atomic, asset.atomic_decimals)


def _text(body: Mapping[str, object], name: str) -> str:
    value = body.get(name)
    return value.replace("\x00", "")[:_TEXT_MAX] if isinstance(value, str) else ""


def _cents(body: Mapping[str, object], name: str) -> int | None:
    value = body.get(name)
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15
        else None
    )
