"""KSeF, Poland's national system of e-invoices (API 2.0): a document goes in encrypted, is checked,
and gets a number and a receipt (UPO) there. Who it is for finds it there.

KSeF knows no ID of ours: its own references are the trace of a document. Where an answer was lost
there is none, and the document is sent again: KSeF refuses a second one of a seller's number, and
says which was the first. That is ours if it has the same bytes.
"""

import base64
import hashlib
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import quote

from apps.billing.providers.base import Parcel, ParcelAnswer, ParcelState
from apps.core.clock import real_now
from apps.core.errors import ErrorCode, ProviderError
from apps.core.outbound.net import NotThere, get_bytes, get_json, post_json, post_nothing

_TIMEOUT_SECONDS = 15.0
# Its check of a token takes moments.
_LOOKS_MAX = 20
_LOOK_SECONDS = 0.5
_KEY_BYTES, _BLOCK_BYTES = 32, 16
_FORM = {"systemCode": "FA (3)", "schemaVersion": "1-0E", "value": "FA"}
_OF_TOKENS, _OF_KEYS = "KsefTokenEncryption", "SymmetricKeyEncryption"
_WAITING, _DONE, _DUPLICATE = {100, 150}, 200, 440
# The session failed, or KSeF did: it has no such document, and may be asked again.
_NOT_TAKEN = {405, 500, 550}
_NUMBER = re.compile(r"[1-9]\d{9}-20\d{6}-[0-9A-F]{6}-?[0-9A-F]{6}-[0-9A-F]{2}", re.ASCII)
_LISTED_MAX = 1000
_MESSAGE_MAX = 500
_KEY_MISSING = "KSeF’s token is missing. Add it under Settings, Taxes."
_OTHER = "KSeF has another document with this number: {number}"


class _Refused(Exception):
    """KSeF doesn't let this seller in, in its own words."""


