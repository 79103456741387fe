"""Deliveries: verified, or refused. `Service-Signature` is `t=<unix seconds>,v1=<hex>`, where the
hex is the HMAC-SHA256 of `t`, a dot and the body, keyed with the whole secret."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import TYPE_CHECKING

from .decoding import decode
from .later import LazyModule

if TYPE_CHECKING:
    from .generated import models
else:
    models = LazyModule(".generated.models")

TOLERANCE_SECONDS = 300
_TIME = re.compile(r"[0-9]{1,12}")


class VerificationError(Exception):
    """A delivery that isn't genuine, or is too old. Answer it with 400."""


def verify(
    payload: bytes | str, header: str | None, secret: str, tolerance: float = TOLERANCE_SECONDS
) -> models.WebhookEvent:
    """The event of a delivery, once its signature is verified; raises VerificationError, and
    TypeError or ValueError when it is called without a raw body or a secret.

    `payload` is the body exactly as it came, `header` is `Service-Signature`, and `tolerance` how
    many seconds the delivery's time may be from now.
    """
    if not secret:
        raise ValueError(
            "The signing secret is missing: pass the endpoint's secret, which begins with whsec_"
        )
    body = _raw(payload)
    moment, signatures = _parts(header or "")

    expected = signature(body, secret, moment).encode()
    genuine = [hmac.compare_digest(expected, one.encode()) for one in signatures]
    if not any(genuine):
        raise VerificationError("No signature of the delivery fits its body and the secret")
    if abs(time.time() - moment) > tolerance:
        raise VerificationError("The delivery's time is outside of the tolerance")

    try:
        told = json.loads(body)
    except ValueError as error:
        raise VerificationError("The delivery isn't JSON") from error
    if not isinstance(told, dict):
        raise VerificationError("The delivery isn't an event")
    event: models.WebhookEvent = decode(models.WebhookEvent, told)
    return event


def _raw(payload: object) -> bytes:
    if isinstance(payload, str):
        return payload.encode()
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return bytes(payload)
    if payload is None:
        raise TypeError("The delivery has no body: pass the raw body")
    raise TypeError(
        "The raw body is needed, not the parsed one: pass the bytes as they came, before JSON was"
        " parsed"
    )


def sign(payload: bytes, secret: str, moment: int) -> str:
    """The header of a delivery, for tests and for what forwards events."""
    return f"t={moment},v1={signature(payload, secret, moment)}"


def signature(payload: bytes, secret: str, moment: int) -> str:
    return hmac.new(secret.encode(), f"{moment}.".encode() + payload, hashlib.sha256).hexdigest()


def _parts(header: str) -> tuple[int, list[str]]:
    """Time and signatures; there may be several of these."""
    pairs = [part.strip().partition("=") for part in header.split(",")]
    moments = [value for name, _, value in pairs if name == "t"]
    if not moments or not _TIME.fullmatch(moments[0]):
        raise VerificationError("The header Service-Signature is missing or malformed")
    return int(moments[0]), [value for name, _, value in pairs if name == "v1"]
