"""Keystores of one's own for a test: a SoftHSM token, AWS KMS as moto serves it over HTTP, and a
key file."""

import atexit
import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from moto.kms.responses import KmsResponse
from moto.server import ThreadedMotoServer

from apps.chain.keys import keystores
from apps.chain.keys.seeds import write_key_file
from apps.core.process.published_secrets import DEMO_MNEMONIC
from dev.machine import softhsm

PIN = "2468"
TOKEN = "tillgate"
WRAPPING = "seed"
LABELS = {"live": "hot-live", "test": "hot-test"}
ELSEWHERE = [pytest.param("pkcs11", marks=pytest.mark.token), "kms"]
Entry = dict[str, Any]


@contextmanager
def of(name: str, folder: Path, monkeypatch: Any) -> Iterator[Entry]:
    if name == "kms":
        with kms(monkeypatch) as entry:
            yield entry
    else:
        yield token() if name == "pkcs11" else key_file(folder)


def key_file(folder: Path) -> Entry:
    return {
        "BACKEND": "apps.chain.providers.key_file.KeyFile",
        "OPTIONS": {"path": str(folder / "signer.key"), "passphrase": "a long passphrase"},
    }


@cache
def token() -> Entry:
    """One for the process, which loads the library once: its keys are made in it as an operator
    would."""
    import pkcs11
    from pkcs11 import Attribute, KeyType
    from pkcs11.util.ec import encode_named_curve_parameters

    folder = Path(tempfile.mkdtemp())
    module = str(softhsm())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "softhsm2.conf").write_text(f"directories.tokendir = {folder}\nlog.level = ERROR\n")
    os.environ.update(SOFTHSM2_CONF=str(folder / "softhsm2.conf"), PKCS11_PIN=PIN)
    made = [
        "softhsm2-util",
        "--init-token",
        "--free",
        "--label",
        TOKEN,
        "--so-pin",
        "13579",
        "--pin",
        PIN,
    ]
    subprocess.run(made, check=True, capture_output=True, timeout=30)
    with pkcs11.lib(module).get_token(token_label=TOKEN).open(user_pin=PIN, rw=True) as session:
        curve = {Attribute.EC_PARAMS: encode_named_curve_parameters("secp256k1")}
        parameters = session.create_domain_parameters(KeyType.EC, curve, local=True)
        for label in LABELS.values():
            parameters.generate_keypair(store=True, label=label)
        session.generate_key(KeyType.AES, 256, store=True, label=WRAPPING)
    options = {"module": module, "token": TOKEN, "keys": LABELS, "wrapping_key": WRAPPING}
    return {"BACKEND": "apps.chain.providers.pkcs11.HardwareToken", "OPTIONS": options}


@contextmanager
def kms(monkeypatch: Any) -> Iterator[Entry]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setattr(KmsResponse, "sign", _sign)
    yield _keys_at_kms()


@cache
def _keys_at_kms() -> Entry:
    """One server for the process, whose keys every test of it uses."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    client = boto3.client("kms", endpoint_url=url)
    keys = {}
    for mode in LABELS:
        keys[mode] = client.create_key(KeySpec="ECC_SECG_P256K1", KeyUsage="SIGN_VERIFY")[
            "KeyMetadata"
        ]["KeyId"]
    wrapping = client.create_key(KeySpec="SYMMETRIC_DEFAULT")["KeyMetadata"]["KeyId"]
    options = {"keys": keys, "wrapping_key": wrapping, "endpoint_url": url}
    return {"BACKEND": "apps.chain.providers.kms.AwsKms", "OPTIONS": options}


_hashed_again = KmsResponse.sign


def _sign(self: KmsResponse) -> str:
    """moto doesn't implement MessageType=DIGEST: it hashes a digest. AWS signs it as it is."""
    if self._get_param("MessageType") != "DIGEST":
        return _hashed_again(self)
    key = self.kms_backend.describe_key(self._get_param("KeyId"))
    message = self._get_param("Message")
    held: Any = key.private_key  # of an elliptic curve
    signature = held.private_key.sign(message, ec.ECDSA(Prehashed(SHA256())))
    told = {
        "KeyId": key.arn,
        "Signature": base64.b64encode(signature).decode(),
        "SigningAlgorithm": self._get_param("SigningAlgorithm"),
    }
    return json.dumps(told)


@contextmanager
def configured(entry: Entry, settings: Any, folder: Path) -> Iterator[None]:
    """The service signs with this keystore, and the demo's seed lies in a file that it opens."""
    settings.PROVIDERS = {**settings.PROVIDERS, "keys": {"live": [entry]}}
    settings.SIGNER_KEY_FILE = str(folder / "signer.key")
    forget()
    write_key_file(Path(settings.SIGNER_KEY_FILE), DEMO_MNEMONIC, keystores.keystore())
    yield
    forget()


def forget() -> None:
    for found in (keystores.keystore, keystores.seed, keystores.hot_key):
        found.cache_clear()
