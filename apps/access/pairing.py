"""Clients that pair with a store as BitPay's do: each has a key of its own, which signs every call.

An approved client is an API key whose hash is that of its token and its public key together:
neither opens anything alone, and the token is no bearer credential (decision 950).
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from coincurve import PublicKey
from coincurve.ecdsa import cdata_to_der, der_to_cdata, signature_normalize
from Crypto.Hash import RIPEMD160
from django.core import signing
from embit import base58

from apps.access import credentials, rights, services
from apps.access.access import Access
from apps.access.compatible_apis import require_compatible_apis
from apps.access.models import ApiKey
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, RefusalKind

# Scopes that a paired client gets, as far as the person who approves it has them.
SCOPES: Final = ("payments:read", "payments:write", "refunds:write", "webhooks:write")
TOKEN_PREFIX: Final = "svc_paired_"  # noqa: S105  # the beginning of a token
LIFETIME: Final = timedelta(days=1)
NAME_MAX = 60
CODE_MAX = 600
_SALT = "access.pairing"
_UNIQUE = "access_apikey_secret_hash_key"  # of the database
_SIN = b"\x0f\x02"  # version and type of a client's id
_PUBLIC_KEY = re.compile(r"0[23][0-9a-f]{64}", re.IGNORECASE)
_SIGNATURE = re.compile(r"(?:[0-9a-f]{2}){8,72}", re.IGNORECASE)
_CLIENT_ID = re.compile(r"[1-9A-HJ-NP-Za-km-z]{30,40}")


class PairingOver(Failure):
    kind = RefusalKind.NOT_FOUND
    message = "This pairing code isn't valid any more. Start again in your shop"


class AlreadyPaired(Failure):
    kind = RefusalKind.CONFLICT
    message = "This client is paired already"


class InvalidCall(services.InvalidApiKey):
    """A call whose token, public key or signature isn't that of a paired client."""

    message = "The token, X-Identity or X-Signature is not valid"


@dataclass(frozen=True)
class Pairing:
    """A client that waits for approval: what it calls itself, its id, and the hash that its calls
    will be known by."""

    name: str
    client_id: str
    digest: str

    @property
    def code(self) -> str:
        fields = [self.name, self.client_id, self.digest]
        return signing.dumps(fields, salt=_SALT, compress=True)


def is_client_id(text: str) -> bool:
    """True for a SIN: base58 with its version, its type and a checksum."""
    if not _CLIENT_ID.fullmatch(text):
        return False
    try:
        return bytes(base58.decode_check(text)).startswith(_SIN)
    except ValueError:
        return False


def client_id_of(public_key: bytes) -> str:
    """The SIN of a compressed public key."""
    hashed = RIPEMD160.new(hashlib.sha256(public_key).digest()).digest()
    return str(base58.encode_check(_SIN + hashed))


def begin(name: str, client_id: str) -> tuple[Pairing, str]:
    """A pairing that a person may approve within a day, and the token of its client. Nothing is
    recorded."""
    token = credentials.mint(TOKEN_PREFIX)
    digest = credentials.digest(_secret(token, client_id)).hex()
    return Pairing(name[:NAME_MAX], client_id, digest), token


def read(code: str) -> Pairing:
    """The pairing of a code. Raises PairingOver."""
    try:
        if len(code) > CODE_MAX:
            raise PairingOver
        return Pairing(*signing.loads(code, salt=_SALT, max_age=LIFETIME))
    except signing.BadSignature:
        raise PairingOver from None


def scopes_for(access: Access) -> list[str]:
    """The scopes that this person can give a client."""
    return rights.held_of(access, SCOPES)


def approve(access: Access, pairing: Pairing) -> ApiKey:
    """The client's key in the store and mode of the access. Raises CompatibleApisOff,
    AlreadyPaired or what create_api_key does."""
    require_compatible_apis(access.store)
    client = services.KeyOfClient(pairing.client_id, bytes.fromhex(pairing.digest))
    with refused_by(_UNIQUE, AlreadyPaired):
        key, _ = services.create_api_key(
            access.store,
            access.mode,
            name=pairing.name,
            scope_names=scopes_for(access),
            by=access,
            client=client,
        )
    return key


@dataclass(frozen=True)
class SignedCall:
    """A call as its client signed it: its address with the body behind it."""

    public_key: str
    signature: str
    message: bytes

    def number(self) -> str:
        """A name of the signature, the same for both of its forms: who sends it again repeats that
        call."""
        return hashlib.sha256(bytes.fromhex(self.public_key) + self._lower()).hexdigest()

    def client_id(self) -> str:
        """The SIN of who signed it. Raises InvalidCall."""
        if not _PUBLIC_KEY.fullmatch(self.public_key) or not _SIGNATURE.fullmatch(self.signature):
            raise InvalidCall
        encoded = bytes.fromhex(self.public_key)
        try:
            is_signed = PublicKey(encoded).verify(self._lower(), self.message)
        except ValueError:
            raise InvalidCall from None
        if not is_signed:
            raise InvalidCall
        return client_id_of(encoded)

    def _lower(self) -> bytes:
        """The signature in the one form that the library takes. Raises ValueError for what is
        none."""
        _, lower = signature_normalize(der_to_cdata(bytes.fromhex(self.signature)))
        return bytes(cdata_to_der(lower))


def authenticate(token: str, call: SignedCall) -> Access:
    """The access of a paired client. Raises InvalidCall or CompatibleApisOff."""
    client_id = call.client_id()
    if not credentials.is_well_formed(token, TOKEN_PREFIX):
        raise InvalidCall
    access = services.access_of_key(_secret(token, client_id))
    if access is None:
        raise InvalidCall
    require_compatible_apis(access.store)
    return access


def _secret(token: str, client_id: str) -> str:
    return f"{token}.{client_id}"
