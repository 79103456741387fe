"""A passkey of a device in software: the same one is added once, and nothing else of the database
is taken for that."""

import json
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.db import IntegrityError, connection
from django_otp_webauthn.models import WebAuthnCredential

from apps.access.factors import passkeys, second_factor
from apps.core import clock
from tests.cast import Cast

PRESENT_VERIFIED_ATTESTED = 0x45


def text_of(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def answer_to(
    options: str, credential_id: bytes, *, attests: bool = False, attests_to: bytes = b""
) -> str:
    """A device's answer to the options: without an attestation, or with one by the new key itself,
    which is good for what was asked and nothing more."""
    private = ec.generate_private_key(ec.SECP256R1())
    numbers = private.public_key().public_numbers()
    key = cbor2.dumps(
        {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
    )
    place = sha256(settings.OTP_WEBAUTHN_RP_ID.encode()).digest()
    made = (
        place
        + bytes([PRESENT_VERIFIED_ATTESTED])
        + bytes(4 + 16)
        + len(credential_id).to_bytes(2, "big")
        + credential_id
        + key
    )
    origin = settings.OTP_WEBAUTHN_ALLOWED_ORIGINS[0]
    client = {
        "type": "webauthn.create",
        "challenge": json.loads(options)["challenge"],
        "origin": origin,
    }
    asked = json.dumps(client).encode()
    statement: dict[str, Any] = {"fmt": "none", "attStmt": {}}
    if attests:
        signed = private.sign(made + sha256(asked).digest() + attests_to, ec.ECDSA(hashes.SHA256()))
        statement = {"fmt": "packed", "attStmt": {"alg": -7, "sig": signed}}
    response = {
        "clientDataJSON": text_of(asked),
        "attestationObject": text_of(cbor2.dumps({**statement, "authData": made})),
    }
    told = {
        "id": text_of(credential_id),
        "rawId": text_of(credential_id),
        "type": "public-key",
        "response": response,
    }
    return json.dumps({**told, "clientExtensionResults": {}})


def add(user: Any, credential_id: bytes, **attestation: Any) -> Any:
    session: dict[str, Any] = {}
    at = clock.real_now()
    answer = answer_to(passkeys.begin_adding(session, user, at), credential_id, **attestation)
    return passkeys.add(session, user, answer=answer, name="Laptop", at=at)


def test_the_same_passkey_is_added_once(cast: Cast) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    add(cast.alice, b"one")
    with pytest.raises(passkeys.NotAdded):
        add(cast.alice, b"one")
    add(cast.alice, b"two")
    assert WebAuthnCredential.objects.count() == 2


def test_a_device_that_attests_unasked_is_believed_only_when_it_is_right(cast: Cast) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    add(cast.alice, b"one", attests=True)
    with pytest.raises(passkeys.NotAdded):
        add(cast.alice, b"two", attests=True, attests_to=b"something else")
    assert WebAuthnCredential.objects.count() == 1


def test_another_rule_of_the_database_is_no_passkey_that_is_there(cast: Cast) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE django_otp_webauthn_webauthncredential ADD CONSTRAINT no_laptop CHECK"
            " (name <> 'Laptop')"
        )
    with pytest.raises(IntegrityError):
        add(cast.alice, b"one")


def test_the_library_finds_the_ceremonies_that_demand_a_verified_person() -> None:
    assert (
        type(WebAuthnCredential.get_webauthn_helper(None)).__module__
        == "apps.access.factors.ceremonies"
    )
