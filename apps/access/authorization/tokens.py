"""End of a consent: its tokens and the agent credentials that were made with them."""

import uuid
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef

from apps.access.models import AccessToken, AgentCredential, RefreshToken
from apps.access.scopes import AGENTS
from apps.core.db import tenancy


def revoke_family(family: uuid.UUID, at: datetime) -> None:
    """End every token that one consent led to, and the agent credential that was made with them."""
    AccessToken.objects.filter(token_family=family, revoked_at=None).update(revoked_at=at)
    RefreshToken.objects.filter(token_family=family, revoked=None).update(revoked=at)
    token = AccessToken.objects.filter(token_family=family).first()
    if token is not None:
        end_orphans(
            at, application_id=token.application_id, store_id=token.store_id, mode=token.mode
        )


def end_orphans(at: datetime, **of: Any) -> None:
    """Agent credentials made by apps end when no token is left with which the app could make one
    for that person."""
    same = {name: OuterRef(name) for name in ("application", "user", "store", "mode")}
    access = AccessToken.objects.filter(
        **same, revoked_at=None, expires__gt=at, scope__contains=AGENTS
    )
    refresh = RefreshToken.objects.filter(
        **same, revoked=None, replaced_at=None, expires_at__gt=at, scope__contains=AGENTS
    )
    orphans = AgentCredential.objects.filter(**of, application__isnull=False, revoked_at=None)
    with tenancy.everyone("tokens are found by their hash"):
        orphans.filter(~Exists(access), ~Exists(refresh)).update(revoked_at=at)
