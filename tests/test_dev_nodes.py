"""The command that starts a local node of a network: with its ID, at its pace, by its rules."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import requests

from apps.chain.networks.catalog import network_in_catalog
from dev import nodes
from dev.ports import free_port
from tests.chain.local import program

pytestmark = pytest.mark.chain


@contextmanager
def node_of(network: str) -> Iterator[str]:
    """The URL that the command prints."""
    if program() is None:
        pytest.skip("anvil isn't installed")
    port = free_port()
    command = [sys.executable, "-m", "dev.nodes", network, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        name, _, url = process.stdout.readline().strip().partition("=")
        assert name == f"CHAIN_{network.upper()}_URL" and url.endswith(f":{port}")
        yield url
    finally:
        process.kill()
        process.communicate()


def ask(url: str, method: str, *params: Any) -> Any:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    deadline = time.monotonic() + 60
    while True:
        try:
            answer = requests.post(url, body, headers={"Content-Type": "application/json"})
            break
        except requests.ConnectionError:
            assert time.monotonic() < deadline, "the node did not start"
            time.sleep(0.05)
    return answer.json()


@pytest.mark.parametrize("network", ["base", "avalanche", "tempo"])
def test_a_command_starts_a_node_that_mines_by_itself(network: str) -> None:
    with node_of(network) as url:
        known = network_in_catalog(network)
        assert known is not None
        assert int(ask(url, "eth_chainId")["result"], 16) == known.number
        deadline = time.monotonic() + 60
        while int(ask(url, "eth_blockNumber")["result"], 16) < 2:
            assert time.monotonic() < deadline, "it mines nothing"
            time.sleep(0.05)


def test_each_has_the_block_time_and_rules_of_its_network() -> None:
    arbitrum, base, tempo = (network_in_catalog(name) for name in ("arbitrum", "base", "tempo"))
    assert arbitrum and base and tempo
    assert nodes.command_of(arbitrum, "anvil", 1)[-2:] == ["--block-time", "0.25"]
    assert nodes.command_of(base, "anvil", 1)[-1] == "--optimism"
    assert nodes.command_of(tempo, "anvil", 1)[-4:] == ["--network", "tempo", "--hardfork", "t4"]
