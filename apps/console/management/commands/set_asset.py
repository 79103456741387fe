"""`set_asset`: a token's contract, whether an asset can be used, and how many blocks its chain must
wait."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.assets.services import FINALITY_RULES, finality_of
from apps.chain.activation import change_asset
from apps.stores.command import OperatorCommand, Result


class AssetResult(Result, frozen=True, kw_only=True):
    """An asset as it is now."""

    asset_id: str
    network: str
    contract: str | None
    active: bool
    confirmations: int
    finality: str


class Command(OperatorCommand[AssetResult]):
    help = (
        "Change an asset: its token contract, whether it is active, the confirmations of its chain"
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

    def run(self, **options: Any) -> AssetResult:
        names = ("contract", "active", "confirmations", "finality")
        if all(options[name] is None for name in names):
            *first, last = (f"--{name}" for name in names)
            raise CommandError(f"Nothing to change: give {', '.join(first)} or {last}")
        asset = change_asset(
            options["asset"],
            contract_address=options["contract"],
            is_active=None if options["active"] is None else options["active"] == "true",
            required_confirmations=options["confirmations"],
            finality=options["finality"],
        )
        return AssetResult(
            asset_id=asset.pk,
            network=asset.chain_id,
            contract=asset.contract_address,
            active=asset.is_active,
            confirmations=asset.chain.required_confirmations,
            finality=finality_of(asset.chain),
        )
