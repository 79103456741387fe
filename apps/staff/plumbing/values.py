"""Values of records for staff: money, coins, percent, times with their zone, countries by name."""

import re
from collections.abc import Mapping, Sequence
from datetime import MAXYEAR, UTC, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from babel.numbers import get_currency_name
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.assets.selectors import fee_asset_of
from apps.core import money
from apps.core.messages.fields import is_uuid
from apps.core.templatetags.tillgate import (
    badge,
    fiat,
    fiat_rate,
    moment,
    percentage,
    status_words,
)
from apps.core.text.countries import country_name
from apps.core.text.durations import duration_text
from apps.core.text.regions import REGIONS
from apps.core.text.words import code_words, sentence
from apps.core.web.forms import typographic
from apps.staff.labels import column_label
from apps.staff.lists import yes_or_no
from apps.staff.plumbing import times
from apps.staff.plumbing.codes import code, code_or_text
from apps.staff.plumbing.paging import TIMES
from apps.staff.plumbing.structures import address_parts, as_sent, fields, side_by_side, structure
from apps.stores.settings import setting_label
from apps.stores.staff_roles import StaffRole

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
    "value_atomic": "",
}
# The money that a rate is in, where it is a column of the record or of what it belongs to.
_RATES = {"exchange_rate": "payment.settlement_currency", "paid_fx_rate": "fiat_currency"}
NO_END = "No end"  # of what is valid until something else is
_KEYS = {"secret": "Secret keys of the store", "publishable": "Publishable keys of the store"}
_CALLER_PAGES = {
    "agent": "admin:access_agentcredential_change",
    "user": "admin:stores_user_change",
}
_GROUPED = ("gas_limit", "stock")  # numbers of things, which may be long
_UNIX_TIMES = ("valid_after", "valid_before")
# Columns whose values are names of ours without labels.
_CODED = frozenset(
    {
        "action",
        "authorization_provider",
        "caller",
        "change",
        "event_type",
        "from_status",
        "handled_status",
        "kind",
        "last_skip_reason",
        "mode",
        "needs_attention",
        "pending_reason",
        "provider",
        "purpose",
        "role",
        "source",
        "state_reason",
        "status",
        "to_status",
    }
)
_IN_SMALL_UNITS = ("_atomic", "_bps", "_cents", "_fraction")
_CODED_ENDS = ("_kind", "_status", "_type")
_CODE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_COUNTRIES = ("country", "business_country")
STATUS_FIELDS = ("status", "state", "from_status", "to_status", "handled_status")
_ADDRESS_LINES = {"line1": "Line 1", "line2": "Line 2", "state": "State"}
_DURATIONS = ("_seconds", "_hours", "_ms")
_OF_OURS = ("authorization_policy",)  # a structure whose names are ours
_LANGUAGES = ("language", "customer_language")
_AS_SENT = ("object", "requirements")


def shown(row: Any, name: str, noun: str = "", code_nouns: Mapping[str, str] | None = None) -> Any:
    """A column as a person decides by it: choices in words, atomic units also as coins, and what is
    copied as a code. `noun` is whose badges its statuses have, `code_nouns` those of its codes."""
    value = getattr(row, name)
    if value is None:
        return None
    if isinstance(value, list | dict):
        return _structure(row, name, value)
    if name.endswith(_IN_SMALL_UNITS):
        return _amount(row, name, value)
    if name in _COUNTRIES:
        return country_name(str(value))
    if isinstance(value, datetime):
        return _time(row, name, value)
    if isinstance(value, bool):
        return yes_or_no(value)
    if name.endswith(_DURATIONS):
        return _duration(name, int(value))
    if noun and name in ("status", "state"):
        return badge(noun, str(value)) if value else None
    words_of = (code_nouns or {}).get(name) or (noun if name in STATUS_FIELDS else "")
    if words_of:
        return _status_words(words_of, str(value)) if value else None
    return _text(row, name, value)


def _text(row: Any, name: str, value: Any) -> Any:
    if name.endswith("_uris"):
        return side_by_side(str(value).split())
    if name in _UNIX_TIMES:
        return moment(datetime.fromtimestamp(int(value), UTC)) if value else "Any time"
    if name == "idempotency_caller":
        return _caller(str(value))
    if name in _GROUPED:
        return f"{value:,}"
    if isinstance(value, Decimal):
        return _rate(row, name, value)
    if name in _LANGUAGES:
        return dict(settings.LANGUAGES).get(value, value)
    if name == "region":
        return REGIONS.get(value, value)
    if name.endswith("currency") and value:
        return sentence(get_currency_name(str(value), count=1, locale="en"))
    words = getattr(row, f"get_{name}_display", None)
    text = typographic(str(words())) if words is not None else value
    return code_or_text(in_words(name, text), name)


def _caller(caller: str) -> Any:
    """Owner of a set of idempotency keys: the store's secret keys together, a person, or an
    agent."""
    kind, _, id = caller.partition(":")
    if kind in _KEYS:
        return _KEYS[kind]
    page = _CALLER_PAGES.get(kind)
    if page is None or not is_uuid(id):
        return code(caller)
    person = get_user_model()._default_manager.filter(pk=id).first() if kind == "user" else None
    name = person or f"Agent credential {id}"
    return format_html('<a href="{}">{}</a>', reverse(page, args=[id]), name)


def number_text(number: Decimal) -> str:
    """With separators, and no more places than it has: a rate is stored with eighteen."""
    whole, point, places = money.fraction_text(number).partition(".")
    return f"{int(whole):,}{point}{places}"


