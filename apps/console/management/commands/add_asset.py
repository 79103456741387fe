"""`add_asset`: a coin of a network that the catalogue doesn't have."""

from typing import Any

from django.core.management.base import CommandParser

from apps.assets.services import sweep_cost_text, sweep_minimum_text
from apps.chain.additions import AssetFacts, add_asset
from apps.stores.command import OperatorCommand, Result


class AddedAsset(Result, frozen=True, kw_only=True):
    """The asset that was added. `compared` says whether a node has confirmed contract and
    decimals; how it is swept is None where the settings say it."""

    asset_id: str
    network: str
    coin: str
    contract: str | None
    decimals: int
    compared: bool
    active: bool
    sweep_minimum: str | None
    sweep_cost_percent: str | None
    sweep_after_days: int | None


class Command(OperatorCommand[AddedAsset]):
    help = "Add a token, or a network's own coin; it is activated with set_asset"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("asset", metavar="ID", help="for example GNO_USDC")
        parser.add_argument("--network", required=True, metavar="ID", help="for example gnosis")
        parser.add_argument("--coin", required=True, help="as it is priced, for example USDC")
        parser.add_argument("--name", required=True, help="for people, for example USD Coin")
        parser.add_argument(
            "--contract", default="", metavar="ADDRESS", help="left out for the network's own coin"
        )
        parser.add_argument("--decimals", required=True, type=int, metavar="N")
        parser.add_argument("--minimum", default="1", metavar="COINS", help="smallest payout")
        parser.add_argument("--eip712-name", default="", help="for payments that are only signed")
        parser.add_argument("--eip712-version", default="")
        parser.add_argument(
            "--banks", action="store_true", help="payouts to bank accounts are made from it"
        )
        parser.add_argument(
            "--pays-fees", action="store_true", help="the network takes its fees in this token"
        )
        parser.add_argument(
            "--sweep-minimum",
            default="",
            metavar="COINS",
            help="deposits are swept from this amount on; left out: SWEEP_MINIMUMS",
        )
        parser.add_argument(
            "--sweep-cost",
            default="",
            metavar="PERCENT",
            help="what a sweep may cost of its deposit; left out: SWEEP_COST_PERCENT",
        )
        parser.add_argument(
            "--sweep-after-days",
            default="",
            metavar="DAYS",
            help="smaller deposits are swept after so many days; left out: never",
        )

    def run(self, **options: Any) -> AddedAsset:
        asset, is_compared = add_asset(
            AssetFacts(
                id=options["asset"],
                network=options["network"],
                symbol=options["coin"],
                name=options["name"],
                decimals=options["decimals"],
                minimum=options["minimum"],
                contract=options["contract"],
                eip712_name=options["eip712_name"],
                eip712_version=options["eip712_version"],
                pays_banks=options["banks"],
                pays_fees=options["pays_fees"],
                sweep_minimum=options["sweep_minimum"],
                sweep_cost=options["sweep_cost"],
                sweep_after_days=options["sweep_after_days"],
            )
        )
        return AddedAsset(
            asset_id=asset.pk,
            network=asset.chain_id,
            coin=asset.coin_symbol,
            contract=asset.contract_address,
            decimals=asset.atomic_decimals,
            compared=is_compared,
            active=asset.is_active,
            sweep_minimum=sweep_minimum_text(asset),
            sweep_cost_percent=sweep_cost_text(asset),
            sweep_after_days=asset.sweep_after_days,
        )
