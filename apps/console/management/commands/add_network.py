"""`add_network`: a network of the EVM family that the catalogue doesn't have."""

from typing import Any

from django.core.management.base import CommandParser

from apps.chain.additions import FEE_MODELS, NetworkFacts, add_network
from apps.core.models import Mode
from apps.stores.command import OperatorCommand, Result


class NetworkResult(Result, frozen=True, kw_only=True):
    """The network that was added, and the settings that its nodes are named in."""

    network: str
    name: str
    chain_id: int
    mode: str
    confirmations: int
    settings: str


class Command(OperatorCommand[NetworkResult]):
    help = "Add a network of the EVM family; its coins are added with add_asset"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("network", metavar="ID", help="as settings name it, for example gnosis")
        parser.add_argument("--name", required=True, help="for people, for example Gnosis")
        parser.add_argument("--symbol", required=True, help="short name, for example GNO")
        parser.add_argument("--chain-id", required=True, type=int, metavar="N")
        parser.add_argument("--mode", required=True, choices=Mode.values)
        parser.add_argument("--confirmations", required=True, type=int, metavar="N")
        parser.add_argument(
            "--floor", type=int, metavar="N", help="fewest confirmations ever; a quarter by default"
        )
        parser.add_argument("--block-seconds", required=True, type=float, metavar="N")
        parser.add_argument("--fee-coin", required=True, metavar="COIN", help="for example xDAI")
        parser.add_argument("--fees", default=FEE_MODELS[0], choices=FEE_MODELS)
        parser.add_argument("--explorer", default="", metavar="https://…")
        parser.add_argument(
            "--wallet-url",
            default="",
            metavar="https://…",
            help="public node for customers' wallets that don't have the network yet",
        )

    def run(self, **options: Any) -> NetworkResult:
        confirmations = options["confirmations"]
        floor = options["floor"]
        chain = add_network(
            NetworkFacts(
                id=options["network"],
                name=options["name"],
                symbol=options["symbol"],
                number=options["chain_id"],
                mode=options["mode"],
                confirmations=confirmations,
                confirmations_floor=max(1, confirmations // 4) if floor is None else floor,
                block_seconds=options["block_seconds"],
                fee_symbol=options["fee_coin"],
                fee_model=options["fees"],
                explorer_url=options["explorer"],
                wallet_url=options["wallet_url"],
            )
        )
        return NetworkResult(
            network=chain.pk,
            name=chain.name,
            chain_id=chain.chain_id,
            mode=chain.mode,
            confirmations=chain.required_confirmations,
            settings=f"CHAIN_NETWORKS={chain.pk} CHAIN_{chain.pk.upper()}_URL=…",
        )
