"""Permit2 on a local chain: the code of Ethereum's own contract at its own address.

Two values of the chain are in the code, its ID and the domain's separator, and are put in as
Preinstalls.sol of Optimism does. tokens/permit2.js says where the code is from.
"""

import json
from pathlib import Path

from apps.chain.sending.permits import PERMIT2, separator
from apps.core import local_chain

ARTIFACT = Path(__file__).parent / "tokens" / "Permit2.json"
_CHAIN_ID_AT, _SEPARATOR_AT = 6945, 6983


def code(chain_id: int) -> str:
    """Code of the contract on the chain with this ID."""
    made = bytearray.fromhex(json.loads(ARTIFACT.read_text())["Permit2TemplateCode"])
    made[_CHAIN_ID_AT : _CHAIN_ID_AT + 32] = chain_id.to_bytes(32)
    made[_SEPARATOR_AT : _SEPARATOR_AT + 32] = separator(chain_id)
    return f"0x{made.hex()}"


def place(url: str) -> None:
    chain_id = int(local_chain.call(url, "eth_chainId"), 16)
    local_chain.call(url, "anvil_setCode", PERMIT2, code(chain_id))
