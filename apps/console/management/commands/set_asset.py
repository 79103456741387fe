"""`set_asset`: a token's contract, whether an asset can be used, how it is swept, and how many
blocks its chain must wait."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.assets.models import Asset
from apps.assets.networks import priced_as
from apps.assets.services import (
    FINALITY_RULES,
    SWEEP_TERMS,
    SWEPT_BY_SETTINGS,
    finality_of,
    sweep_columns,
    sweep_cost_text,
    sweep_minimum_text,
)
from apps.chain.activation import change_asset
from apps.core.errors import NotFound
from apps.stores.command import OperatorCommand, Result


class AssetResult(Result, frozen=True, kw_only=True):
    """An asset as it is now. `priced_as` is the coin whose rate it has."""

    asset_id: str
    network: str
    contract: str | None
    priced_as: str
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
            help=f"deposits are swept from this amount on; {SWEPT_BY_SETTINGS}: SWEEP_MINIMUMS",
        )
        parser.add_argument(
            "--sweep-cost",
            metavar="PERCENT",
            help=f"what a sweep may cost of its deposit; {SWEPT_BY_SETTINGS}: SWEEP_COST_PERCENT",
        )
        parser.add_argument(
            "--sweep-after-days",
            metavar="DAYS",
            help=f"smaller deposits are swept after so many days; {SWEPT_BY_SETTINGS}: never",
        )

    def run(self, **options: Any) -> AssetResult:
        names = ("contract", "active", "confirmations", "finality", *SWEEP_TERMS)
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
        return AssetResult(
            asset_id=asset.pk,
            network=asset.chain_id,
            contract=asset.contract_address,
            priced_as=priced_as(asset.coin_symbol),
            active=asset.is_active,
            confirmations=asset.chain.required_confirmations,
            finality=finality_of(asset.chain),
            sweep_minimum=sweep_minimum_text(asset),
            sweep_cost_percent=sweep_cost_text(asset),
            sweep_after_days=asset.sweep_after_days,
        )


def _sweeping(options: Mapping[str, Any]) -> dict[str, int | None]:
    """The columns that are named. Raises NotFound and NotSweptSo."""
    asset = Asset.objects.filter(pk=options["asset"]).first()
    if asset is None:
        raise NotFound("Asset not found")
    return sweep_columns(options, asset.atomic_decimals)
