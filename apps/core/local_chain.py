"""The chains that this machine runs in place of real networks: their ids, and JSON-RPC to those of
the EVM. Never through a proxy."""

import json
import os
import urllib.request
from typing import Any

# Which of these nodes are this machine's own: said by the program that started them.
NAMES_VARIABLE = "TILLGATE_LOCAL_CHAINS"
TIMEOUT_SECONDS = 10.0
# No network that anybody else is on: a wallet that was handed an address of it can't send what is
# worth something.
LOCAL_CHAIN_ID = 31337
# Of Litecoin's regtest: the end of its first block's hash.
LOCAL_LITECOIN_ID = 0x51FC56C416F9
LOCAL_CHAIN_IDS = frozenset({LOCAL_CHAIN_ID, LOCAL_LITECOIN_ID})
ETHEREUM = "CHAIN_ETHEREUM_URL"
SEPOLIA = "CHAIN_SEPOLIA_URL"
LITECOIN = "CHAIN_LITECOIN_URL"
CHAIN_IDS = {ETHEREUM: LOCAL_CHAIN_ID, SEPOLIA: 11155111, LITECOIN: LOCAL_LITECOIN_ID}
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
    """True if a chain with this id answers at the address."""
    try:
        return int(call(url, "eth_chainId", timeout=2), 16) == chain_id
    except (OSError, ValueError, KeyError, RuntimeError):
        return False


def local_chains() -> list[str]:
    """The chains whose node is this machine's own."""
    return [name for name in os.environ.get(NAMES_VARIABLE, "").split(",") if name]