class Ksef:
    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")

    def send(self, parcel: Parcel) -> ParcelAnswer:
        if not parcel.token:
            return ParcelAnswer(ParcelState.REFUSED, _KEY_MISSING)
        try:
            headers = self._signed_in(parcel)
            trace = self._put_in(parcel, headers)
        except _Refused as refusal:
            return ParcelAnswer(ParcelState.REFUSED, str(refusal))
        except ProviderError as error:
            if error.code is not ErrorCode.REFUSED:
                raise
            return ParcelAnswer(ParcelState.REFUSED, f"KSeF didn’t take it ({error})")
        try:
            return self._found(parcel, trace, headers)
        except ProviderError as error:
            return ParcelAnswer(ParcelState.ON_ITS_WAY, str(error), trace)

    def look(self, parcel: Parcel) -> ParcelAnswer:
        if not parcel.trace:
            return ParcelAnswer(ParcelState.UNKNOWN)
        try:
            return self._found(parcel, parcel.trace, self._signed_in(parcel))
        except _Refused as refusal:
            raise ProviderError(ErrorCode.REFUSED, str(refusal)) from None

    # --- who asks -----------------------------------------------------------------------------

    def _signed_in(self, parcel: Parcel) -> dict[str, str]:
        """Headers of the holder of a seller's token."""
        key = self._public_key(_OF_TOKENS)
        challenge = self._post("/auth/challenge", {}, {})
        secret = f"{parcel.token}|{challenge['timestampMs']}".encode()
        begun = self._post(
            "/auth/ksef-token",
            {
                "challenge": challenge["challenge"],
                "contextIdentifier": {"type": "Nip", "value": parcel.sender},
                "encryptedToken": _text(_encrypted_for(key, secret)),
                "publicKeyId": key["publicKeyId"],
            },
            {},
        )
        headers = _bearer(begun["authenticationToken"])
        self._wait_for(str(begun["referenceNumber"]), headers)
        return _bearer(self._post("/auth/token/redeem", {}, headers)["accessToken"])

    def _wait_for(self, reference: str, headers: Mapping[str, str]) -> None:
        """Until it has checked the token. Raises _Refused; ProviderError when that takes long."""
        for _ in range(_LOOKS_MAX):
            told = self._get(f"/auth/{quote(reference, safe='')}", headers)
            code, status = _status_of(told)
            if code == _DONE:
                return
            if code not in _WAITING:
                raise _Refused(_words(status))
            time.sleep(_LOOK_SECONDS)
        raise ProviderError(ErrorCode.UNREACHABLE, "KSeF hasn’t checked the token yet")

    def _public_key(self, usage: str) -> "_Answer":
        """Of the keys of a use the newest that is valid now."""
        now = real_now()
        keys = [
            key
            for key in self._get("/security/public-key-certificates", {})
            if usage in key["usage"] and _moment(key["validFrom"]) <= now < _moment(key["validTo"])
        ]
        if not keys:
            raise ProviderError(ErrorCode.MALFORMED, "KSeF has no key that is valid now")
        newest: _Answer = max(keys, key=lambda key: _moment(key["validFrom"]))
        return newest

    # --- a document ---------------------------------------------------------------------------

    def _put_in(self, parcel: Parcel, headers: Mapping[str, str]) -> str:
        """Its trace there: a session of its own, and its reference in it."""
        key, start = os.urandom(_KEY_BYTES), os.urandom(_BLOCK_BYTES)
        public = self._public_key(_OF_KEYS)
        opened = self._post(
            "/sessions/online",
            {
                "formCode": _FORM,
                "encryption": {
                    "encryptedSymmetricKey": _text(_encrypted_for(public, key)),
                    "initializationVector": _text(start),
                    "publicKeyId": public["publicKeyId"],
                },
            },
            headers,
        )
        session = f"/sessions/online/{quote(opened['referenceNumber'], safe='')}"
        sealed = _encrypted(key, start, parcel.content)
        taken = self._post(
            f"{session}/invoices",
            {
                "invoiceHash": _digest(parcel.content),
                "invoiceSize": len(parcel.content),
                "encryptedInvoiceHash": _digest(sealed),
                "encryptedInvoiceSize": len(sealed),
                "encryptedInvoiceContent": _text(sealed),
            },
            headers,
        )
        with suppress(ProviderError):  # One that isn't closed closes by itself.
            post_nothing(f"{self.base_url}{session}/close", headers, _TIMEOUT_SECONDS)
        return f"{opened['referenceNumber']}/{taken['referenceNumber']}"

    def _found(self, parcel: Parcel, trace: str, headers: Mapping[str, str]) -> ParcelAnswer:
        session, _, reference = trace.partition("/")
        path = f"/sessions/{quote(session, safe='')}/invoices/{quote(reference, safe='')}"
        try:
            told = self._get(path, headers)
        except NotThere:
            return ParcelAnswer(ParcelState.UNKNOWN)
        code, status = _status_of(told)
        if code == _DONE:
            return self._delivered(trace, told["ksefNumber"], f"{path}/upo", headers)
        if code == _DUPLICATE:
            return self._first(parcel, trace, status["extensions"], headers)
        if code in _WAITING:
            return ParcelAnswer(ParcelState.ON_ITS_WAY, "", trace)
        if code in _NOT_TAKEN:
            return ParcelAnswer(ParcelState.UNKNOWN, _words(status))
        return ParcelAnswer(ParcelState.REFUSED, _words(status), trace)

    def _delivered(
        self, trace: str, number: object, receipt: str, headers: Mapping[str, str]
    ) -> ParcelAnswer:
        if not _NUMBER.fullmatch(str(number)):
            raise ProviderError(ErrorCode.MALFORMED, "KSeF gave no number")
        raw = get_bytes(
            f"{self.base_url}{receipt}",
            accept="application/xml",
            headers=headers,
            timeout=_TIMEOUT_SECONDS,
        )
        upo = raw.decode("utf-8", "replace").replace("\x00", "")
        if str(number) not in upo:
            raise ProviderError(ErrorCode.MALFORMED, "KSeF’s receipt is of another document")
        return ParcelAnswer(ParcelState.DELIVERED, "", trace, str(number), upo)

    def _first(
        self, parcel: Parcel, trace: str, told: Mapping[str, Any], headers: Mapping[str, str]
    ) -> ParcelAnswer:
        """Answer about the document that has this one's number."""
        number = str(told.get("originalKsefNumber"))
        session = f"/sessions/{quote(str(told.get('originalSessionReferenceNumber')), safe='')}"
        params = {"pageSize": str(_LISTED_MAX)}
        try:
            listed = self._get(f"{session}/invoices", headers, params)["invoices"]
        except ProviderError as error:
            if error.code is not ErrorCode.REFUSED:
                raise
            listed = []  # Somebody else's session.
        ours = _digest(parcel.content)
        if any((row.get("ksefNumber"), row["invoiceHash"]) == (number, ours) for row in listed):
            receipt = f"{session}/invoices/ksef/{quote(number, safe='')}/upo"
            return self._delivered(trace, number, receipt, headers)
        return ParcelAnswer(ParcelState.REFUSED, _OTHER.format(number=number), trace)

    # --- asking -------------------------------------------------------------------------------

    def _get(
        self, path: str, headers: Mapping[str, str], params: Mapping[str, str] | None = None
    ) -> Any:
        url = f"{self.base_url}{path}"
        return _answered(get_json(url, params, headers, _TIMEOUT_SECONDS))

    def _post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        url = f"{self.base_url}{path}"
        return _answered(post_json(url, body, headers, _TIMEOUT_SECONDS))


