"""Messages of an off-ramp: signed, fresh, and each accepted once. A message only starts a check: we
then ask the off-ramp for the status of the order."""

import hashlib
import hmac
import json
import re
from datetime import datetime

from django.conf import settings
from django.db import transaction

from apps.core import jobs
from apps.core.db import tenancy
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import is_uuid
from apps.payouts.models import OfframpCallback, Payout

TOLERANCE_SECONDS = 300
PROVIDER = "http"
BODY_MAX = 64 * 1024
ID_MAX = 100
UUID_LENGTH = 36
_HEADER = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", re.ASCII)


class SignatureRefused(Failure):
    kind = RefusalKind.UNAUTHENTICATED
    code = "invalid_signature"
    message = "The signature is missing, wrong or too old"


class NotAMessage(Failure):
    code = "invalid_callback"
    message = "A callback has an id"


def take_callback(raw: bytes, signature: str, at: datetime) -> bool:
    """True if this message is a new one. `at` is machine time. Raises SignatureRefused or
    NotAMessage."""
    _check_signature(raw, signature, at)
    event_id, payout_id = _event_of(raw)
    with tenancy.everyone("the bank's callback names a payout"), transaction.atomic():
        _, is_new = OfframpCallback.objects.get_or_create(
            provider=PROVIDER, event_id=event_id, defaults={"received_at": at}
        )
        if is_new:
            waiting = Payout.objects.filter(provider=PROVIDER, status=Payout.Status.SUBMITTED)
            (waiting.filter(pk=payout_id) if payout_id else waiting).update(asked_at=None)
            jobs.enqueue("payouts.advance")
    return is_new


def _check_signature(raw: bytes, signature: str, at: datetime) -> None:
    secret = settings.OFFRAMP_CALLBACK_SECRET
    match = _HEADER.fullmatch(signature)
    if not secret or match is None or len(raw) > BODY_MAX:
        raise SignatureRefused
    expected = hmac.new(secret.encode(), f"{match[1]}.".encode() + raw, hashlib.sha256).hexdigest()
    if (
        not hmac.compare_digest(expected, match[2])
        or abs(int(at.timestamp()) - int(match[1])) > TOLERANCE_SECONDS
    ):
        raise SignatureRefused


def _event_of(raw: bytes) -> tuple[str, str]:
    """(its id, the payout that its `reference` names; empty when it names none)."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise NotAMessage from None
    event_id = body.get("id") if isinstance(body, dict) else None
    if (
        not isinstance(event_id, str)
        or not event_id.isprintable()
        or not 1 <= len(event_id) <= ID_MAX
    ):
        raise NotAMessage
    payout_id = str(body.get("reference"))[:UUID_LENGTH]
    return event_id, payout_id if is_uuid(payout_id) else ""
