"""Balances as the API tells them, from the ledger at read time. Merchants and agents see the same
figures."""

from datetime import datetime
from decimal import Decimal

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.networks import STABLECOINS
from apps.assets.selectors import valued
from apps.core import money
from apps.core.messages.documents import Digits, Document
from apps.ledger.selectors import Balance, balances

STABLECOIN_DECIMALS = 6


class BalanceDocument(Document, frozen=True, kw_only=True):
    """Balance of a store in an asset: `amount_cents` is the worth of all of it in the store's
    currency."""

    asset_id: str
    coin_symbol: str
    chain_symbol: str
    atomic_decimals: int
    balance_atomic: Digits
    pending_atomic: Digits
    reserved_atomic: Digits
    total_atomic: Digits
    amount_cents: int | None


class StablecoinTotal(Document, frozen=True, kw_only=True):
    coin_symbol: str
    total_atomic: Digits
    atomic_decimals: int


class SettlementBalance(Document, frozen=True, kw_only=True):
    """Worth of the stablecoins; null when a rate is missing."""

    currency: str
    amount_cents: int | None


class AgentBalancesDocument(Document, frozen=True, kw_only=True):
    balances: list[BalanceDocument]
    settlement_balance: SettlementBalance


class BalancesDocument(Document, frozen=True, kw_only=True):
    balances: list[BalanceDocument]
    stablecoin_summary: list[StablecoinTotal]
    settlement_balance: SettlementBalance


def balances_document(access: Access, at: datetime) -> BalancesDocument:
    """The three parts of GET /balances. `at` is machine time: rates are judged by it."""
    holdings = balances(access.store_id, access.mode)
    currency = access.store.settlement_currency
    rows = valued(holdings, currency, at)
    stable = [(asset, rate) for asset, rate in rows if asset.coin_symbol in STABLECOINS]
    return BalancesDocument(
        balances=[_entry(asset, holdings[asset.pk], rate) for asset, rate in rows],
        stablecoin_summary=[
            _stablecoin(symbol, [asset for asset, _ in stable], holdings) for symbol in STABLECOINS
        ],
        settlement_balance=SettlementBalance(
            currency=currency, amount_cents=_settlement_cents(stable, holdings)
        ),
    )


def _entry(asset: Asset, balance: Balance, rate: Decimal | None) -> BalanceDocument:
    return BalanceDocument(
        asset_id=asset.pk,
        coin_symbol=asset.coin_symbol,
        chain_symbol=asset.chain.symbol,
        atomic_decimals=asset.atomic_decimals,
        balance_atomic=str(balance.available_atomic),
        pending_atomic=str(balance.held_atomic),
        reserved_atomic=str(balance.reserved_atomic),
        total_atomic=str(balance.total_atomic),
        amount_cents=None if rate is None else _worth(asset, balance, rate),
    )


def _worth(asset: Asset, balance: Balance, rate: Decimal) -> int:
    return money.cents_for_atomic(balance.total_atomic, rate, asset.atomic_decimals)


def _stablecoin(symbol: str, stable: list[Asset], holdings: dict[str, Balance]) -> StablecoinTotal:
    total = sum(holdings[asset.pk].total_atomic for asset in stable if asset.coin_symbol == symbol)
    return StablecoinTotal(
        coin_symbol=symbol, total_atomic=str(total), atomic_decimals=STABLECOIN_DECIMALS
    )


def _settlement_cents(
    stable: list[tuple[Asset, Decimal | None]], holdings: dict[str, Balance]
) -> int | None:
    """Worth of the stablecoins in the settlement currency; None when a rate is missing."""
    cents = [
        None if rate is None else _worth(asset, holdings[asset.pk], rate)
        for asset, rate in stable
        if holdings[asset.pk].total_atomic
    ]
    return None if None in cents else sum(amount for amount in cents if amount is not None)
