"""Wallets of others, by what shows their addresses: an extended public key of an account, or an
output descriptor with its checksum (BIP-32, 44, 49, 84, 86, 380).

What could spend is refused, and no error, log or attribute holds any of it.
"""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from coincurve import PublicKey
from Crypto.Hash import RIPEMD160
from django.utils.translation import gettext_noop

from apps.chain.keys import bip32, bip39
from apps.chain.networks.bitcoin.parameters import (
    NETWORKS,
    PRIVATE_VERSIONS,
    Parameters,
    ScriptKind,
)
from apps.chain.networks.bitcoin.text_forms import WrongChecksum, base58, read_base58, segwit

RECEIVING, CHANGE = 0, 1
TEXT_MAX = 1000
_ACCOUNT_DEPTH = 3
# Of the account of a wallet with a recovery phrase of Electrum's own, m/0' (decision 925).
_ELECTRUM_PLACE = (1, bip32.HARDENED)
_KEY_BYTES = 78
_VERSION_BYTES = 4
# Of one private key as text: Bitcoin, Litecoin, and their test networks.
_SECRET_VERSIONS = (0x80, 0xB0, 0xEF)
_SECRET_BYTES = (33, 34)
_CHECKED = re.compile(r"(?P<body>[^#]+)#(?P<check>[a-z0-9]{8})", re.ASCII)
_DESCRIPTOR = re.compile(
    r"(?P<kind>pkh|wpkh|tr|sh\(wpkh)\((?:\[[0-9a-f]{8}(?:/[0-9]+['h]?)*\])?"
    r"(?P<key>[1-9A-HJ-NP-Za-km-z]+)(?:/(?:0|<0;1>)/\*)\)\)?",
    re.ASCII,
)
_KINDS = {
    "pkh": ScriptKind.PKH,
    "wpkh": ScriptKind.WPKH,
    "tr": ScriptKind.TR,
    "sh(wpkh": ScriptKind.NESTED,
}
_LETTERS = (
    "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyz"
    'ABCDEFGH`#"\\ '
)
_CHECK_LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0xF5DEE51989, 0xA9FDCA3312, 0x1BAB10E32D, 0x3706B1677A, 0x644D626FFD)


class AccountProblem(StrEnum):
    """Fault of a pasted account, in words for people."""

    PRIVATE = gettext_noop(
        "This is a private key or a recovery phrase: whoever has it can spend your coins. It was"
        " not saved. Treat it as exposed and move your coins to a new wallet. Paste the extended"
        " public key instead"
    )
    NOT_ONE = gettext_noop("This is neither an extended public key nor an output descriptor")
    CHECKSUM = gettext_noop("A character is wrong. Copy it again from your wallet")
    NO_CHECKSUM = gettext_noop(
        "This descriptor has no checksum. Copy it from your wallet with its # and 8 characters"
    )
    OTHER_NETWORK = gettext_noop("This key belongs to another network")
    WRONG_DEPTH = gettext_noop(
        "This is not the key of an account. Export the account’s extended public key"
    )
    OTHER_KIND = gettext_noop(
        "Descriptors of this kind are not supported: use pkh, sh(wpkh), wpkh or tr"
    )
    KIND_UNKNOWN = gettext_noop(
        "This key does not say which addresses your wallet makes. Choose their kind"
    )


class UnusableKey(Exception):
    """Holds what is wrong, and nothing of what was pasted."""

    def __init__(self, problem: AccountProblem) -> None:
        self.problem = problem
        super().__init__(problem.name)


@dataclass(frozen=True)
class Account:
    """An account's public key and the outputs that its wallet makes of it."""

    parameters: Parameters
    kind: ScriptKind
    key: bip32.Public

    def address(self, index: int, branch: int = RECEIVING) -> str:
        """As it is stored. Raises ValueError for the indexes (one in 2^127) that have no key."""
        key = self.key.child(branch).child(index).key
        if self.kind is ScriptKind.TR:
            return segwit(self.parameters.bech32_prefix, 1, _tweaked(key))
        if self.kind is ScriptKind.WPKH:
            return key_address(self.parameters, key)
        hashed = hash160(key.format())
        if self.kind is ScriptKind.NESTED:
            script = hash160(b"\0\x14" + hashed)
            return base58(bytes([self.parameters.script_versions[0]]) + script)
        return base58(bytes([self.parameters.key_version]) + hashed)


@dataclass(frozen=True)
class Branch:
    """One branch of a held account, whose outputs are BIP-84's."""

    parameters: Parameters
    key: bip32.Public

    def address(self, index: int) -> str:
        """As it is stored. Raises ValueError for the indexes (one in 2^127) that have no key."""
        return key_address(self.parameters, self.key.child(index).key)


def key_address(parameters: Parameters, key: PublicKey) -> str:
    """The address of one key, BIP-84's, as it is stored."""
    return segwit(parameters.bech32_prefix, 0, hash160(key.format()))


