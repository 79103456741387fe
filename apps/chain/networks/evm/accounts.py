"""Wallets of others by the extended public key of an account (BIP-32, m/44'/60'/n'): what people
paste is read here, and what could spend is refused."""

import re

from coincurve import PublicKey

from apps.chain.keys import bip32
from apps.chain.keys.secp256k1 import address_of
from apps.chain.networks.bitcoin.accounts import (
    TEXT_MAX,
    AccountProblem,
    UnusableKey,
    is_secret,
)
from apps.chain.networks.bitcoin.parameters import NETWORKS
from apps.chain.networks.bitcoin.text_forms import WrongChecksum, read_base58

_XPUB = bytes.fromhex("0488b21e")
_RECEIVING = 0
_ACCOUNT_DEPTH = 3
_KEY_BYTES = 78
# One private key, as wallets of these networks export it. A transaction's hash has the same form.
_HEX_KEY = re.compile(r"(?<![0-9a-fA-F])(0x)?[0-9a-fA-F]{64}(?![0-9a-fA-F])", re.ASCII)


def could_spend(text: str) -> bool:
    """Tell whether a text is, or holds, a private key or a recovery phrase."""
    return is_secret(text) or _HEX_KEY.search(text) is not None


def read_account(text: str) -> bip32.Public:
    """The key that somebody has pasted. Raises UnusableKey."""
    typed = text.strip()
    if could_spend(typed):
        raise UnusableKey(AccountProblem.PRIVATE)
    if len(typed) > TEXT_MAX:
        raise UnusableKey(AccountProblem.NOT_ONE)
    if "(" in typed:
        raise UnusableKey(AccountProblem.OTHER_NETWORK)
    try:
        raw = read_base58(typed)
    except WrongChecksum:
        raise UnusableKey(AccountProblem.CHECKSUM) from None
    except ValueError:
        raise UnusableKey(AccountProblem.NOT_ONE) from None
    if len(raw) != _KEY_BYTES:
        raise UnusableKey(AccountProblem.NOT_ONE)
    if raw[:4] != _XPUB:
        is_other = any(raw[:4] in each.public_versions for each in NETWORKS)
        raise UnusableKey(AccountProblem.OTHER_NETWORK if is_other else AccountProblem.NOT_ONE)
    if raw[4] != _ACCOUNT_DEPTH or int.from_bytes(raw[9:13]) < bip32.HARDENED:
        raise UnusableKey(AccountProblem.WRONG_DEPTH)
    try:
        PublicKey(raw[45:])
        return bip32.Public.parse(typed)
    except ValueError:
        raise UnusableKey(AccountProblem.NOT_ONE) from None


def address(account: bip32.Public, index: int) -> str:
    """The receiving address at an index, as it is stored. Raises ValueError for the indexes (one in
    2^127) that have no key."""
    return address_of(account.child(_RECEIVING).child(index).key)
