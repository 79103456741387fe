"""JSON-RPC to an EVM chain on this machine, for the embedded chains and the demo's own transactions. Never through a proxy."""

import json
import urllib.request
from typing import Any

TIMEOUT_SECONDS = 10.0
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ChainRefused(RuntimeError):
    """The chain answered with an error."""


def call(url: str, method: str, *params: Any, timeout: float = TIMEOUT_SECONDS) -> Any:
    """The result of one call. Raises OSError when the chain can't be reached, ChainRefused when it answers with an error."""
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
