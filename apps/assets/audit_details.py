"""Details of a line of the audit log: names and values in words, amounts in coins, and the values
before and after a change.

The log keeps columns and raw values; nothing here changes them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext, gettext_noop

from apps.assets.models import Asset
from apps.core import money
from apps.core.templatetags.tillgate import percentage, plain_moment
from apps.core.text.durations import duration_text
from apps.core.text.wording import translated
from apps.core.text.words import code_words
from apps.stores.settings import setting_label

# Values that are lists themselves: a list of anything else is what it was before and after.
_LISTS = frozenset({"fields", "redirect_uris", "refunds", "scopes", "sent", "subscribed_events"})
_CODED = frozenset(
    {"account", "frequency", "kind", "outcome", "provider", "purpose", "role", "status", "type"}
)
_CODE = re.compile(r"[a-z0-9_]+")
# What details are called that aren't settings of a store, where their names don't say it.
LABELS = {
    "above_cents": gettext_noop("Above"),
    "active_from": gettext_noop("Active from"),
    "anchor_day": gettext_noop("Day of the month"),
    "asked_by": gettext_noop("Requested by"),
    "asked_by_email": gettext_noop("Email of the requester"),
    "asset_id": gettext_noop("Asset"),
    "cools_until": gettext_noop("Waiting period ends"),
    "crypto_payout_detail_id": gettext_noop("Destination"),
    "daily_atomic": gettext_noop("Maximum per day"),
    "decided_by_email": gettext_noop("Email of who decided"),
    "digest": gettext_noop("Fingerprint"),
    "fiat_payout_detail_id": gettext_noop("Destination"),
    "fields": gettext_noop("Fields"),
    "is_fiat_eligible": gettext_noop("Bank payouts"),
    "is_live": gettext_noop("Live mode"),
    "kind": gettext_noop("Type"),
    "lowest_price_bps": gettext_noop("Lowest price, of its currency"),
    "min_withdrawal_atomic": gettext_noop("Minimum payout"),
    "minimum_fiat_cents": gettext_noop("Minimum payout"),
    "minimum_fiat_currency": gettext_noop("Minimum payout currency"),
    "per_tx_atomic": gettext_noop("Maximum per payout"),
    "platform_store_url": gettext_noop("Shop URL"),
    "sends_anywhere_from": gettext_noop("Sends anywhere from"),
    "stock": gettext_noop("Stock"),
    "sweep_after_days": gettext_noop("Sweep smaller deposits after days"),
    "sweep_cost_bps": gettext_noop("Maximum cost of a sweep"),
    "sweep_minimum_atomic": gettext_noop("Minimum sweep"),
    "target": gettext_noop("Target"),
    "total_cap_atomic": gettext_noop("Total limit"),
    "usable_from": gettext_noop("Usable from"),
    "vat": gettext_noop("VAT"),
    "waits_until": gettext_noop("Waiting period ends"),
    "worth_cents": gettext_noop("Value when created"),
}
_MOMENTS = ("_at", "_from", "_until")
# Columns that name an asset by its ID.
_ASSETS = ("asset", "asset_id")
# How a transfer is kept: atomic units, the asset's ID, the address.
_TRANSFER = re.compile(r"([0-9]+) (\S+) to (0x[0-9a-f]{40})")
_CHANGE_LENGTH = 2

Coins = Mapping[str, Asset]


def all_coins() -> Coins:
    """Every asset by its ID: what any line may be about."""
    return {asset.pk: asset for asset in Asset.objects.select_related("chain")}


def detail_lines(
    details: Mapping[str, Any], coins: Coins | None = None, subject: str = ""
) -> list[tuple[str, str]]:
    """`subject` names what was acted on, which may itself be an asset."""
    texts = DetailTexts(coins or {}, coin_of(details, coins or {}, subject))
    return [(texts.label(name), texts.text(name, value)) for name, value in details.items()]


def coin_of(details: Mapping[str, Any], coins: Coins, subject: str = "") -> Asset | None:
    """The asset that the amounts of a line are of."""
    names = [str(details.get(column)) for column in _ASSETS]
    return next((coins[name] for name in [*names, subject] if name in coins), None)


@dataclass(frozen=True)
class DetailTexts:
    """The values of one line, whose amounts are of this coin."""

    coins: Coins
    coin: Asset | None

    def label(self, name: str) -> str:
        return (
            self.coins[name].full_name
            if name in self.coins
            else LABELS.get(name) or setting_label(name)
        )

    def is_change(self, name: str, value: Sequence[Any]) -> bool:
        """True if a list is what a value was before and after."""
        return len(value) == _CHANGE_LENGTH and (
            name not in _LISTS or any(isinstance(item, list) for item in value)
        )

    def text(self, name: str, value: Any) -> str:
        if not isinstance(value, list):
            return self._single(name, value)
        if self.is_change(name, value):
            return " → ".join(self._listed(name, item) for item in value)
        return self._listed(name, value)

    def _listed(self, name: str, value: Any) -> str:
        """A text, or several side by side."""
        items: Sequence[Any] = value if isinstance(value, list) else [value]
        return ", ".join(self._single(name, item) for item in items) or gettext("None")

    def _single(self, name: str, value: Any) -> str:
        if value in (None, ""):
            return gettext("None")
        if isinstance(value, bool):
            return gettext("Yes") if value else gettext("No")
        try:
            return self._measured(name, value)
        except (InvalidOperation, ValueError):  # what an earlier release wrote otherwise
            return str(value)

    def _measured(self, name: str, value: Any) -> str:
        if name.endswith("_fraction"):
            return percentage(money.percentage_text(Decimal(str(value))))
        if name.endswith("_bps"):
            return percentage(money.percentage_from_bps(int(value)))
        if name.endswith("_cents"):
            return money.text_from_cents(int(value))
        if name.endswith("_atomic"):
            return self._amount(int(value), self.coin)
        if name in self.coins:  # of several coins each has a line
            return self._amount(int(value), self.coins[name])
        if name.endswith("_hours"):
            return duration_text(int(value) * 3_600)
        if name.endswith("_seconds"):
            return duration_text(int(value))
        if name.endswith(_MOMENTS):
            return plain_moment(datetime.fromisoformat(str(value)))
        if name in _ASSETS and value in self.coins:
            return translated(self.coins[value].full_name)
        if transfer := _TRANSFER.fullmatch(str(value)):
            return self._transfer(*transfer.groups())
        text = str(value)
        if name == "roles":  # kept side by side
            return ", ".join(translated(code_words(role)) for role in text.split(", "))
        return translated(code_words(text)) if name in _CODED and _CODE.fullmatch(text) else text

    def _amount(self, atomic: int, coin: Asset | None) -> str:
        if coin is None:
            return gettext("{count} atomic units").format(count=f"{atomic:,}")
        return f"{money.amount_text(atomic, coin.atomic_decimals)} {coin.coin_symbol}"

    def _transfer(self, atomic: str, asset_id: str, address: str) -> str:
        coin = self.coins.get(asset_id)
        amount = self._amount(int(atomic), coin)
        amount = amount if coin else f"{amount} {asset_id}"
        return gettext("{amount} to {address}").format(amount=amount, address=address)
