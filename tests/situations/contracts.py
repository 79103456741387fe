"""Contracts that customers and issuers put on the chain: wallets, routers, and a token whose issuer
has stopped it."""

from collections.abc import Sequence
from typing import Any

from eth_abi.abi import encode

# Sends the coins of the call to the address in the first word.
FORWARDER = "0x5f5f5f5f345f355af100"
# What moves coins of a token: transfer, transferFrom, and transferWithAuthorization in both forms.
MOVES = ("a9059cbb", "23b872dd", "e3ee160e", "cf092995")


def forwarding(to: str) -> str:
    """The call that has a forwarder send its coins there."""
    return "0x" + encode(["address"], [to]).hex()


def wallet_code(owner: str) -> str:
    """A contract wallet: isValidSignature says yes to what its owner's key has signed
    (EIP-1271)."""
    return (
        "0x6004355f5260a4355f1a602052606435604052608435606052602060806080"
        f"5f60015afa5060805173{owner[2:].lower()}14631626ba7e60e01b025f5260205ff3"
    )


def carrying_out(payload: dict[str, Any]) -> str:
    """The call by which anybody submits what an agent has signed (EIP-3009)."""
    signed = payload["authorization"]
    types = ["address", "address", "uint256", "uint256", "uint256", "bytes32", "uint8"]
    types += ["bytes32", "bytes32"]
    signature = bytes.fromhex(payload["signature"][2:])
    values = [
        signed["from"],
        signed["to"],
        int(signed["value"]),
        int(signed["validAfter"]),
        int(signed["validBefore"]),
        bytes.fromhex(signed["nonce"][2:]),
        signature[64],
        signature[:32],
        signature[32:64],
    ]
    return "0xe3ee160e" + encode(types, values).hex()


class _Code:
    """Bytes with jumps to names."""

    def __init__(self) -> None:
        self._parts: list[bytes | str] = []

    def add(self, code: str) -> None:
        self._parts.append(bytes.fromhex(code))

    def jump(self, name: str, *, only_if: bool = False) -> None:
        self._parts.append(name)
        self.add("57" if only_if else "56")

    def here(self, name: str) -> None:
        self._parts.append(f"@{name}")

    def hex(self) -> str:
        places: dict[str, int] = {}
        size = 0
        for part in self._parts:
            if isinstance(part, str) and part.startswith("@"):
                places[part[1:]] = size
                size += 1
            else:
                size += 3 if isinstance(part, str) else len(part)
        whole = b""
        for part in self._parts:
            if isinstance(part, bytes):
                whole += part
            elif part.startswith("@"):
                whole += b"\x5b"
            else:
                whole += b"\x61" + places[part].to_bytes(2)
        return "0x" + whole.hex()


def stopped_token(
    implementation: str, frozen: Sequence[str] = (), *, is_lying: bool = False
) -> str:
    """A token that works by the code of the implementation, and reverts what moves coins: of the
    frozen holders, or of everybody. One that is lying says instead that it has moved them."""
    code = _Code()
    for selector in MOVES:
        code.add(f"63{selector}5f3560e01c14")
        code.jump("moves", only_if=True)
    code.jump("goes on")
    code.here("moves")
    for holder in frozen:
        word = f"73{holder[2:].lower()}"
        code.add(f"33{word}14")
        code.jump("refused", only_if=True)
        for argument in ("04", "24"):
            code.add(f"60{argument}35{word}14")
            code.jump("refused", only_if=True)
    if not frozen:
        code.jump("refused")
    code.here("goes on")
    code.add("365f5f375f5f365f73" + implementation[2:].lower() + "5af43d5f5f3e")
    code.jump("done", only_if=True)
    code.add("3d5ffd")
    code.here("done")
    code.add("3d5ff3")
    code.here("refused")
    code.add("60015f5260205ff3" if is_lying else "5f5ffd")
    return code.hex()
