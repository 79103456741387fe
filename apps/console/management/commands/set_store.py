"""`set_store`: what staff decide about a store, as key=value."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.console.command import OperatorCommand, store_named
from apps.core import clock
from apps.stores.models import Currency
from apps.stores.services import change_store

_FRACTION = re.compile(r"0(\.[0-9]{1,8})?", re.ASCII)


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise CommandError(f"{text!r} is not true or false")
    return text == "true"


def _basis_points(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 10_000:
        raise CommandError(f"{text!r} is not a number of basis points (0 to 10000)")
    return int(text)


def _fraction(text: str) -> Decimal:
    if not _FRACTION.fullmatch(text):
        raise CommandError(f"{text!r} is not a decimal fraction below 1 with at most 8 places")
    return Decimal(text)


def _currency(text: str) -> str:
    if text not in Currency.values:
        raise CommandError(f"Unsupported settlement currency: {text}")
    return text


# key -> (column, how its text is read)
SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "accept_overpayments": ("accept_overpayments", _boolean),
    "accept_underpayments": ("accept_underpayments", _boolean),
    "underpayment_tolerance_bps": ("underpayment_tolerance_bps", _basis_points),
    "overpayment_tolerance_bps": ("overpayment_tolerance_bps", _basis_points),
    "customer_pays_fee": ("customer_pays_fee", _boolean),
    "fee_percentage": ("fee_fraction", _fraction),
    "settlement_currency": ("settlement_currency", _currency),
    "kyc": ("kyc_confirmed_at", lambda text: clock.real_now() if _boolean(text) else None),
}


class Command(OperatorCommand):
    help = "Set what staff decide about a store: " + ", ".join(SETTINGS)

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--store", required=True)
        parser.add_argument("pairs", nargs="+", metavar="key=value")

    def run(self, **options: Any) -> dict[str, Any]:
        store, changes = store_named(options["store"]), {}
        for pair in options["pairs"]:
            key, separator, text = pair.partition("=")
            if not separator or key not in SETTINGS:
                raise CommandError(f"Unknown setting {key!r}; known are {', '.join(SETTINGS)}")
            column, read = SETTINGS[key]
            changes[column] = read(text)
        change_store(store, **changes)
        return {"store": {"id": str(store.pk), "name": store.name}, "changed": sorted(pair.partition("=")[0] for pair in options["pairs"])}
