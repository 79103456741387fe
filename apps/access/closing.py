"""A store closes: every credential that opens it stops working with the next request, for good."""

from datetime import datetime

from apps.access.models import AgentCredential, ApiKey
from apps.access.services import revoke_api_key
from apps.stores.auditing import audit
from apps.stores.models import Store


def revoke_credentials_of(store: Store, at: datetime) -> None:
    """Revoke the keys and agent credentials of both modes. Sub-merchants have no people, so no
    grants of apps."""
    for key in ApiKey.objects.filter(store=store, revoked_at=None):
        revoke_api_key(key, at)
    for row in AgentCredential.objects.filter(store=store, revoked_at=None):
        if AgentCredential.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=at):
            audit.record(
                "agent_credential.revoked",
                store=store,
                mode=row.mode,
                target=row,
                name=row.name or row.token_prefix,
            )
