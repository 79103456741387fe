"""Digests of structured data that wallets sign (EIP-712). A value is its 32-byte word; texts are
in by their hash."""

from apps.chain.encoding import abi
from apps.chain.encoding.keccak import keccak

_DOMAIN = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"


def domain_separator(name: str, version: str, chain_id: int, contract: str) -> bytes:
    words = abi.encode(
        ("bytes32", "bytes32", "uint256", "address"),
        (text_hash(name), text_hash(version), chain_id, contract),
    )
    return struct_hash(_DOMAIN, words)


def struct_hash(kind: str, words: bytes) -> bytes:
    """Of a struct that is written like `Mail(address to,string contents)`, with its members' words
    in that order."""
    return keccak(keccak(kind.encode()) + words)


def text_hash(text: str) -> bytes:
    return keccak(text.encode())


def digest(domain: bytes, struct: bytes) -> bytes:
    """Digest for the signature."""
    return keccak(b"\x19\x01" + domain + struct)
