"""A local node of a network of the catalog, with its ID, its block time and its rules, until it is
ended:

    .venv/bin/python -m dev.nodes tempo
    CHAIN_TEMPO_URL=http://127.0.0.1:8545
"""

import argparse
import os
import sys
from collections.abc import Sequence

from apps.chain.networks.catalog import NETWORKS, CatalogNetwork
from dev.anvil import anvil_program

PORT = 8545
# What anvil is told besides ID and block time. The rules of Avalanche know no delegations
# (EIP-7702), and those of Tempo have virtual addresses since T3.
_CANCUN = ("--hardfork", "cancun")
_TEMPO = ("--network", "tempo", "--hardfork", "t4")
_RULES = {
    "avalanche": _CANCUN,
    "avalanche_fuji": _CANCUN,
    "tempo": _TEMPO,
    "tempo_moderato": _TEMPO,
}


def rules_of(network: CatalogNetwork) -> Sequence[str]:
    """Options by which anvil has the rules of a network."""
    if network.fee_model == "op_stack":
        return ("--optimism",)
    return _RULES.get(network.id, ())


def command_of(network: CatalogNetwork, program: str, port: int = PORT) -> list[str]:
    """The command of a node that mines as the network does."""
    seconds = network.block_milliseconds / 1000
    place = ["--port", str(port), "--chain-id", str(network.number)]
    return [program, *place, "--block-time", f"{seconds:g}", *rules_of(network)]


def main() -> None:
    networks = {network.id: network for network in NETWORKS if network.family == "evm"}
    parser = argparse.ArgumentParser(prog="python -m dev.nodes", description=__doc__)
    parser.add_argument("network", choices=sorted(networks))
    parser.add_argument("--port", type=int, default=PORT)
    options = parser.parse_args()
    program = anvil_program()
    if program is None:
        sys.exit("anvil isn't installed: scripts/setup brings it, or TILLGATE_ANVIL names it")
    url = f"http://127.0.0.1:{options.port}"
    print(f"CHAIN_{options.network.upper()}_URL={url}", flush=True)
    command = command_of(networks[options.network], program, options.port)
    os.execv(program, command)


if __name__ == "__main__":
    main()