def in_words(name: str, value: Any) -> Any:
    """A name of ours (`completed_exact`), as a sentence begins; what others named stays as it
    is."""
    is_coded = name in _CODED or name.endswith(_CODED_ENDS)
    if is_coded and isinstance(value, str) and _CODE.fullmatch(value):
        return code_words(value)
    return value


def _status_words(noun: str, status: str) -> str:
    words = status_words(noun, status)
    return code_words(status.replace(".", "_")) if words == status else words


def _structure(row: Any, name: str, value: Sequence[Any] | Mapping[str, Any]) -> SafeString:
    if name in _AS_SENT:
        return as_sent(value)
    if isinstance(value, list) and name.endswith(_IN_SMALL_UNITS):
        return side_by_side(_amount(row, name, item) for item in value)
    if name == "staff_roles":
        return side_by_side(StaffRole(role).label for role in value)
    if name.endswith("address") and isinstance(value, Mapping):
        parts = address_parts(value)
        return fields((_address_label(part), _of_address(part, item)) for part, item in parts)
    return structure(value, setting_label if name in _OF_OURS else str)


def _address_label(name: str) -> str:
    return _ADDRESS_LINES.get(name) or column_label(name)


def _of_address(name: str, value: object) -> object:
    return country_name(str(value)) or value if name == "country" else value


def _duration(name: str, value: int) -> str:
    if name.endswith("_ms"):
        return f"{value:,} ms"
    return duration_text(value * 3_600 if name.endswith("_hours") else value)


def _rate(row: Any, name: str, value: Decimal) -> str:
    """Of money where that is known: `€1,800.50`."""
    currency = _first(row, (_RATES[name],)) if name in _RATES else None
    return fiat_rate(money.fraction_text(value), currency) if currency else number_text(value)


def _time(row: Any, name: str, value: datetime) -> str:
    """The end of time means that it doesn't end."""
    if value.year == MAXYEAR:
        return NO_END if name.startswith("valid") else "Never"
    return times.made_text(row, value) if name in TIMES else moment(value)


def _amount(row: Any, name: str, value: Any) -> Any:
    """A number of a column whose name ends in its unit."""
    if name.endswith("_cents"):
        return _money(row, name, int(value))
    if name.endswith("_atomic"):
        return _coins(row, name, int(value))
    if name.endswith("_bps"):
        return percentage(money.percentage_from_bps(int(value)))
    return percentage(money.percentage_text(Decimal(value)))


def currency_of(row: Any, name: str) -> str:
    """Of a column in cents; empty when nothing tells."""
    path = _CURRENCIES.get(name, "currency")
    return _first(row, (path, path.removeprefix("store."), "invoice.currency")) or ""


def _money(row: Any, name: str, cents: int) -> str:
    currency = currency_of(row, name)
    return fiat(cents, currency) if currency else money.text_from_cents(cents)


def _coins(row: Any, name: str, atomic: int) -> SafeString | str:
    amount = _coins_alone(row, name, atomic)
    if not amount:
        return f"{atomic:,} atomic units".replace("-", money.MINUS) if atomic else "0"
    if atomic == 0:
        return amount
    return format_html(
        '<bdi class="amount">{}</bdi> <span class="worth">{} atomic units</span>',
        amount,
        str(atomic).replace("-", money.MINUS),
    )


def _coins_alone(row: Any, name: str, atomic: int) -> str:
    """Empty when nothing tells which coin it is."""
    coin = coin_of(row, name)
    return f"{money.amount_text(atomic, coin[1])} {coin[0]}" if coin else ""


def coin_of(row: Any, name: str) -> tuple[str, int] | None:
    """Symbol and decimals of the coin of a column in atomic units; None when nothing tells."""
    if _COINS.get(name) == "":
        return _fee_coin(row)
    own = row if hasattr(row, "coin_symbol") else None
    coin = own or _first(row, (_COINS.get(name, "asset"), "offer.asset"))
    return None if coin is None else (coin.coin_symbol, coin.atomic_decimals)


def _first(row: Any, paths: Sequence[str]) -> Any:
    """The row's own, or that of what it belongs to."""
    for path in paths:
        try:
            return attrgetter(path)(row)
        except AttributeError:
            continue
    return None


def _fee_coin(row: Any) -> tuple[str, int] | None:
    """Symbol and places of the coin that pays fees."""
    chain = row.chain if hasattr(row, "chain") else row.asset.chain
    if chain is None:
        return None
    coin = fee_asset_of(chain.pk)
    return (coin.coin_symbol, coin.atomic_decimals) if coin is not None else None


def named(row: models.Model) -> str:
    """A record that another points to, by what tells it from its neighbors."""
    if full_name := _first_of(row, ("full_name",)):
        return full_name
    if type(row).__str__ is not models.Model.__str__:
        return str(row)
    columns = ("reference", "number", "name", "mandate_ref", "email", "address", "url")
    return _first_of(row, columns) or str(row.pk)


def record_title(row: models.Model) -> str:
    """Title of a record's page: never a bare number of ours, where it has more."""
    title = _first_of(
        row, ("full_name", "reference", "number", "name", "email", "url", "mandate_ref")
    )
    return title or named(row)


def _first_of(row: models.Model, columns: Sequence[str]) -> str:
    """The first that has a text or a number: a customer's address is a structure."""
    values = (getattr(row, name, None) for name in columns)
    return str(next((value for value in values if value and isinstance(value, str | int)), ""))
