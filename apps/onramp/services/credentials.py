"""Keeping a network's secrets: sealed, bound to their row and column, named in the audit log and never shown again."""

from django.db import transaction

from apps.core import clock, crypto
from apps.onramp.models import Credential
from apps.stores import audit

_SHOWN = 8


@transaction.atomic
def keep_secrets(row: Credential, *, api_key: str = "", webhook_secret: str = "") -> Credential:
    """Save the row; an empty secret leaves the one that is stored."""
    is_new = row.created_at is None
    if is_new:
        row.created_at = clock.real_now()
    if api_key:
        row.sealed_api_key = crypto.encrypt(api_key, row.place("sealed_api_key"))
        row.api_key_hint = f"{api_key[:_SHOWN]}…" if len(api_key) > 2 * _SHOWN else "…"
    if webhook_secret:
        row.sealed_webhook_secret = crypto.encrypt(webhook_secret, row.place("sealed_webhook_secret"))
    row.save()
    changed = [name for name, value in (("api_key", api_key), ("webhook_secret", webhook_secret)) if value]
    action = "card_credential.created" if is_new else "card_credential.changed"
    told = {"provider": row.provider, "changed": changed, "is_active": row.is_active}
    audit.record(action, store=row.store_id, mode=row.mode, target=row, name=str(row), details=told)
    return row
