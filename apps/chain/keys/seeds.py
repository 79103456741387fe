"""The seed of deposit addresses, in a file that only the keystore's data key opens (AES-GCM). Only
the signer opens it.

Accounts 0' and 1' are the deposit addresses of live and test mode, whose public half others know;
2' and 3' the first hot wallets of a machine without another keystore, 4' and 5' the second ones,
hardened, so that a hot wallet's key reveals nothing about others (decisions 131 and 356).
"""

import base64
import json
import os
from pathlib import Path

from django.conf import settings

from apps.chain.keys import bip32, bip39
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.providers.base import Keystore
from apps.core import crypto
from apps.core.errors import Failure
from apps.core.process import published_secrets

DEPOSIT_ACCOUNTS = {"live": 0, "test": 1}
COIN_TYPES = {"bitcoin": 0, "litecoin": 2}
HOT_ACCOUNTS = {"live": 2, "test": 3}
_PURPOSE = b"tillgate signer key file 1"
_VERSION = 2
_PASSPHRASE_VERSION = 1


class KeyFileRefused(Failure):
    """The text says which step failed; it never holds any part of a secret."""


class Seed:
    """An opened seed. It has no attribute or text form that shows it."""

    def __init__(self, words: str) -> None:
        self._root = bip32.Private.of_seed(bip39.seed_of(words))

    def deposit_xpub(self, mode: str) -> str:
        return self._root.derive(f"m/44'/60'/{DEPOSIT_ACCOUNTS[mode]}'").public.text()

    def coin_xpub(self, coin: str, mode: str) -> str:
        return self._root.derive(coin_account(coin, mode)).public.text()

    def coin_key(self, coin: str, mode: str, index: int) -> SigningKey:
        """Key of a deposit address of a network with coins (BIP-84)."""
        return self._key(f"{coin_account(coin, mode)}/0/{index}")

    def hot_key(self, mode: str, number: int = 0) -> SigningKey:
        """Key of a hot wallet of the mode; each number has an account of its own."""
        account = HOT_ACCOUNTS[mode] + len(HOT_ACCOUNTS) * number
        return self._key(f"m/44'/60'/{account}'/0/0")

    def deposit_key(self, mode: str, index: int) -> SigningKey:
        """Key of a deposit address, for its sweep."""
        return self._key(f"m/44'/60'/{DEPOSIT_ACCOUNTS[mode]}'/0/{index}")

    def _key(self, path: str) -> SigningKey:
        return SigningKey(self._root.derive(path).key.secret)


def coin_account(coin: str, mode: str) -> str:
    """Path of the account whose addresses are handed out, by SLIP-44; all test networks have type
    1, and each coin an account of it."""
    place = list(COIN_TYPES).index(coin)
    return f"m/84'/{COIN_TYPES[coin]}'/0'" if mode == "live" else f"m/84'/1'/{place}'"


def new_words() -> str:
    """Twenty-four new words."""
    return bip39.new_words()


def write_key_file(path: Path, words: str, keystore: Keystore) -> Seed:
    """Seal the words into a new file. Raises KeyFileRefused and KeystoreError; a file that is there
    is never overwritten."""
    if not bip39.is_mnemonic(words):
        raise KeyFileRefused("The words are no BIP-39 mnemonic")
    data_key, wrapped = keystore.new_data_key()
    nonce = os.urandom(crypto.NONCE_BYTES)
    sealed = crypto.seal(data_key, nonce, words.encode(), _PURPOSE)
    parts = {"wrapped": wrapped, "nonce": nonce, "sealed": sealed}
    document = {
        "version": _VERSION,
        "keystore": keystore.name,
        **{name: _text(value) for name, value in parts.items()},
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(json.dumps(document))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise KeyFileRefused(f"{path} is there already and is never overwritten") from None
    return Seed(words)


def open_key_file(path: Path, keystore: Keystore) -> Seed:
    """The seed in a file. Raises KeyFileRefused and KeystoreError."""
    return Seed(_words_in(path, keystore))


def seed_in(path: Path, keystore: Keystore) -> Seed:
    """The seed in a file; outside production a missing file of the demo's seed is made."""
    if not settings.IS_PRODUCTION and not path.exists():
        try:
            return write_key_file(path, published_secrets.DEMO_MNEMONIC, keystore)
        except KeyFileRefused:  # another process was faster
            return open_key_file(path, keystore)
    return open_key_file(path, keystore)


def move_key_file(source: Path, opener: Keystore, path: Path, keystore: Keystore) -> Seed:
    """The seed of one file in another that a second keystore opens; the first stays. Raises
    KeyFileRefused and KeystoreError."""
    return write_key_file(path, _words_in(source, opener), keystore)


def _words_in(path: Path, keystore: Keystore) -> str:
    try:
        document = json.loads(path.read_text())
        # The first version knew passphrases only, and called what a passphrase is stretched with by
        # its name.
        is_first = document["version"] == _PASSPHRASE_VERSION
        kept_by = "file" if is_first else str(document["keystore"])
        names = ("salt" if is_first else "wrapped", "nonce", "sealed")
        wrapped, nonce, sealed = (base64.b64decode(document[name]) for name in names)
    except FileNotFoundError:
        raise KeyFileRefused(f"There is no key file {path}: make one with create_wallet") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise KeyFileRefused(f"{path} is no key file") from None
    if kept_by != keystore.name:
        raise KeyFileRefused(
            f"{path} was sealed with SIGNER_KEYSTORE={kept_by}, which is {keystore.name} now"
        )
    try:
        words = crypto.unseal(keystore.data_key(wrapped), nonce, sealed, _PURPOSE).decode()
    except ValueError:
        raise KeyFileRefused(f"{keystore.opens_with} does not open {path}") from None
    if settings.IS_PRODUCTION and words == published_secrets.DEMO_MNEMONIC:
        raise KeyFileRefused(
            f"{path} holds the published demo seed: make your own with create_wallet"
        )
    return words


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
