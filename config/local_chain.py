"""The EVM chains of this machine: their program, and JSON-RPC to them. Never through a proxy."""

import json
import os
import shutil
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 10.0
# No network that anybody else is on: a wallet that was handed an address of it can't send what is
# worth something.
LOCAL_CHAIN_ID = 31337
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ChainRefused(RuntimeError):
    """The chain answered with an error."""


def call(url: str, method: str, *params: Any, timeout: float = TIMEOUT_SECONDS) -> Any:
    """The result of one call. Raises OSError when the chain can't be reached, ChainRefused when it
    answers with an error."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with _opener.open(request, timeout=timeout) as answer:
        document = json.load(answer)
    if "error" in document:
        raise ChainRefused(f"{method}: {document['error'].get('message')}")
    return document["result"]


def is_chain(url: str, chain_id: int) -> bool:
    """Whether a chain with this id answers at the address."""
    try:
        return int(call(url, "eth_chainId", timeout=2), 16) == chain_id
    except (OSError, ValueError, KeyError, RuntimeError):
        return False


def anvil_program() -> str | None:
    """The chain's program: what TILLGATE_ANVIL names, what the set-up brought, or what the machine
    has."""
    named = os.environ.get("TILLGATE_ANVIL")
    brought = next(
        iter(sorted(ROOT.glob(".tools/node_modules/@foundry-rs/anvil-*/bin/anvil"))), None
    )
    return named or (str(brought) if brought else shutil.which("anvil"))


def exchange_bytecode(name: str) -> str | None:
    """The code of one of the exchange's contracts, as the set-up brought it; None when it did
    not."""
    found = next(
        iter(ROOT.glob(f".tools/exchange/node_modules/@uniswap/*/build/{name}.json")), None
    )
    return (
        None
        if found is None
        else "0x" + str(json.loads(found.read_text())["bytecode"]).removeprefix("0x")
    )
