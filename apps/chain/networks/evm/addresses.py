"""Addresses and hashes of EVM networks: stored as lower-case hex, shown with the checksum of EIP-55
in their capitals."""

import re

from apps.chain.networks.base import AddressProblem
from apps.chain.networks.evm.spelling import FORM, PREFIX, checksummed, is_address

NOBODY = PREFIX + "0" * 40
# As many characters at each end as people compare.
COMPARED = 4
_STORED = re.compile(r"0x[0-9a-f]{40}", re.ASCII)
_HASH = re.compile(r"0x[0-9a-f]{64}", re.ASCII)
_PASTED_HASH = re.compile(r"(?<![0-9a-f])(0x[0-9a-f]{64})(?![0-9a-f])", re.ASCII)
_BARE_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
# Zero, burn addresses and the precompiled contracts: coins sent there are gone.
_LOWEST_ADDRESS = 0x10000
_BURN = {
    "0x000000000000000000000000000000000000dead",
    "0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead",
    "0xdead000000000000000042069420694206942069",
    "0x" + "e" * 40,  # what ether is called where only addresses fit
    "0x" + "f" * 40,
}


class EvmAddresses:
    """Addresses, spelled alike on every network of the family."""

    example = "0x52908400098527886E0F7030069857D2E4169EE7"
    beginning = "0x"
    nobody = NOBODY

    def read(self, text: str) -> str | None:
        return text.lower() if is_address(text) else None

    def problem(self, text: str) -> AddressProblem | None:
        if is_address(text):
            return None
        return AddressProblem.CHECKSUM if FORM.fullmatch(text) else AddressProblem.NOT_ONE

    def spelled(self, text: str) -> str:
        return text.lower() if _STORED.fullmatch(text.lower()) else ""

    def is_attempt(self, text: str) -> bool:
        return text.lower().startswith(PREFIX)

    def shown(self, address: str) -> str:
        return checksummed(address)

    def ends(self, address: str) -> tuple[str, str]:
        return address[: len(PREFIX) + COMPARED], address[-COMPARED:]

    def is_burn(self, address: str) -> bool:
        return (
            not _STORED.fullmatch(address) or int(address, 16) < _LOWEST_ADDRESS or address in _BURN
        )

    def hash_of(self, text: str) -> str:
        return text.lower() if _HASH.fullmatch(text.lower()) else ""

    def hash_in(self, text: str) -> str:
        typed = text.strip().lower()
        if _BARE_HASH.fullmatch(typed):
            return PREFIX + typed
        match = _PASTED_HASH.search(typed)
        return match[1] if match else ""
