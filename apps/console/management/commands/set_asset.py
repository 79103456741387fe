"""`set_asset`: a token's contract, whether an asset can be used, how it is swept, and how many
blocks its chain must wait."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.assets.models import Asset
from apps.assets.services import FINALITY_RULES, finality_of
from apps.chain.activation import change_asset
from apps.core.errors import NotFound
from apps.core.money import atomic_from_coins, decimal_from_atomic, percentage_from_bps
from apps.stores.command import OperatorCommand, Result

# Has the settings say how an asset is swept.
DEFAULT = "default"
# Of each option its column, and the places of its number; None: those of the coin.
_SWEEPING: dict[str, tuple[str, int | None]] = {
    "sweep_minimum": ("sweep_minimum_atomic", None),
    "sweep_cost": ("sweep_cost_bps", 2),
    "sweep_after_days": ("sweep_after_days", 0),
}


class AssetResult(Result, frozen=True, kw_only=True):
    """An asset as it is now."""

    asset_id: str
    network: str
    contract: str | None
    active: bool
    confirmations: int
    finality: str
    sweep_minimum: str | None
    sweep_cost_percent: str | None
    sweep_after_days: int | None


class Command(OperatorCommand[AssetResult]):
    help = (
        "Change an asset: its token contract, whether it is active, how it is swept, the"
        " confirmations of its chain"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", metavar="ASSET", help="for example ETH_USDC")
        parser.add_argument("--contract", metavar="ADDRESS")
        parser.add_argument("--active", choices=["true", "false"])
        parser.add_argument(
            "--confirmations", type=int, metavar="N", help="applies to every asset of the chain"
        )

        parser.add_argument(
            "--finality", choices=list(FINALITY_RULES), help="when blocks of the chain count"
        )
        parser.add_argument(
            "--sweep-minimum",
            metavar="COINS",
            help=f"deposits are swept from this amount on; {DEFAULT}: SWEEP_MINIMUMS",
        )
        parser.add_argument(
            "--sweep-cost",
            metavar="PERCENT",
            help=f"what a sweep may cost of its deposit; {DEFAULT}: SWEEP_COST_PERCENT",
        )
        parser.add_argument(
            "--sweep-after-days",
            metavar="DAYS",
            help=f"smaller deposits are swept after so many days; {DEFAULT}: never",
        )

    def run(self, **options: Any) -> AssetResult:
        names = ("contract", "active", "confirmations", "finality", *_SWEEPING)
        if all(options[name] is None for name in names):
            *first, last = (f"--{name.replace('_', '-')}" for name in names)
            raise CommandError(f"Nothing to change: give {', '.join(first)} or {last}")
        asset = change_asset(
            options["asset"],
            contract_address=options["contract"],
            is_active=None if options["active"] is None else options["active"] == "true",
            required_confirmations=options["confirmations"],
            finality=options["finality"],
            sweeping=_sweeping(options),
        )
        minimum, cost = asset.sweep_minimum_atomic, asset.sweep_cost_bps
        return AssetResult(
            asset_id=asset.pk,
            network=asset.chain_id,
            contract=asset.contract_address,
            active=asset.is_active,
            confirmations=asset.chain.required_confirmations,
            finality=finality_of(asset.chain),
            sweep_minimum=None
            if minimum is None
            else decimal_from_atomic(minimum, asset.atomic_decimals),
            sweep_cost_percent=None if cost is None else percentage_from_bps(cost),
            sweep_after_days=asset.sweep_after_days,
        )


def _sweeping(options: Mapping[str, Any]) -> dict[str, int | None]:
    """The columns that are named. Raises NotFound and CommandError."""
    asset = Asset.objects.filter(pk=options["asset"]).first()
    if asset is None:
        raise NotFound("Asset not found")
    changes: dict[str, int | None] = {}
    for name, (column, places) in _SWEEPING.items():
        text = options[name]
        if text is None:
            continue
        value = None
        if text != DEFAULT:
            value = atomic_from_coins(text, asset.atomic_decimals if places is None else places)
            if value is None:
                raise CommandError(f"{text!r} is no number for --{name.replace('_', '-')}")
        changes[column] = value
    return changes
