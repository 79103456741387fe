"""Assets and currencies as the API tells them."""

from functools import cache

from babel.numbers import get_currency_name, get_currency_precision, get_currency_symbol

from apps.assets.models import Asset
from apps.core.messages.documents import Digits, Document
from apps.core.text.locales import locale_of
from apps.stores.models import Currency


class SupportedAsset(Document, frozen=True, kw_only=True):
    """An asset with its chain; `settlement_currency` is what its rate is quoted in."""

    asset_id: str
    name: str
    coin_symbol: str
    chain_symbol: str
    chain_name: str
    network: str
    token_standard: str
    atomic_decimals: int
    display_decimals: int
    settlement_currency: str
    min_withdrawal_atomic: Digits
    fiat_eligible: bool


def supported_asset(asset: Asset, settlement_currency: str) -> SupportedAsset:
    return SupportedAsset(
        asset_id=asset.pk,
        name=asset.name,
        coin_symbol=asset.coin_symbol,
        chain_symbol=asset.chain.symbol,
        chain_name=asset.chain.name,
        network=asset.chain_id,
        token_standard=asset.token_standard,
        atomic_decimals=asset.atomic_decimals,
        display_decimals=asset.display_decimals,
        settlement_currency=settlement_currency,
        min_withdrawal_atomic=str(asset.min_withdrawal_atomic),
        fiat_eligible=asset.is_fiat_eligible,
    )


class PaymentCurrencyDocument(Document, frozen=True, kw_only=True):
    code: str
    label: str
    symbol: str
    decimals: int


@cache
def payment_currencies() -> list[PaymentCurrencyDocument]:
    """Every currency that prices a payment."""
    return [
        PaymentCurrencyDocument(
            code=code,
            label=get_currency_name(code, locale=locale_of("en")),
            symbol=get_currency_symbol(code, locale=locale_of("en")),
            decimals=get_currency_precision(code),
        )
        for code in Currency.values
    ]
