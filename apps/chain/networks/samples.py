"""Addresses and hashes that look like those of Ethereum, for the samples of events: nobody has
them."""


def sample_address(digit: str) -> str:
    return f"0x{digit * 40}"


def sample_hash(digit: str) -> str:
    return f"0x{digit * 64}"
