"""The apps that are authorized for a store in a mode: which, by whom, for what, since when; and
revoking them."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.access import operations
from apps.access.access import Access
from apps.access.authorization.tokens import revoke_family
from apps.access.models import AccessToken, AgentCredential, Application, Grant, RefreshToken
from apps.core import clock
from apps.core.errors import NotFound
from apps.stores.auditing import audit
from apps.stores.models import User


@dataclass(frozen=True)
class Granted:
    """A consent that still gives an app something."""

    family: uuid.UUID
    application: Application
    user: User
    scopes: list[str]
    since: datetime
    last_used_at: datetime | None
    has_agent: bool


def granted(access: Access, at: datetime) -> list[Granted]:
    """Of the chosen store and mode, the newest first."""
    here = {"store_id": access.store_id, "mode": access.mode}
    tokens = AccessToken.objects.filter(
        **here, revoked_at=None, expires__gt=at, application__is_active=True
    )
    refreshes = RefreshToken.objects.filter(
        **here, revoked=None, replaced_at=None, expires_at__gt=at, application__is_active=True
    )
    families = {
        *tokens.values_list("token_family", flat=True),
        *refreshes.values_list("token_family", flat=True),
    }
    used = dict(
        AccessToken.objects.filter(token_family__in=families)
        .values_list("token_family")
        .annotate(Max("last_used_at"))
    )
    agents = AgentCredential.objects.visible_to(access).filter(
        application__isnull=False, revoked_at=None
    )
    with_agent = set(agents.values_list("application_id", "user_id"))
    codes = (
        Grant.objects.filter(**here, token_family__in=families)
        .select_related("application", "user")
        .order_by("-used_at")
    )
    return [
        Granted(
            family=code.token_family,
            application=code.application,
            user=code.user,
            scopes=code.scope.split(),
            since=code.used_at or code.created,
            last_used_at=used.get(code.token_family),
            has_agent=(code.application_id, code.user_id) in with_agent,
        )
        for code in codes
    ]


def find(access: Access, family: str, at: datetime) -> Granted:
    """One grant of a family. Raises NotFound."""
    grant = next((row for row in granted(access, at) if str(row.family) == family), None)
    if grant is None:
        raise NotFound
    return grant


def revoke_by_link(family: uuid.UUID, until: datetime) -> bool:
    """By an owner's link: a consent that a person has given ends, whether its code was used or not.
    False when it has ended already, or the link is over."""
    now = clock.real_now()
    with transaction.atomic():
        code = (
            Grant.objects.select_for_update(of=("self",))
            .select_related("application")
            .filter(token_family=family)
            .first()
        )
        if code is None or until <= now:
            return False
        tokens = AccessToken.objects.filter(token_family=family, revoked_at=None, expires__gt=now)
        refreshes = RefreshToken.objects.filter(token_family=family, revoked=None)
        is_open = (
            (code.used_at is None and code.expires > now)
            or tokens.exists()
            or refreshes.filter(replaced_at=None, expires_at__gt=now).exists()
        )
        if not is_open:
            return False
        if code.used_at is None:
            Grant.objects.filter(pk=code.pk).update(used_at=now)
        revoke_family(family, now)
        audit.record(
            "oauth_app.let_out",
            store=code.store_id,
            mode=code.mode,
            target=code.application,
            name=code.application.name,
        )
    return True


def revoke(access: Access, grant: Granted, at: datetime) -> None:
    """The app is out with its next request, and so is the agent that it made a credential for."""
    operations.check(access, operations.GRANT_REVOKE)
    with transaction.atomic():
        revoke_family(grant.family, at)
        audit.record(
            "oauth_app.let_out",
            store=access.store,
            mode=access.mode,
            target=grant.application,
            name=grant.application.name,
        )
