"""A credential carries its maker: rights that the maker has lost, it has lost, too. Its store's
owners hear of that and can take it over.

What an app was let in for ends with the person who did; an owner lets it in again instead.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from apps.access import credentials, operations, rights, waiting_period
from apps.access.access import Access
from apps.access.models import AccessToken, AgentCredential, ApiKey, KeyType, RefreshToken
from apps.core import clock
from apps.core.errors import NotFound
from apps.core.text.wording import Worded
from apps.stores import person_mail
from apps.stores.auditing import audit
from apps.stores.models import Member, Role, Store, User

Credential = ApiKey | AgentCredential


@dataclass(frozen=True)
class ReducedCredential:
    """A credential, as its owners know it, and what it may no more."""

    name: str
    mode: str
    lost: list[str]


def lost_by(rows: Iterable[Credential], store_id: UUID) -> dict[UUID, list[str]]:
    """Scopes of each credential that its maker no longer holds; credentials that lack nothing are
    left out."""
    members = Member.objects.filter(store_id=store_id, user__is_active=True)
    role_of = dict(members.values_list("user_id", "role"))
    lost = {
        row.pk: _lost(row.scopes, role_of.get(row.user_id))
        for row in rows
        if row.user_id is not None
    }
    return {id: scopes for id, scopes in lost.items() if scopes}


def _lost(granted: Iterable[str], role: str | None) -> list[str]:
    remaining = rights.left_of(granted, role)
    return [scope for scope in granted if scope not in remaining]


def tell_owners(store: Store, user: User, before: str | None, after: str | None) -> None:
    """A person's role has changed, or ended: write to the owners what that took from what they had
    made."""
    shrunk = [row for row in _shrunk(store, user, before, after) if row.lost]
    if not shrunk:
        return
    context = {
        "person": user.name or user.email,
        "role": Role(after).label.lower() if after else "",
        "store": store.name,
        "lines": [
            (credential.name, credential.mode, ", ".join(credential.lost)) for credential in shrunk
        ],
    }
    at = clock.iso(clock.real_now())
    for owner in Member.objects.filter(
        store=store, role=Role.OWNER, user__is_active=True
    ).select_related("user"):
        key = f"credentials_shrunk:{store.pk}:{user.pk}:{owner.user_id}:{at}"
        person_mail.send(owner.user, key=key, template="credentials_shrunk", context=context)


def _shrunk(
    store: Store, user: User, before: str | None, after: str | None
) -> list[ReducedCredential]:
    """Scopes that the person's credentials lost by a change of role."""

    def between(scopes: Iterable[str]) -> list[str]:
        return [scope for scope in _lost(scopes, after) if scope not in _lost(scopes, before)]

    is_own = Q(store=store, user=user)
    credentials = [
        ReducedCredential(Worded("API key {name}", name=_name(row)), row.mode, between(row.scopes))
        for row in ApiKey.objects.filter(is_own, revoked_at=None)
    ]
    agents = AgentCredential.objects.filter(is_own, application=None, revoked_at=None)
    credentials += [
        ReducedCredential(Worded("Agent {name}", name=_name(row)), row.mode, between(row.scopes))
        for row in agents
    ]
    now = clock.real_now()
    tokens = list(
        AccessToken.objects.filter(is_own, revoked_at=None, expires__gt=now).select_related(
            "application"
        )
    )
    tokens += list(
        RefreshToken.objects.filter(
            is_own, revoked=None, replaced_at=None, expires_at__gt=now
        ).select_related("application")
    )
    apps = {token.token_family: token for token in tokens}
    credentials += [
        ReducedCredential(
            Worded("App {name}", name=token.application.name),
            token.mode,
            between(token.scope.split()),
        )
        for token in apps.values()
    ]
    return credentials


def take_over(access: Access, row: Credential) -> str:
    """The owner answers for it from now on: it may again what it was given, with the new secret
    that is returned. The one that its maker knows stops working at once.

    Raises NotFound when it has been revoked, or what operations.check does.
    """
    operations.check(access, operations.TAKE_OVER, mode=row.mode)
    secret, identity = _fresh_secret(row)
    until = waiting_period.credential_waits(access, operations.TAKE_OVER, row.scopes, row.mode)
    with transaction.atomic():
        rows = type(row).objects.filter(pk=row.pk, revoked_at=None)
        if not rows.update(
            user=access.user, last_used_at=None, sends_anywhere_from=until, **identity
        ):
            raise NotFound
        waiting_period.tell_credential(
            access,
            operations.TAKE_OVER,
            row.pk,
            Worded(
                "{name}, which has a new secret and no longer works with the old one",
                name=_name(row),
            ),
            row.scopes,
            mode=row.mode,
            until=until,
        )
        name = "agent_credential" if isinstance(row, AgentCredential) else "api_key"
        audit.record(
            f"{name}.taken_over",
            store=row.store_id,
            mode=row.mode,
            target=row,
            name=_name(row),
            details={
                "scopes": row.scopes,
                **credentials.noted(credentials.digest(secret), access.maker_id, until),
            },
        )
    return secret


def _fresh_secret(row: Credential) -> tuple[str, dict[str, object]]:
    """A secret of the same kind, and the columns that it is known by."""
    if isinstance(row, AgentCredential):
        prefix, column, length = credentials.AGENT_PREFIXES[row.mode], "token_prefix", 16
    else:
        is_secret = row.key_type == KeyType.SECRET
        prefixes = credentials.SECRET_PREFIXES if is_secret else credentials.PUBLISHABLE_PREFIXES
        prefix, column, length = prefixes[row.mode], "prefix", 12
    text = credentials.mint(prefix)
    digest = credentials.digest(text)
    return text, {"secret_hash": digest, column: text[:length], "last_four": text[-4:]}


def _name(row: Credential) -> str:
    return row.name or f"…{row.last_four}"
