"""Balances as the API tells them, from the ledger at read time. Merchants and agents see the same figures."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import valued
from apps.core import money
from apps.ledger.selectors import Balance, balances

STABLECOINS = ("USDC", "USDT")
STABLECOIN_DECIMALS = 6


def balances_document(access: Access, at: datetime) -> dict[str, Any]:
    """The three parts of GET /balances. `at` is machine time: rates are judged by it."""
    held = balances(access.store_id, access.mode)
    currency = access.store.settlement_currency
    rows = valued(held, currency, at)
    stable = [(asset, rate) for asset, rate in rows if asset.coin_symbol in STABLECOINS]
    return {
        "balances": [_entry(asset, held[asset.pk], rate) for asset, rate in rows],
        "stablecoin_summary": [_stablecoin(symbol, [asset for asset, _ in stable], held) for symbol in STABLECOINS],
        "settlement_balance": {"currency": currency, "amount_cents": _settlement_cents(stable, held)},
    }


def _entry(asset: Asset, balance: Balance, rate: Decimal | None) -> dict[str, Any]:
    return {
        "asset_id": asset.pk,
        "coin_symbol": asset.coin_symbol,
        "chain_symbol": asset.chain.symbol,
        "atomic_decimals": asset.atomic_decimals,
        "balance_atomic": str(balance.available_atomic),
        "pending_atomic": str(balance.held_atomic),
        "reserved_atomic": str(balance.reserved_atomic),
        "total_atomic": str(balance.total_atomic),
        "amount_cents": None if rate is None else _worth(asset, balance, rate),
    }


def _worth(asset: Asset, balance: Balance, rate: Decimal) -> int:
    return money.cents_for_atomic(balance.total_atomic, rate, asset.atomic_decimals)


def _stablecoin(symbol: str, stable: list[Asset], held: dict[str, Balance]) -> dict[str, Any]:
    total = sum(held[asset.pk].total_atomic for asset in stable if asset.coin_symbol == symbol)
    return {"coin_symbol": symbol, "total_atomic": str(total), "atomic_decimals": STABLECOIN_DECIMALS}


def _settlement_cents(stable: list[tuple[Asset, Decimal | None]], held: dict[str, Balance]) -> int | None:
    """What the stablecoins are worth in the settlement currency; None when a rate is missing."""
    cents = [None if rate is None else _worth(asset, held[asset.pk], rate) for asset, rate in stable if held[asset.pk].total_atomic]
    return None if None in cents else sum(one for one in cents if one is not None)
