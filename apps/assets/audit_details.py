"""What a line of the audit log says beside who and what: names and values in words, amounts in
coins, and what a change was from and to.

The log keeps columns and raw values; nothing here changes them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.assets.models import Asset
from apps.core import money
from apps.core.durations import duration_text
from apps.core.templatetags.tillgate import percentage, plain_moment
from apps.core.words import code_words
from apps.stores.settings import setting_label

# Values that are lists themselves: a list of anything else is what it was before and after.
_LISTS = frozenset({"fields", "redirect_uris", "refunds", "scopes", "sent", "subscribed_events"})
_CODED = frozenset(
    {"account", "frequency", "kind", "outcome", "provider", "purpose", "role", "status", "type"}
)
_CODE = re.compile(r"[a-z0-9_]+")
# What details are called that aren't settings of a store, where their names don't say it.
_LABELS = {
    "anchor_day": "Day of the month",
    "asked_by": "Requested by",
    "asked_by_email": "Email of the requester",
    "asset_id": "Asset",
    "crypto_payout_detail_id": "Destination",
    "daily_atomic": "Maximum per day",
    "decided_by_email": "Email of who decided",
    "digest": "Fingerprint",
    "fiat_payout_detail_id": "Destination",
    "is_fiat_eligible": "Bank payouts",
    "is_live": "Live mode",
    "kind": "Type",
    "min_withdrawal_atomic": "Minimum payout",
    "minimum_fiat_cents": "Minimum payout",
    "minimum_fiat_currency": "Minimum payout currency",
    "per_tx_atomic": "Maximum per payout",
    "platform_store_url": "Shop URL",
    "total_cap_atomic": "Total limit",
    "waits_until": "Waiting period ends",
    "worth_cents": "Value when created",
}
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
            else _LABELS.get(name) or setting_label(name)
        )

    def is_change(self, name: str, value: Sequence[Any]) -> bool:
        """Whether a list is what a value was before and after."""
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
        return ", ".join(self._single(name, item) for item in items) or "None"

    def _single(self, name: str, value: Any) -> str:
        if value in (None, ""):
            return "None"
        if isinstance(value, bool):
            return "Yes" if value else "No"
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
        if name.endswith("_at"):
            return plain_moment(datetime.fromisoformat(str(value)))
        if name in _ASSETS and value in self.coins:
            return self.coins[value].full_name
        if transfer := _TRANSFER.fullmatch(str(value)):
            return self._transfer(*transfer.groups())
        text = str(value)
        if name == "roles":  # kept side by side
            return ", ".join(code_words(role) for role in text.split(", "))
        return code_words(text) if name in _CODED and _CODE.fullmatch(text) else text

    def _amount(self, atomic: int, coin: Asset | None) -> str:
        if coin is None:
            return f"{atomic:,} atomic units"
        return f"{money.amount_text(atomic, coin.atomic_decimals)} {coin.coin_symbol}"

    def _transfer(self, atomic: str, asset_id: str, address: str) -> str:
        coin = self.coins.get(asset_id)
        amount = self._amount(int(atomic), coin)
        return f"{amount} to {address}" if coin else f"{amount} of {asset_id} to {address}"
