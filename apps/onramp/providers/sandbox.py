"""The embedded network: two methods per country with fees like real ones, and a card page of its
own on this service.

It tells of nothing by itself: its page does, in the same transaction. Coins it delivers on a local
chain only, never in production.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings

from apps.chain.encoding.transactions import Transaction
from apps.chain.keys.secp256k1 import SigningKey
from apps.core import local_chain, money
from apps.core.errors import ErrorCode
from apps.core.process.published_secrets import CHAIN_KEYS
from apps.onramp.providers.base import (
    BadSignature,
    CustomerPlace,
    Method,
    OnrampCoin,
    OnrampOffer,
    OnrampOrder,
    Opened,
    ProviderError,
    ProviderReport,
    QuoteRequest,
)

_EEA = "AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE IS LI NO"
EEA = frozenset(_EEA.split())
COUNTRIES = EEA | {"GB", "CH", "US", "CA", "AU", "JP", "SG"}
REGIONS_REFUSED = {("US", "NY")}
CARD = Method("card", "Debit or credit card", "card", "CC", "/static/img/methods/card.svg")
_SEPA = Method("sepa", "SEPA transfer", "bank_transfer", "SE", "/static/img/methods/bank.svg")
_BANKS = {
    "GB": ("faster-payments", "Faster Payments", "FP"),
    "CH": ("twint", "TWINT", "TW"),
    "US": ("ach", "Bank transfer (ACH)", "AC"),
    "CA": ("interac", "Interac e-Transfer", "IN"),
    "AU": ("payid", "PayID", "PI"),
    "JP": ("furikomi", "Bank transfer (Furikomi)", "FU"),
    "SG": ("paynow", "PayNow", "PN"),
}
BANK = {
    country: Method(id, name, "bank_transfer", letters, "/static/img/methods/bank.svg")
    for country, (id, name, letters) in _BANKS.items()
}
ASSETS = {"live": ("ETH_USDC", "ETH_USDT", "ETH"), "test": ("SETH", "USDC_SETH", "USDT_SETH")}
GAS = 120_000
GWEI = 10**9


@dataclass(frozen=True)
class Service:
    """A provider of the sandbox; what it takes is a part of the charge and a fixed amount, by the
    method's code."""

    id: str
    name: str
    fees: Mapping[str, tuple[int, int]]
    is_kyc_free: bool


SERVICES = (
    Service(
        "sandbox-pay",
        "Sandbox Pay",
        {"card": (240, 4), "bank_transfer": (80, 10)},
        is_kyc_free=True,
    ),
    Service(
        "sandbox-exchange",
        "Sandbox Exchange",
        {"card": (290, 30), "bank_transfer": (120, 15)},
        is_kyc_free=False,
    ),
)


@dataclass(frozen=True)
class CardSandbox:
    """`delivers`: whether coins are sent on the local chain once the card is charged."""

    mode: str
    api_key: str = ""
    webhook_secret: str = ""
    delivers: bool = False

    name = "sandbox"
    needs_credentials = False
    currencies = frozenset({"EUR", "USD", "GBP", "CHF"})
    session_seconds = 1800
    floor_cents = 500
    ceiling_cents = 500_000

    @staticmethod
    def mode_of(api_key: str) -> str | None:
        return None

    def assets(self) -> tuple[str, ...]:
        return ASSETS[self.mode]

    def methods(self, place: CustomerPlace, currency: str, coin: OnrampCoin) -> list[Method]:
        if (
            place.country not in COUNTRIES
            or (place.country, place.region.upper()) in REGIONS_REFUSED
        ):
            return []
        return [CARD, BANK.get(place.country, _SEPA)]

    def quote(self, ask: QuoteRequest) -> list[OnrampOffer]:
        return [offer for service in SERVICES if (offer := _offer(service, ask)) is not None]

    def open(self, order: OnrampOrder) -> Opened:
        return Opened(
            f"{settings.PUBLIC_URL}/sandbox/card/{order.id}", f"sandbox_{order.id.hex[:16]}"
        )

    def status(self, order_id: uuid.UUID, txid: str | None) -> ProviderReport | None:
        return None

    def read_callback(self, headers: Mapping[str, str], body: bytes) -> ProviderReport:
        raise BadSignature

    def deliver(
        self, coin: OnrampCoin, contract: str | None, address: str, amount_atomic: int
    ) -> str:
        """Send coins from the network's own wallet on the local chain; the transaction's hash.
        Raises ProviderError."""
        urls = settings.CHAIN_URLS.get(coin.network)
        if settings.IS_PRODUCTION or not self.delivers or not urls:
            raise ProviderError(ErrorCode.UNAVAILABLE, "the sandbox delivers on a local chain only")
        key = SigningKey(bytes.fromhex(CHAIN_KEYS["card_network"][2:]))
        transfer = (
            "0xa9059cbb" + address.removeprefix("0x").rjust(64, "0") + f"{amount_atomic:064x}"
        )
        to, value, data = (contract, 0, transfer) if contract else (address, amount_atomic, "0x")
        try:
            nonce = int(
                local_chain.call(urls[0], "eth_getTransactionCount", key.address, "pending"), 16
            )
            chain_id = int(local_chain.call(urls[0], "eth_chainId"), 16)
            signed = Transaction(chain_id, nonce, to, value, data, GAS, 50 * GWEI, GWEI).signed(key)
            return str(local_chain.call(urls[0], "eth_sendRawTransaction", signed.raw))
        except (OSError, local_chain.ChainRefused) as error:
            raise ProviderError(ErrorCode.UNREACHABLE, str(error)) from None


def _offer(service: Service, ask: QuoteRequest) -> OnrampOffer | None:
    bps, fixed_cents = service.fees[ask.method.code]
    fee_bps = money.Bps(bps)
    decimals = ask.coin.atomic_decimals
    if ask.target_atomic is not None:
        converted = money.cents_at_least(ask.target_atomic, ask.rate, decimals)
        crypto = ask.target_atomic
        charge = money.gross_up_cents(converted + fixed_cents, fee_bps)
    else:
        charge = ask.charge_cents or 0
        converted = charge - money.share(charge, fee_bps) - fixed_cents
        crypto = money.atomic_at_most(converted, ask.rate, decimals)
    if converted <= 0 or crypto <= 0:
        return None
    return OnrampOffer(
        service.id,
        service.name,
        service.id,
        charge,
        converted,
        crypto,
        is_kyc_free=service.is_kyc_free,
    )
