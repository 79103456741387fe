"""Approval of a row before it is signed, under a key that the web doesn't hold, over everything
that the row would do.

Who can only write rows can make none, and can change nothing of what was approved. The first key
approves, each is accepted.
"""

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Sequence

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import reservations

_SWEEP = OutgoingTransaction.Purpose.SWEEP


def approve(row: OutgoingTransaction) -> str:
    """The approval of a row as it is. Raises ImproperlyConfigured in a process without a
    key."""
    keys = _keys()
    if not keys:
        raise ImproperlyConfigured(
            "APPROVAL_KEYS is missing: this process may not ask for transactions"
        )
    key_id, key = next(iter(keys.items()))
    return f"{key_id}:{_seal(key, row)}"


def is_approved(row: OutgoingTransaction) -> bool:
    """True if one of the keys has approved exactly this."""
    key_id, _, seal = row.approval.partition(":")
    key = _keys().get(key_id)
    return key is not None and hmac.compare_digest(seal, _seal(key, row))


def refusals(rows: Sequence[OutgoingTransaction]) -> dict[uuid.UUID, Reason]:
    """Why some of these are not signed but shown to a person: nobody approved them, or the books
    know nothing of them."""
    unapproved = {row.pk: Reason.NOT_APPROVED for row in rows if not is_approved(row)}
    return unapproved | reservations.refusals([row for row in rows if row.pk not in unapproved])


def _seal(key: bytes, row: OutgoingTransaction) -> str:
    """Every column that decides what is signed and for whom. What the signer and the sender write
    of it isn't among them."""
    emptied = row.from_address if row.purpose == _SWEEP else ""
    place = [
        str(row.pk),
        row.purpose,
        row.reference,
        row.mode,
        str(row.store_id or ""),
        row.chain_id,
        row.asset_id,
    ]
    content = [
        *place,
        row.to_address,
        str(row.amount_atomic),
        row.call_data,
        row.receives_asset_id or "",
        emptied,
    ]
    return hmac.new(key, json.dumps(content).encode(), hashlib.sha256).hexdigest()


def _keys() -> dict[str, bytes]:
    pairs = (entry.partition(":")[::2] for entry in settings.APPROVAL_KEYS)
    return {key_id: base64.urlsafe_b64decode(key) for key_id, key in pairs}
