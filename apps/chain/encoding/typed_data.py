"""Digests of structured data that wallets sign (EIP-712). A value is its 32-byte word; texts are
in by their hash."""

from apps.chain.encoding import abi
from apps.chain.encoding.keccak import keccak

_DOMAIN = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
_DOMAIN_WITHOUT_VERSION = "EIP712Domain(string name,uint256 chainId,address verifyingContract)"
_IS_VALID_SIGNATURE = "0x1626ba7e"
# What a contract answers when a signature is its own.
IS_OWN = _IS_VALID_SIGNATURE + "0" * 56


def domain_separator(name: str, version: str | None, chain_id: int, contract: str) -> bytes:
    """Without a version, of a domain that has none."""
    if version is None:
        kinds = ("bytes32", "uint256", "address")
        words = abi.encode(kinds, (text_hash(name), chain_id, contract))
        return struct_hash(_DOMAIN_WITHOUT_VERSION, words)
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


def contract_question(wanted: bytes, signature: bytes) -> str:
    """The call that asks a contract whether a digest's signature is its own (EIP-1271)."""
    return _IS_VALID_SIGNATURE + abi.encode(("bytes32", "bytes"), (wanted, signature)).hex()
