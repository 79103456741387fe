"""The seed of every wallet, in a file sealed with a passphrase (scrypt, AES-GCM). Only the signer opens it.

Accounts 0' and 1' are the deposit addresses of live and test mode, of which others know the public half; 2' and 3' the hot
wallets, in hardened accounts of their own, so that a hot wallet's key tells nothing about deposit addresses.
"""

import base64
import json
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings

from apps.chain import bip32, bip39
from apps.chain.secp256k1 import SigningKey
from apps.core.errors import Flat
from config import demo_secrets

DEPOSIT_ACCOUNTS = {"live": 0, "test": 1}
HOT_ACCOUNTS = {"live": 2, "test": 3}
_SCRYPT_N, _SCRYPT_R, _SCRYPT_P = 2**15, 8, 1
_PURPOSE = b"tillgate signer key file 1"
PASSPHRASE_MIN = 12


class KeyFileRefused(Flat):
    """The text says which step failed; it never holds any part of a secret."""


@dataclass(frozen=True)
class HotKey:
    """An address of ours (lower-case) and what signs for it."""

    address: str
    signing: SigningKey


class Seed:
    """An opened seed. It has no attribute or text form that shows it."""

    def __init__(self, words: str) -> None:
        self._root = bip32.Private.of_seed(bip39.seed_of(words))

    def deposit_xpub(self, mode: str) -> str:
        return self._root.derive(f"m/44'/60'/{DEPOSIT_ACCOUNTS[mode]}'").public.text()

    def hot_key(self, mode: str) -> HotKey:
        return self._key(f"m/44'/60'/{HOT_ACCOUNTS[mode]}'/0/0")

    def deposit_key(self, mode: str, index: int) -> HotKey:
        """What signs for a deposit address, when it is swept."""
        return self._key(f"m/44'/60'/{DEPOSIT_ACCOUNTS[mode]}'/0/{index}")

    def _key(self, path: str) -> HotKey:
        signing = SigningKey(self._root.derive(path).key.secret)
        return HotKey(signing.address, signing)


def new_words() -> str:
    """Twenty-four new words."""
    return bip39.new_words()


def write_key_file(path: Path, words: str, passphrase: str) -> Seed:
    """Seal the words into a new file. Raises KeyFileRefused; a file that is there is never overwritten."""
    if not bip39.is_mnemonic(words):
        raise KeyFileRefused("The words are no BIP-39 mnemonic")
    if len(passphrase) < PASSPHRASE_MIN:
        raise KeyFileRefused(f"SIGNER_PASSPHRASE must have at least {PASSPHRASE_MIN} characters")
    salt, nonce = os.urandom(16), os.urandom(12)
    sealed = AESGCM(_derive(passphrase, salt)).encrypt(nonce, words.encode(), _PURPOSE)
    document = {"version": 1, **{name: _text(value) for name, value in (("salt", salt), ("nonce", nonce), ("sealed", sealed))}}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(json.dumps(document))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise KeyFileRefused(f"{path} is there already and is never overwritten") from None
    return Seed(words)


def open_key_file(path: Path, passphrase: str) -> Seed:
    """The seed in a file. Raises KeyFileRefused."""
    try:
        document = json.loads(path.read_text())
        salt, nonce, sealed = (base64.b64decode(document[name]) for name in ("salt", "nonce", "sealed"))
    except FileNotFoundError:
        raise KeyFileRefused(f"There is no key file {path}: make one with create_wallet") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise KeyFileRefused(f"{path} is no key file") from None
    try:
        words = AESGCM(_derive(passphrase, salt)).decrypt(nonce, sealed, _PURPOSE).decode()
    except InvalidTag:
        raise KeyFileRefused(f"SIGNER_PASSPHRASE does not open {path}") from None
    if settings.IS_PRODUCTION and words == demo_secrets.DEMO_MNEMONIC:
        raise KeyFileRefused(f"{path} holds the published demo seed: make your own with create_wallet")
    return Seed(words)


def configured_passphrase() -> str:
    """From the environment of the signer alone; outside production the published one stands in. Raises KeyFileRefused."""
    given, published = os.environ.get("SIGNER_PASSPHRASE", ""), demo_secrets.SIGNER_PASSPHRASE
    if not settings.IS_PRODUCTION:
        return given or published
    if not given:
        raise KeyFileRefused("SIGNER_PASSPHRASE is missing: set it in the environment of the signer")
    if given == published:
        raise KeyFileRefused("SIGNER_PASSPHRASE holds the published demo value: choose your own")
    return given


def configured_seed() -> Seed:
    """The seed that this process signs with; outside production the demo's file is made when there is none."""
    path = Path(settings.SIGNER_KEY_FILE)
    if not settings.IS_PRODUCTION and not path.exists():
        try:
            return write_key_file(path, demo_secrets.DEMO_MNEMONIC, configured_passphrase())
        except KeyFileRefused:  # another process was faster
            return open_key_file(path, configured_passphrase())
    return open_key_file(path, configured_passphrase())


def _derive(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=_SCRYPT_N, r=_SCRYPT_R, p=_SCRYPT_P).derive(passphrase.encode())


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
