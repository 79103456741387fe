"""Making, revoking and recognising credentials. A credential is shown once; only its hash is kept.

Mode and store come from the credential's row and from nowhere else.
"""

import base64
import binascii
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.db import models, transaction

from apps.access import credentials, operations, rights, scopes, waiting_period
from apps.access.access import AGENT, OAUTH, PUBLISHABLE, SECRET, Access
from apps.access.models import AccessToken, AgentCredential, ApiKey, KeyType
from apps.core import clock
from apps.core.db import tenancy
from apps.core.db.sql import Narrowing, Statement, insert
from apps.core.errors import Failure, RefusalKind
from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.models import Member, Store, User
from apps.stores.roles import scopes_of

# In the environment of a call that the service makes itself for a language model: no header can
# set it. Agents' paths then take an app's token for the app's agent.
FOR_MODELS = "tillgate.for_models"
_USED_RESOLUTION = timedelta(minutes=1)
_CREDENTIAL_LENGTH_MAX = 512


class Unauthenticated(Failure):
    kind = RefusalKind.UNAUTHENTICATED
    code = "authentication_required"
    message = "Authentication required"

    challenge = "Bearer"


class InvalidApiKey(Unauthenticated):
    code = "invalid_api_key"
    message = "Invalid API key"


class InvalidToken(Unauthenticated):
    code = "invalid_token"
    message = "Invalid access token"


class AgentCredentialRequired(Unauthenticated):
    code = "agent_credential_required"
    message = "Agent credential required"


class InvalidAgentCredential(Unauthenticated):
    code = "invalid_agent_credential"
    message = "Invalid agent credential"


def check_may_see_credentials(access: Access) -> None:
    """Refuses people who may not see keys and apps. Raises what operations.check does."""
    operations.check(access, operations.CREDENTIALS_SEE)


@dataclass(frozen=True)
class KeyOfClient:
    """A key that its client has made: the client's id, and the hash that its calls are known by."""

    client_id: str
    digest: bytes