class _Answer(dict[str, object]):
    """An object that KSeF answered; what it lacks is its mistake."""

    def __missing__(self, name: str) -> object:
        raise ProviderError(ErrorCode.MALFORMED, f"KSeF’s answer has no {name}")


def _answered(value: Any) -> Any:
    if isinstance(value, dict):
        return _Answer({name: _answered(item) for name, item in value.items()})
    return [_answered(item) for item in value] if isinstance(value, list) else value


def _status_of(told: Any) -> tuple[int, Any]:
    status = told["status"] if isinstance(told, _Answer) else None
    code = status["code"] if isinstance(status, _Answer) else None
    if not isinstance(code, int):
        raise ProviderError(ErrorCode.MALFORMED, "KSeF’s answer has no status")
    return code, status


def _bearer(token: Any) -> dict[str, str]:
    if not isinstance(token, dict) or not isinstance(token.get("token"), str):
        raise ProviderError(ErrorCode.MALFORMED, "KSeF gave no token")
    return {"Authorization": f"Bearer {token['token']}"}


def _moment(text: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        raise ProviderError(ErrorCode.MALFORMED, "KSeF’s key has no days") from None
    if moment.tzinfo is None:
        raise ProviderError(ErrorCode.MALFORMED, "KSeF’s key has no days")
    return moment


def _words(status: Mapping[str, Any]) -> str:
    details = status.get("details") or []
    texts = [status.get("description"), *(details if isinstance(details, list) else [])]
    return " ".join(str(text) for text in texts if text).replace("\x00", "")[:_MESSAGE_MAX]


def _encrypted_for(key: Mapping[str, Any], content: bytes) -> bytes:
    """For the owner of a certificate (RSA-OAEP with SHA-256)."""
    from Crypto.Cipher import PKCS1_OAEP  # loaded where a document is sent
    from Crypto.Hash import SHA256
    from Crypto.PublicKey import RSA

    try:
        public = RSA.import_key(base64.b64decode(str(key["certificate"])))
    except (ValueError, IndexError, TypeError):
        raise ProviderError(ErrorCode.MALFORMED, "KSeF’s certificate can’t be read") from None
    return bytes(PKCS1_OAEP.new(public, hashAlgo=SHA256).encrypt(content))


def _encrypted(key: bytes, start: bytes, content: bytes) -> bytes:
    """AES-256 in CBC, filled up as PKCS #7 has it."""
    from Crypto.Cipher import AES
    from Crypto.Util.Padding import pad

    return bytes(AES.new(key, AES.MODE_CBC, iv=start).encrypt(pad(content, AES.block_size)))


def _digest(content: bytes) -> str:
    return _text(hashlib.sha256(content).digest())


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
