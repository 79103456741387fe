"""What staff read of a record: money, coins, percent, times with their zone, countries by name."""

from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from django.db import models
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core import money
from apps.core.countries import country_name
from apps.core.staff.lists import amount_text
from apps.core.templatetags.tillgate import fiat, moment, percentage

# Where the currency of a field is, when it isn't in `currency`.
_CURRENCIES = {
    "minimum_fiat_cents": "minimum_fiat_currency",
    "paid_fee_cents": "fiat_currency",
    "paid_fiat_amount_cents": "fiat_currency",
    "payout_review_threshold_cents": "store.settlement_currency",
    "settlement_amount_cents": "settlement_currency",
}
# Where its coin is, when it isn't in `asset`; "" where it is that of the chain, which fees are in.
_COINS = {
    "actual_buy_amount_atomic": "buy_asset",
    "expected_buy_amount_atomic": "buy_asset",
    "failed_gas_atomic": "",
    "failed_gas_due_atomic": "",
    "handled_fee_atomic": "",
    "handled_received_atomic": "receives_asset",
    "min_buy_amount_atomic": "buy_asset",
    "network_fee_atomic": "",
    "received_atomic": "receives_asset",
    "sell_amount_atomic": "source_asset",
}
GAS_DECIMALS = 18
_COUNTRIES = ("country", "business_country")


def shown(row: Any, name: str) -> Any:
    """A column as a person decides by it: choices in words, atomic units also as coins."""
    value = getattr(row, name)
    if value is None:
        return None
    if name.endswith("_cents"):
        return _money(row, name, int(value))
    if name.endswith("_atomic"):
        return _coins(row, name, int(value))
    if name.endswith("_bps"):
        return percentage(money.percentage_from_bps(int(value)))
    if name.endswith("_fraction"):
        return percentage(money.percentage_text(Decimal(value)))
    if name in _COUNTRIES:
        return country_name(str(value))
    if isinstance(value, datetime):
        return moment(value)
    words = getattr(row, f"get_{name}_display", None)
    return words() if words is not None else value


def _money(row: Any, name: str, cents: int) -> str:
    try:
        currency = attrgetter(_CURRENCIES.get(name, "currency"))(row)
    except AttributeError:
        currency = ""
    return fiat(cents, currency) if currency else money.text_from_cents(cents)


def _coins(row: Any, name: str, atomic: int) -> SafeString | str:
    if _COINS.get(name) == "":
        symbol, decimals = _gas_symbol(row), GAS_DECIMALS
    else:
        coin = getattr(row, _COINS.get(name, "asset"), None)
        symbol, decimals = (coin.coin_symbol, coin.atomic_decimals) if coin is not None else ("", 0)
    if not symbol:
        return f"{atomic} atomic units"
    amount = f"{amount_text(atomic, decimals)} {symbol}"
    if atomic == 0:
        return amount
    return format_html(
        '<bdi class="amount">{}</bdi> <span class="worth">{} atomic units</span>', amount, atomic
    )


def _gas_symbol(row: Any) -> str:
    """The native coin's, as people call it: the chain's own symbol tells test networks apart."""
    chain = row.chain if hasattr(row, "chain") else row.asset.chain
    if chain is None:
        return ""
    return (
        chain.assets.filter(contract_address=None).values_list("coin_symbol", flat=True).first()
        or ""
    )


def named(row: models.Model) -> str:
    """A record that another points to, by what tells it from its neighbors."""
    if type(row).__str__ is not models.Model.__str__:
        return str(row)
    names = (getattr(row, name, None) for name in ("reference", "number", "name", "address"))
    return str(next((name for name in names if name), row.pk))