def create_api_key(
    store: Store,
    mode: str,
    *,
    name: str = "",
    key_type: str = KeyType.SECRET,
    scope_names: Iterable[str] | None = None,
    by: Access | None = None,
    client: KeyOfClient | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its secret text, with at most what its maker may; None is the operator. A
    `client` has the secret already: the text is its id.

    Without `scope_names` it has the default scopes that the maker holds. Publishable keys have no
    scopes but their one path. Raises Failure on unknown scopes, or what rights.check_grant raises.
    """
    check_mode(mode)
    if key_type not in KeyType.values:
        raise Failure("key_type must be secret or publishable", field="key_type")
    is_secret = key_type == KeyType.SECRET
    chosen = _chosen(by, scope_names, scopes.DEFAULT) if is_secret else []
    unknown = [scope for scope in chosen if scope not in scopes.ALL]
    if unknown:
        raise Failure(
            Worded("scopes contains unknown scopes: {unknown}", unknown=", ".join(unknown)),
            field="scopes",
        )
    rights.check_grant(by, mode, chosen, operations.KEY_CREATE, operations.GUARDED_KEY_CREATE)
    until = waiting_period.credential_waits(by, operations.GUARDED_KEY_CREATE, chosen, mode)
    prefixes = credentials.SECRET_PREFIXES if is_secret else credentials.PUBLISHABLE_PREFIXES
    text = credentials.mint(prefixes[mode]) if client is None else client.client_id
    with transaction.atomic():
        key = ApiKey(
            user=by.user if by is not None else None,
            store=store,
            mode=mode,
            name=name,
            key_type=key_type,
            secret_hash=credentials.digest(text) if client is None else client.digest,
            prefix=text[:12],
            last_four=text[-4:],
            scopes=chosen,
            created_at=clock.real_now(),
            sends_anywhere_from=until,
        )
        insert(key)
        waiting_period.tell_credential(
            by,
            operations.GUARDED_KEY_CREATE,
            key.pk,
            name or f"…{key.last_four}",
            chosen,
            mode=mode,
            until=until,
        )
        audit.record(
            "api_key.created",
            store=store,
            mode=mode,
            target=key,
            name=name,
            details={
                "type": key_type,
                "scopes": chosen,
                **credentials.noted(key.secret_hash, key.user_id, until),
            },
        )
    return key, text


def revoke_api_key(key: ApiKey, at: datetime, *, by: Access | None = None) -> None:
    """The key stops working with the next request; revoking twice changes nothing."""
    operations.check(by, operations.KEY_REVOKE)
    with transaction.atomic():
        if ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=at):
            audit.record(
                "api_key.revoked",
                store=key.store_id,
                mode=key.mode,
                target=key,
                name=key.name or f"…{key.last_four}",
            )


def create_agent_credential(
    store: Store,
    mode: str,
    *,
    name: str = "",
    principal: str = "",
    scope_names: Iterable[str] | None = None,
    by: Access | None = None,
) -> tuple[AgentCredential, str]:
    """A new agent credential and its secret text, with at most what its maker may.

    All eight agent scopes that the maker holds, unless some are named. Raises what create_api_key
    raises.
    """
    check_mode(mode)
    chosen = _chosen(by, scope_names, scopes.AGENT)
    unknown = [scope for scope in chosen if scope not in scopes.AGENT]
    if unknown:
        raise Failure(
            Worded("scopes contains unknown scopes: {unknown}", unknown=", ".join(unknown)),
            field="scopes",
        )
    rights.check_grant(by, mode, chosen, operations.AGENT_CREATE, operations.GUARDED_AGENT_CREATE)
    until = waiting_period.credential_waits(by, operations.GUARDED_AGENT_CREATE, chosen, mode)
    text = credentials.mint(credentials.AGENT_PREFIXES[mode])
    with transaction.atomic():
        row = AgentCredential.objects.create(
            user=by.user if by is not None else None,
            store=store,
            mode=mode,
            name=name,
            principal=principal or f"agent:{uuid.uuid4()}",
            secret_hash=credentials.digest(text),
            token_prefix=text[:16],
            last_four=text[-4:],
            scopes=chosen,
            created_at=clock.real_now(),
            sends_anywhere_from=until,
        )
        waiting_period.tell_credential(
            by,
            operations.GUARDED_AGENT_CREATE,
            row.pk,
            name or f"…{row.last_four}",
            chosen,
            mode=mode,
            until=until,
        )
        audit.record(
            "agent_credential.created",
            store=store,
            mode=mode,
            target=row,
            name=name,
            details={
                "scopes": chosen,
                **credentials.noted(row.secret_hash, row.user_id, until),
            },
        )
    return row, text


def revoke_agent_credential(
    row: AgentCredential, at: datetime, *, by: Access | None = None
) -> None:
    """The agent loses access with its next request; revoking twice changes nothing."""
    operations.check(by, operations.AGENT_REVOKE)
    with transaction.atomic():
        if AgentCredential.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=at):
            audit.record(
                "agent_credential.revoked",
                store=row.store_id,
                mode=row.mode,
                target=row,
                name=row.name or row.token_prefix,
            )


def revoke_by_link(id: uuid.UUID, until: datetime) -> bool:
    """By an owner's link: a key or agent that a person has made stops working. False when it does
    not any more, or the link is over."""
    now = clock.real_now()
    if until <= now:
        return False
    key = ApiKey.objects.filter(pk=id, revoked_at=None).first()
    if key is not None:
        revoke_api_key(key, now)
        return True
    agent = AgentCredential.objects.filter(pk=id, revoked_at=None).first()
    if agent is not None:
        revoke_agent_credential(agent, now)
    return agent is not None


def _chosen(
    by: Access | None, scope_names: Iterable[str] | None, default: Iterable[str]
) -> list[str]:
    return rights.held_of(by, default) if scope_names is None else list(dict.fromkeys(scope_names))


def check_mode(mode: str) -> None:
    if mode not in Mode.values:
        raise Failure("mode must be live or test")


def credential_from(authorization: str) -> str:
    """The credential in an Authorization header: Bearer, or Basic with the key as user name and no
    password."""
    if not authorization:
        raise Unauthenticated
    scheme, _, rest = authorization.partition(" ")
    if scheme.lower() == "basic":
        try:
            user, _, password = base64.b64decode(rest, validate=True).decode("ascii").partition(":")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            raise InvalidApiKey from None
        if password or not user.startswith(credentials.KEY_PREFIXES):
            raise InvalidApiKey
        return user
    if scheme.lower() != "bearer" or not rest or len(rest) > _CREDENTIAL_LENGTH_MAX:
        raise InvalidToken
    return rest


def authenticate(credential: str, *, for_agents: bool = False) -> Access:
    """The access that a credential gives on the merchant's surface, or on the agents' one. Raises
    Unauthenticated."""
    return _agent_access(credential) if for_agents else _key_access(credential)


def _key_access(credential: str) -> Access:
    if credential.startswith(tuple(credentials.AGENT_PREFIXES.values())):
        raise InvalidApiKey
    if credential.startswith(credentials.OAUTH_ACCESS_PREFIX):
        return _token_access(credential)
    prefix = next(
        (
            key_prefix
            for key_prefix in credentials.KEY_PREFIXES
            if credential.startswith(key_prefix)
        ),
        None,
    )
    if prefix is None:
        raise InvalidApiKey if credential.startswith(("svc_sk", "svc_pk")) else InvalidToken
    if not credentials.is_well_formed(credential, prefix):
        raise InvalidApiKey
    access = access_of_key(credential)
    if access is None:
        raise InvalidApiKey
    return access


def access_of_key(secret: str) -> Access | None:
    """The access of the key with this secret, which may also be a paired client's."""
    match = _look_up(ApiKey, secret)
    if match is None:
        return None
    key, store, role = match
    kind = SECRET if key.key_type == KeyType.SECRET else PUBLISHABLE
    return Access(
        store=store,
        mode=key.mode,
        kind=kind,
        scopes=frozenset(key.scopes) if key.user_id is None else rights.left_of(key.scopes, role),
        caller=kind,
        credential_id=key.pk,
        maker_id=key.user_id,
        label=key.name or f"…{key.last_four}",
        sends_anywhere_from=key.sends_anywhere_from,
    )


def active_token(credential: str) -> AccessToken:
    """The OAuth token that is presented, with its app, person and store. Raises InvalidToken."""
    return _token_and_role(credential)[0]


def _token_and_role(credential: str) -> tuple[AccessToken, str | None]:
    """The token, and what its person is in its store now."""
    if not credentials.is_well_formed(credential, credentials.OAUTH_ACCESS_PREFIX):
        raise InvalidToken
    rows = AccessToken.objects.filter(
        token_checksum=credentials.digest(credential).hex(),
        revoked_at=None,
        application__is_active=True,
    )
    token: AccessToken | None = rows.select_related("store", "application", "user").first()
    if token is None or token.expires <= clock.real_now() or not token.user.is_active:
        raise InvalidToken
    role = None if token.store is None else _role_in(token.store_id, token.user_id)
    if token.store is not None and role is None:
        raise InvalidToken
    _note_use(token)
    return token, role


def _role_in(store_id: uuid.UUID, user_id: uuid.UUID) -> str | None:
    rows = Member.objects.filter(store_id=store_id, user_id=user_id, store__deleted_at=None)
    return rows.values_list("role", flat=True).first()


def _token_access(credential: str) -> Access:
    """Access of a token, limited to the present rights of the person who granted it.

    One caller with the store's secret keys: a replay of an idempotency key finds what either made.
    """
    token, role = _token_and_role(credential)
    if token.store is None or role is None:
        raise InvalidToken
    tenancy.narrow(token.store, modes=[token.mode])
    return Access(
        store=token.store,
        mode=token.mode,
        kind=OAUTH,
        scopes=frozenset(token.scope.split()) & scopes_of(role, frozenset(scopes.ALL)),
        caller=SECRET,
        maker_id=token.user_id,
        label=token.application.name,
        role=role,
        sends_anywhere_from=token.sends_anywhere_from,
    )


def _agent_access(credential: str) -> Access:
    prefix = next(
        (
            agent_prefix
            for agent_prefix in credentials.AGENT_PREFIXES.values()
            if credential.startswith(agent_prefix)
        ),
        None,
    )
    if prefix is None:
        raise AgentCredentialRequired
    match = (
        _look_up(AgentCredential, credential)
        if credentials.is_well_formed(credential, prefix)
        else None
    )
    if match is None:
        raise InvalidAgentCredential
    return access_of_agent(*match)


def access_of_agent(row: AgentCredential, store: Store, role: str | None) -> Access:
    """The access of an agent whose maker, a person, has `role` in the store. Raises
    InvalidAgentCredential."""
    if row.expires_at is not None and row.expires_at <= clock.real_now():
        raise InvalidAgentCredential
    permitted = frozenset(row.scopes)
    if (
        row.application_id is not None
    ):  # made by an app: it may no more than who let the app in may now
        if role is None:
            raise InvalidAgentCredential
        permitted &= scopes_of(role, permitted)
    elif row.user_id is not None:
        permitted = rights.left_of(permitted, role)
    return Access(
        store=store,
        mode=row.mode,
        kind=AGENT,
        scopes=permitted,
        caller=f"agent:{row.pk}",
        credential_id=row.pk,
        maker_id=row.user_id,
        label=row.name or row.token_prefix,
        sends_anywhere_from=row.sends_anywhere_from,
    )


_MAKERS_ROLE = (
    f'SELECT m.role FROM "{Member._meta.db_table}" m '  # noqa: S608
    f'JOIN "{User._meta.db_table}" u ON u.id = m.user_id '
    "WHERE m.store_id = k.store_id AND m.user_id = k.user_id AND u.is_active"
)
_JSON_OF_STORE = [
    field.attname for field in Store._meta.concrete_fields if isinstance(field, models.JSONField)
]


@cache
def _look_up_sql(model: type[models.Model]) -> tuple[Narrowing, list[str], list[str]]:
    """SQL for a credential with its store and its maker's present role, compiled once: the ORM
    would build it every time."""
    fields, store_fields = (
        [field.attname for field in table._meta.concrete_fields] for table in (model, Store)
    )
    return Narrowing(_look_up_text(model), stays=True), fields, store_fields


def _look_up_text(model: type[models.Model]) -> str:
    names = [f'k."{field.column}"' for field in model._meta.concrete_fields] + [
        f's."{field.column}"' for field in Store._meta.concrete_fields
    ]
    return (
        f"SELECT {', '.join(names)}, ({_MAKERS_ROLE}), {Narrowing.COLUMN} "  # noqa: S608
        f'FROM "{model._meta.db_table}_by_hash"(%(digest)s) k '
        f'JOIN "{Store._meta.db_table}" s ON s.id = k.store_id '
        "WHERE k.revoked_at IS NULL AND s.deleted_at IS NULL"
    )


def _look_up(model: Any, credential: str) -> tuple[Any, Store, str | None] | None:
    statement, fields, store_fields = _look_up_sql(model)
    rows = statement.rows(digest=credentials.digest(credential))
    if not rows:
        return None
    row = rows[0]
    credential_row = model.from_db("default", fields, row[: len(fields)])
    store = Store.from_db("default", store_fields, row[len(fields) : -2])
    for name in _JSON_OF_STORE:  # a bare cursor hands JSON over as text
        setattr(store, name, json.loads(getattr(store, name)))
    statement.narrow(store, credential_row.mode)
    _note_use(credential_row)
    return credential_row, store, row[-2]


def _note_use(row: Any) -> None:
    """Keep `last_used_at` to the minute: a write per request would be most of the request's
    cost."""
    at = clock.real_now()
    if row.last_used_at is None or row.last_used_at < at - _USED_RESOLUTION:
        model: type[models.Model] = type(row)
        _use_of(model).rows(id=row.pk, at=at)


@cache
def _use_of(model: type[models.Model]) -> Statement:
    table = model._meta.db_table
    return Statement(
        f'UPDATE "{table}" SET last_used_at = %(at)s WHERE id = %(id)s RETURNING id'  # noqa: S608  # our own table
    )
