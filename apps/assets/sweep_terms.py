"""How an asset is swept, as people type it: from which amount on, at what cost, after how many
days."""

from collections.abc import Mapping

from apps.assets.models import SWEEP_BOUNDS, Asset
from apps.core.errors import Failure
from apps.core.money import atomic_from_coins, decimal_from_atomic, percentage_from_bps

# Has the settings say it.
DEFAULT = "default"
# Of each term its column, and the places of its number; None: those of the coin.
TERMS: Mapping[str, tuple[str, int | None]] = {
    "sweep_minimum": ("sweep_minimum_atomic", None),
    "sweep_cost": ("sweep_cost_bps", 2),
    "sweep_after_days": ("sweep_after_days", 0),
}


class NotSweptSo(Failure):
    """Says of which column."""


def columns_of(texts: Mapping[str, str | None], decimals: int) -> dict[str, int | None]:
    """Columns of the terms that are said, of a coin with so many decimals: coins, percent and days
    as digits with a point at most. Raises NotSweptSo."""
    said = {name: text for name in TERMS if (text := texts[name]) is not None}
    columns = {TERMS[name][0]: _value(name, text, decimals) for name, text in said.items()}
    refuse_outside(columns)
    return columns


def refuse_outside(columns: Mapping[str, int | None]) -> None:
    """Raises NotSweptSo of a value beyond what its column takes."""
    for column, value in columns.items():
        least, most, text = SWEEP_BOUNDS[column]
        if value is not None and not least <= value <= most:
            raise NotSweptSo(text)


def minimum_text(asset: Asset) -> str | None:
    """The least amount that is swept, in coins; None where the settings say it."""
    least = asset.sweep_minimum_atomic
    return None if least is None else decimal_from_atomic(least, asset.atomic_decimals)


def cost_text(asset: Asset) -> str | None:
    """The most that a sweep may cost, in percent; None where the settings say it."""
    most = asset.sweep_cost_bps
    return None if most is None else percentage_from_bps(most)


def _value(name: str, text: str, decimals: int) -> int | None:
    if text == DEFAULT:
        return None
    _, places = TERMS[name]
    value = atomic_from_coins(text, decimals if places is None else places)
    if value is None:
        raise NotSweptSo(f"{text[:60]!r} is no number for --{name.replace('_', '-')}")
    return value