def read_account(text: str, parameters: Parameters, kind: ScriptKind | None = None) -> Account:
    """Account that somebody has pasted; `kind` is their choice for a key that doesn't say it.
    Raises UnusableKey."""
    typed = text.strip()
    if len(typed) > TEXT_MAX:
        raise UnusableKey(AccountProblem.NOT_ONE)
    if is_secret(typed):
        raise UnusableKey(AccountProblem.PRIVATE)
    if "(" not in typed:
        key, told = _key_in(typed, parameters)
        chosen = told or kind
        if chosen is None:
            raise UnusableKey(AccountProblem.KIND_UNKNOWN)
        return Account(parameters, chosen, key)
    if "#" not in typed:
        raise UnusableKey(AccountProblem.NO_CHECKSUM)
    checked = _CHECKED.fullmatch(typed)
    if checked is None or checksum_of(checked["body"]) != checked["check"]:
        raise UnusableKey(AccountProblem.CHECKSUM)
    read = _DESCRIPTOR.fullmatch(checked["body"])
    if read is None or checked["body"].count("(") != checked["body"].count(")"):
        raise UnusableKey(AccountProblem.OTHER_KIND)
    key, told = _key_in(read["key"], parameters)
    if told is not None:  # in a descriptor a key is an xpub, and the text around it says the rest
        raise UnusableKey(AccountProblem.OTHER_KIND)
    return Account(parameters, _KINDS[read["kind"]], key)


def is_secret(text: str) -> bool:
    """Tell whether a text is, or holds, what could spend: an extended private key, one private key,
    or a recovery phrase."""
    if bip39.looks_like_mnemonic(text):
        return True
    # As it is, and without the line breaks of a copy.
    for part in re.findall(r"[1-9A-HJ-NP-Za-km-z]{50,}", f"{text}|{''.join(text.split())}"):
        if part[1:4] in ("prv", "tpv"):  # also with a wrong character
            return True
        try:
            raw = read_base58(part)
        except ValueError:
            continue
        if raw[:_VERSION_BYTES] in PRIVATE_VERSIONS:
            return True
        if len(raw) in _SECRET_BYTES and raw[0] in _SECRET_VERSIONS:
            return True
    return False


def shows_addresses(text: str) -> bool:
    """Tell whether a text is an extended public key or a descriptor, whatever is wrong with it."""
    if re.match(r"(pkh|wpkh|sh|wsh|tr|combo|multi)\(", text):
        return True
    try:
        raw = read_base58(text) if len(text) <= TEXT_MAX else b""
    except ValueError:
        return False
    return any(raw[:_VERSION_BYTES] in each.public_versions for each in NETWORKS)


def checksum_of(descriptor: str) -> str:
    """The eight letters behind the # of a descriptor (BIP-380). Raises UnusableKey for a letter
    that no descriptor has."""
    check = 1
    group = count = 0
    for letter in descriptor:
        place = _LETTERS.find(letter)
        if place < 0:
            raise UnusableKey(AccountProblem.CHECKSUM)
        check = _step(check, place & 31)
        group = group * 3 + (place >> 5)
        count += 1
        if count == 3:
            check = _step(check, group)
            group = count = 0
    if count:
        check = _step(check, group)
    for _ in range(8):
        check = _step(check, 0)
    check ^= 1
    return "".join(_CHECK_LETTERS[check >> 5 * (7 - place) & 31] for place in range(8))


def _step(check: int, value: int) -> int:
    top = check >> 35
    check = (check & 0x7FFFFFFFF) << 5 ^ value
    for place, generator in enumerate(_GENERATOR):
        check ^= generator if top >> place & 1 else 0
    return check


def _key_in(text: str, parameters: Parameters) -> tuple[bip32.Public, ScriptKind | None]:
    try:
        raw = read_base58(text)
    except WrongChecksum:
        raise UnusableKey(AccountProblem.CHECKSUM) from None
    except ValueError:
        raise UnusableKey(AccountProblem.NOT_ONE) from None
    version, depth = raw[:_VERSION_BYTES], raw[_VERSION_BYTES]
    if len(raw) != _KEY_BYTES or not any(version in each.public_versions for each in NETWORKS):
        raise UnusableKey(AccountProblem.NOT_ONE)
    if version not in parameters.public_versions:
        raise UnusableKey(AccountProblem.OTHER_NETWORK)
    number = int.from_bytes(raw[9:13])
    kind = parameters.public_versions[version]
    is_electrum = (depth, number, kind) == (*_ELECTRUM_PLACE, ScriptKind.WPKH)
    if not is_electrum and (depth != _ACCOUNT_DEPTH or number < bip32.HARDENED):
        raise UnusableKey(AccountProblem.WRONG_DEPTH)
    try:
        key = bip32.Public(PublicKey(raw[45:]), raw[13:45], depth, raw[5:9], number)
    except ValueError:
        raise UnusableKey(AccountProblem.NOT_ONE) from None
    return key, kind


def _tweaked(key: PublicKey) -> bytes:
    """The key of an output that only this key spends, 32 bytes (BIP-341 without scripts)."""
    even = b"\2" + key.format()[1:]
    tag = hashlib.sha256(b"TapTweak").digest()
    tweak = hashlib.sha256(tag + tag + even[1:]).digest()
    return PublicKey(even).add(tweak).format()[1:]


def hash160(data: bytes) -> bytes:
    return RIPEMD160.new(hashlib.sha256(data).digest()).digest()
