"""Addresses of Bitcoin's family: bech32 is stored in lower case, base58 as it is, and of Litecoin's
two spellings of a script's address the newer one.

Nothing is paid to what has no rules yet (witness versions above 1) or hides what it got (MWEB).
"""

import re

from apps.chain.networks.base import AddressProblem
from apps.chain.networks.bitcoin.parameters import NETWORKS, Parameters
from apps.chain.networks.bitcoin.text_forms import (
    WrongChecksum,
    base58,
    read_base58,
    read_segwit,
    segwit,
)

COMPARED = 4
_HASH_BYTES = 20
_TAPROOT_BYTES = 32
# The bytes around the hash of a key, and of a script; and witness version 1.
_KEY_HEAD, _KEY_TAIL = b"\x76\xa9\x14", b"\x88\xac"
_SCRIPT_HEAD, _SCRIPT_TAIL = b"\xa9\x14", b"\x87"
_ONE = 0x51
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PASTED_HASH = re.compile(r"(?<![0-9a-fA-Fx])([0-9a-f]{64})(?![0-9a-f])", re.ASCII)
_BASE58 = re.compile(r"[1-9A-HJ-NP-Za-km-z]{26,35}", re.ASCII)
_LINK = re.compile(r"(bitcoin|litecoin):", re.IGNORECASE)


class BitcoinAddresses:
    """Of one network."""

    nobody = ""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self.beginning = f"{parameters.bech32_prefix}1"
        self.example = segwit(parameters.bech32_prefix, 0, bytes(range(_HASH_BYTES)))

    def read(self, text: str) -> str | None:
        read = self._read(text)
        return None if isinstance(read, AddressProblem) else read

    def problem(self, text: str) -> AddressProblem | None:
        read = self._read(text)
        return read if isinstance(read, AddressProblem) else None

    def spelled(self, text: str) -> str:
        return self.read(text) or ""

    def is_attempt(self, text: str) -> bool:
        prefixes = (f"{self._parameters.bech32_prefix}1", f"{self._parameters.private_prefix}1")
        return text.lower().startswith(prefixes[:1] if prefixes[1] == "1" else prefixes) or bool(
            _BASE58.fullmatch(text) or _LINK.match(text)
        )

    def shown(self, address: str) -> str:
        return address

    def ends(self, address: str) -> tuple[str, str]:
        """Of bech32 after the prefix and the version, which all have."""
        prefix = f"{self._parameters.bech32_prefix}1"
        constant = len(prefix) + 1 if address.startswith(prefix) else 1
        return address[: constant + COMPARED], address[-COMPARED:]

    def is_burn(self, address: str) -> bool:
        """Hashes that are all zeros or all ones nobody has a key for."""
        if self.read(address) != address:
            return True
        program = self._program(address)
        return len(set(program)) == 1 and program[0] in (0x00, 0xFF)

    def hash_of(self, text: str) -> str:
        return text.lower() if _HASH.fullmatch(text.lower()) else ""

    def hash_in(self, text: str) -> str:
        match = _PASTED_HASH.search(text.strip().lower())
        return match[1] if match else ""

    def script_of(self, address: str) -> bytes:
        """The output that pays a stored address."""
        program = self._program(address)
        if self._is_segwit(address):
            _, version, _ = read_segwit(address)
            return bytes([0x50 + version if version else 0, len(program)]) + program
        if read_base58(address)[0] == self._parameters.key_version:
            return _KEY_HEAD + program + _KEY_TAIL
        return _SCRIPT_HEAD + program + _SCRIPT_TAIL

    def of_script(self, script: bytes) -> str:
        """The stored address that an output pays; empty where it has none that we know."""
        own = self._parameters
        if len(script) == 25 and script[:3] == _KEY_HEAD and script[23:] == _KEY_TAIL:
            return base58(bytes([own.key_version]) + script[3:23])
        if len(script) == 23 and script[:2] == _SCRIPT_HEAD and script[22:] == _SCRIPT_TAIL:
            return base58(bytes([own.script_versions[0]]) + script[2:22])
        is_program = len(script) in (22, 34) and script[1] == len(script) - 2
        if is_program and (script[0] == 0 or (script[0] == _ONE and len(script) == 34)):
            return segwit(own.bech32_prefix, 1 if script[0] else 0, script[2:])
        return ""

    def _program(self, address: str) -> bytes:
        return read_segwit(address)[2] if self._is_segwit(address) else read_base58(address)[1:]

    def _is_segwit(self, text: str) -> bool:
        return text.lower().startswith(f"{self._parameters.bech32_prefix}1")

    def _read(self, text: str) -> str | AddressProblem:
        own = self._parameters
        if own.private_prefix and text.lower().startswith(f"{own.private_prefix}1"):
            return AddressProblem.PRIVATE
        try:
            if any(text.lower().startswith(f"{other.bech32_prefix}1") for other in NETWORKS):
                return self._read_segwit(text)
            return self._read_base58(text)
        except WrongChecksum:
            return AddressProblem.CHECKSUM
        except ValueError:
            return AddressProblem.NOT_ONE

    def _read_segwit(self, text: str) -> str | AddressProblem:
        prefix, version, program = read_segwit(text)
        if prefix != self._parameters.bech32_prefix:
            return AddressProblem.OTHER_NETWORK
        if version > 1 or (version == 1 and len(program) != _TAPROOT_BYTES):
            return AddressProblem.UNKNOWN_KIND
        return text.lower()

    def _read_base58(self, text: str) -> str | AddressProblem:
        raw = read_base58(text)
        if len(raw) != 1 + _HASH_BYTES:
            return AddressProblem.NOT_ONE
        own = self._parameters
        if raw[0] == own.key_version:
            return text
        if raw[0] in own.script_versions:
            return base58(bytes([own.script_versions[0]]) + raw[1:])
        others = {
            version for other in NETWORKS for version in (other.key_version, *other.script_versions)
        }
        return AddressProblem.OTHER_NETWORK if raw[0] in others else AddressProblem.NOT_ONE
