"""The body of a delivery and its signatures. An event always gives the same bytes, so that every
attempt sends the same.

`Service-Signature` is keyed with the whole secret as text, the Standard Webhooks headers with what
its base64 part decodes to.
"""

import base64
import hashlib
import hmac
import uuid

from django.conf import settings
from msgspec import UNSET, Raw, json

from apps.webhooks.documents import EventData, EventDocument

USER_AGENT = "Tillgate-Webhooks/1.0"


def secret_place(endpoint_id: uuid.UUID) -> str:
    """Place of a stored secret; it decrypts nowhere else."""
    return f"webhooks_endpoint:{endpoint_id}:sealed_secret"


def body(
    *,
    event_id: uuid.UUID,
    type: str,
    created: int,
    is_live: bool,
    api_version: str,
    account_id: uuid.UUID | None,
    object_json: str,
) -> bytes:
    """The envelope. `created` is in unix seconds; `object_json` is `data.object` as PostgreSQL
    writes it, in one fixed order."""
    envelope = EventDocument(
        id=str(event_id),
        type=type,
        created=created,
        livemode=is_live,
        api_version=api_version,
        account=UNSET if account_id is None else str(account_id),
        data=EventData(object=Raw(object_json)),
    )
    return json.encode(envelope)


def newest_version() -> str:
    return str(settings.API_VERSION)


def plain_headers(
    delivery_id: uuid.UUID, event_id: uuid.UUID, event_type: str, attempt: int
) -> dict[str, str]:
    """Those that anybody could write."""
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "Service-Delivery-Id": str(delivery_id),
        "Service-Event-Id": str(event_id),
        "Service-Event-Type": event_type,
        "Service-Delivery-Attempt": str(attempt),
    }


def signatures(secret: str, event_id: uuid.UUID, raw: bytes, timestamp: int) -> dict[str, str]:
    """The headers that prove the body. `timestamp` is the machine's time in unix seconds, in test
    mode too."""
    moment = str(timestamp).encode()
    service_signature = hmac.new(secret.encode(), moment + b"." + raw, hashlib.sha256).hexdigest()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    standard_signature = hmac.digest(key, f"{event_id}.".encode() + moment + b"." + raw, "sha256")
    return {
        "Service-Signature": f"t={timestamp},v1={service_signature}",
        "webhook-id": str(event_id),
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(standard_signature).decode()}",
    }
