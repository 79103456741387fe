"""API keys, OAuth apps and what OAuth answers, as every interface shows them."""

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from apps.access.access import SESSION
from apps.access.models import AgentCredential, ApiKey, Application, RequestEntry
from apps.core.clock import iso
from apps.core.messages.documents import Document, Id, Time
from apps.stores.models import Store


class ApiKeyDocument(Document, frozen=True, kw_only=True):
    id: Id
    name: str
    mode: str
    key_type: str
    scopes: list[str]
    prefix: str
    last_four: str
    last_used_at: Time | None
    revoked_at: Time | None
    created_at: Time


class ApiKeyWithSecret(ApiKeyDocument, frozen=True, kw_only=True):
    secret: str


class RequestEntryDocument(Document, frozen=True, kw_only=True):
    """One call of the API. `credential_id` is null for people in the dashboard, who are named
    nowhere here."""

    id: Id
    method: str
    path: str
    status: int
    request_id: str
    duration_ms: int
    credential_kind: str
    credential_id: Id | None
    idempotency_key: str | None
    is_replay: bool
    is_body_different: bool
    error_code: str | None
    error_message: str | None
    livemode: bool
    created_at: Time


class OAuthAppDocument(Document, frozen=True, kw_only=True):
    id: Id
    client_id: str
    name: str
    website_url: str | None
    logo_url: str | None
    confidential: bool
    redirect_uris: list[str]
    scopes: list[str]
    has_secret: bool
    active: bool
    created_at: Time


class OAuthAppWithSecret(OAuthAppDocument, frozen=True, kw_only=True):
    """A public app has none."""

    client_secret: str | None


class AgentCredentialWithSecret(Document, frozen=True, kw_only=True):
    id: Id
    token_prefix: str
    mode: str
    livemode: bool
    name: str
    agent_principal: str
    scopes: list[str]
    last_used_at: Time | None
    revoked_at: Time | None
    expires_at: Time | None
    created_at: Time
    secret: str


class OAuthAppNamed(Document, frozen=True, kw_only=True):
    name: str
    client_id: str
    website_url: str | None
    logo_url: str | None


class StoreNamed(Document, frozen=True, kw_only=True):
    id: Id
    name: str


class OAuthConsent(Document, frozen=True, kw_only=True):
    """Data of an app's authorization request, and the stores that the person may give it to."""

    application: OAuthAppNamed
    scopes: list[str]
    livemode: bool
    stores: list[StoreNamed]


class OAuthRedirect(Document, frozen=True, kw_only=True):
    redirect_to: str


class OAuthTokens(Document, frozen=True, kw_only=True):
    access_token: str
    expires_in: int
    token_type: str
    scope: str
    refresh_token: str | UnsetType = UNSET
    refresh_token_expires_in: int | UnsetType = UNSET
    store_id: Id | None
    livemode: bool


class OAuthError(Document, frozen=True, kw_only=True):
    """Of RFC 6749."""

    error: str
    error_description: str | UnsetType = UNSET


class UserInfo(Document, frozen=True, kw_only=True):
    sub: Id
    name: str
    email: str


def entry_document(entry: RequestEntry) -> RequestEntryDocument:
    """The entry must have been read by apps.access.request_log, which says whether its body is
    another."""
    is_person = entry.credential_kind == SESSION
    return RequestEntryDocument(
        id=str(entry.pk),
        method=entry.method,
        path=entry.path,
        status=entry.status,
        request_id=entry.request_id,
        duration_ms=entry.duration_ms,
        credential_kind=entry.credential_kind,
        credential_id=None
        if is_person or entry.credential_id is None
        else str(entry.credential_id),
        idempotency_key=entry.idempotency_key or None,
        is_replay=entry.is_replay,
        is_body_different=entry.is_body_different,
        error_code=entry.error_code or None,
        error_message=entry.error_message or None,
        livemode=entry.is_live,
        created_at=iso(entry.created_at),
    )


def key_document(key: ApiKey) -> ApiKeyDocument:
    return ApiKeyDocument(
        id=str(key.pk),
        name=key.name,
        mode=key.mode,
        key_type=key.key_type,
        scopes=key.scopes,
        prefix=key.prefix,
        last_four=key.last_four,
        last_used_at=iso(key.last_used_at),
        revoked_at=iso(key.revoked_at),
        created_at=iso(key.created_at),
    )


def key_with_secret(key: ApiKey, secret: str) -> ApiKeyWithSecret:
    return ApiKeyWithSecret(**asdict(key_document(key)), secret=secret)


def app_document(app: Application) -> OAuthAppDocument:
    return OAuthAppDocument(
        id=str(app.pk),
        client_id=app.client_id,
        name=app.name,
        website_url=app.website_url or None,
        logo_url=app.logo_url or None,
        confidential=app.client_type == Application.CLIENT_CONFIDENTIAL,
        redirect_uris=app.redirect_uris.split(),
        scopes=app.scopes,
        has_secret=bool(app.client_secret),
        active=app.is_active,
        created_at=iso(app.created),
    )


def app_with_secret(app: Application, secret: str | None) -> OAuthAppWithSecret:
    return OAuthAppWithSecret(**asdict(app_document(app)), client_secret=secret)


def app_named(app: Application) -> OAuthAppNamed:
    links = {"website_url": app.website_url or None, "logo_url": app.logo_url or None}
    return OAuthAppNamed(name=app.name, client_id=app.client_id, **links)


def store_named(store: Store) -> StoreNamed:
    return StoreNamed(id=str(store.pk), name=store.name)


def agent_with_secret(row: AgentCredential, secret: str) -> AgentCredentialWithSecret:
    return AgentCredentialWithSecret(
        id=str(row.pk),
        token_prefix=row.token_prefix,
        mode=row.mode,
        livemode=row.is_live,
        name=row.name,
        agent_principal=row.principal,
        scopes=row.scopes,
        last_used_at=iso(row.last_used_at),
        revoked_at=iso(row.revoked_at),
        expires_at=iso(row.expires_at),
        created_at=iso(row.created_at),
        secret=secret,
    )
