"""Forwarders: contracts that pass on what they hold to one fixed address, at addresses that are
known before they are made (CREATE2).

The source and the compiler are in contracts/; `forwarder_code.json` is what it compiles to.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from apps.chain.encoding import abi
from apps.chain.encoding.keccak import keccak
from apps.chain.networks.evm.addresses import NOBODY
from apps.chain.networks.evm.spelling import PREFIX

# A contract without an owner that many networks have at this address: it makes what it is sent.
DEPLOYER = "0x4e59b44847b379578588920ca78fbf26c0b4956c"
FLUSH_MAX = 100
_SALT = bytes(32)


@cache
def _code(name: str) -> bytes:
    built = json.loads((Path(__file__).parent / "forwarder_code.json").read_text())
    return bytes.fromhex(built[name])


@cache
def factory() -> str:
    """The address of the factory, the same on every network."""
    return _created(DEPLOYER, _SALT, _code("factory"))


def factory_deployed() -> str:
    """The code that is at its address."""
    return PREFIX + _code("factory_deployed").hex()


def factory_deployment() -> tuple[str, str]:
    """Recipient and data of the transaction that makes the factory, no matter who sends it."""
    return DEPLOYER, PREFIX + (_SALT + _code("factory")).hex()


def address(destination: str, index: int) -> str:
    """The forwarder's, as it is stored."""
    code = _code("forwarder") + abi.encode(["address"], [destination])
    return _created(factory(), salt(index), code)


def salt(index: int) -> bytes:
    return index.to_bytes(32)


def flush_call(destination: str, indexes: Sequence[int], contract: str) -> tuple[str, str]:
    """Recipient and data of the transaction that makes and flushes forwarders; `contract` is empty
    for the network's own coin. Anybody may send it."""
    selector = keccak(b"flush(address,bytes32[],address)")[:4]
    arguments = abi.encode(
        ["address", "bytes32[]", "address"],
        [destination, [salt(index) for index in indexes], contract or NOBODY],
    )
    return factory(), PREFIX + (selector + arguments).hex()


def _created(maker: str, chosen: bytes, code: bytes) -> str:
    whole = b"\xff" + bytes.fromhex(maker[2:]) + chosen + keccak(code)
    return PREFIX + keccak(whole)[-20:].hex()
