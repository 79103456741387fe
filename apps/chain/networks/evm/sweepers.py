"""The contract that brings tokens from many deposit addresses to a hot wallet in one transaction,
and what an address signs so that it may: once for all of its coins (EIP-7702), or each time for an
amount (EIP-3009).

There is one for each hot wallet, at an address that follows from the wallet's. The source and the
compiler are in contracts/; `sweeper_code.json` is what it compiles to.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from apps.chain.encoding import abi
from apps.chain.encoding.keccak import keccak
from apps.chain.encoding.transactions import Delegation
from apps.chain.keys.secp256k1 import Signs
from apps.chain.networks.evm.forwarders import DEPLOYER
from apps.chain.networks.evm.spelling import PREFIX

# What is at an account that has delegated, before the address that it delegated to.
_DELEGATED = "0xef0100"
_SALT = bytes(32)
_WORD = 32
_AMOUNT_BYTES = 12
_SWEEP = keccak(b"sweep(address,bytes32[])")[:4]
_COLLECT = keccak(b"collect(address,bytes32,bytes32[])")[:4]
# How a call begins that has the signatures of its addresses.
COLLECTS = PREFIX + _COLLECT.hex()


@cache
def _built() -> Mapping[str, Any]:
    built: Mapping[str, Any] = json.loads((Path(__file__).parent / "sweeper_code.json").read_text())
    return built


def _code(wallet: str) -> bytes:
    """Code that makes a wallet's contract."""
    return bytes.fromhex(_built()["sweeper"]) + abi.encode(["address"], [wallet])


@cache
def contract(wallet: str) -> str:
    """The address of a hot wallet's contract, the same on every network."""
    whole = b"\xff" + bytes.fromhex(DEPLOYER[2:]) + _SALT + keccak(_code(wallet))
    return PREFIX + keccak(whole)[-20:].hex()


@cache
def deployed(wallet: str) -> str:
    """The code at its address, in which the wallet's and its own are written."""
    code = bytearray.fromhex(_built()["sweeper_deployed"])
    for address, places in zip((wallet, contract(wallet)), _built()["places"], strict=True):
        for place in places:
            code[place : place + _WORD] = bytes.fromhex(f"{address[2:]:0>64}")
    return PREFIX + code.hex()


def deployment(wallet: str) -> tuple[str, str]:
    """Recipient and data of the transaction that makes the contract, no matter who sends it."""
    return DEPLOYER, PREFIX + (_SALT + _code(wallet)).hex()


def delegated(wallet: str) -> str:
    """The code of an address that has delegated to the wallet's contract."""
    return _DELEGATED + contract(wallet)[2:]


def delegation(wallet: str, chain_id: int, nonce: int, key: Signs) -> Delegation:
    """An address's signed delegation to the wallet's contract, on one network and once."""
    return Delegation.signed(chain_id, contract(wallet), nonce, key)


def fits(amount_atomic: int) -> bool:
    """Tell whether the call can name an amount."""
    return amount_atomic < 1 << 8 * _AMOUNT_BYTES


def collecting(
    token: str,
    number: bytes,
    parts: Sequence[tuple[str, int]],
    signatures: Mapping[str, tuple[int, int, int]],
) -> str:
    """The data of the call that collects these amounts by what their addresses have signed under
    this number; words of zeros where a signature isn't there yet."""
    words = []
    for address, amount in parts:
        parity, r, s = signatures.get(address, (0, 0, 0))
        words += [_word(address, amount), r.to_bytes(_WORD), (parity << 255 | s).to_bytes(_WORD)]
    values = [token, number, words]
    return COLLECTS + abi.encode(["address", "bytes32", "bytes32[]"], values).hex()


def _word(address: str, amount: int) -> bytes:
    return bytes.fromhex(address[2:]) + amount.to_bytes(_AMOUNT_BYTES)


def call(token: str, parts: Sequence[tuple[str, int]]) -> str:
    """The data of the call that brings these amounts from these addresses."""
    words = [_word(address, amount) for address, amount in parts]
    return PREFIX + (_SWEEP + abi.encode(["address", "bytes32[]"], [token, words])).hex()
