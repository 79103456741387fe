"""`check_network`: whether the nodes of a network can do what this service needs."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from apps.assets.models import Chain
from apps.chain.node_checks import Verdict, check_node
from apps.core.errors import NotFound
from apps.stores.command import OperatorCommand, Result


class Ability(Result, frozen=True, kw_only=True):
    ability: str
    verdict: str
    text: str


class NodeChecked(Result, frozen=True, kw_only=True):
    """A node, by its place in the setting: addresses may hold credentials."""

    node: int
    usable: bool
    abilities: list[Ability]


class NetworkChecked(Result, frozen=True, kw_only=True):
    network: str
    chain_id: int
    usable: bool
    nodes: list[NodeChecked]


class Command(OperatorCommand[NetworkChecked]):
    help = "Ask the nodes of a network for all that this service needs of them"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("network", metavar="ID", help="for example base")
        parser.add_argument(
            "--url", metavar="https://…", help="another node than those of CHAIN_<NETWORK>_URL"
        )
        parser.add_argument(
            "--ws-url",
            metavar="wss://…",
            default="",
            help="its websocket, in place of those of CHAIN_<NETWORK>_WS_URL",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if not self.is_usable:
            raise SystemExit(2)

    def run(self, **options: Any) -> NetworkChecked:
        chain = Chain.objects.filter(pk=options["network"]).first()
        if chain is None:
            raise NotFound("Network not found")
        urls = [options["url"]] if options["url"] else settings.CHAIN_URLS.get(chain.pk, [])
        if not urls:
            name = f"CHAIN_{chain.pk.upper()}_URL"
            raise CommandError(f"{chain.name} has no node: set {name}, or give --url")
        given = options["ws_url"]
        sockets = [given] if options["url"] or given else settings.CHAIN_WS_URLS.get(chain.pk, [])
        nodes = [
            _checked(chain, place, url, socket)
            for place, (url, socket) in enumerate(
                zip(urls, [*sockets, *[""] * len(urls)], strict=False), 1
            )
        ]
        self.is_usable = all(node.usable for node in nodes)
        return NetworkChecked(
            network=chain.pk, chain_id=chain.chain_id, usable=self.is_usable, nodes=nodes
        )

    def words(self, result: NetworkChecked) -> str:
        lines = []
        for node in result.nodes:
            lines.append(f"{result.network}, node {node.node}")
            lines += [
                f"  {item.verdict:<8} {item.ability:<18} {item.text}" for item in node.abilities
            ]
            lines.append("  This node can be used" if node.usable else "  This node can't be used")
        return "\n".join(lines)


def _checked(chain: Chain, place: int, url: str, ws_url: str) -> NodeChecked:
    findings = check_node(chain, url, ws_url)
    return NodeChecked(
        node=place,
        usable=all(finding.verdict != Verdict.MISSING for finding in findings),
        abilities=[
            Ability(ability=item.ability, verdict=item.verdict.value, text=item.text)
            for item in findings
        ],
    )
