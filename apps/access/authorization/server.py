"""The OAuth server: authorization code with PKCE and refresh tokens, in the shape of RFC 6749.

The grants are oauthlib's; a request is one transaction, so that a code and a refresh token are used
by one at a time.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from django.conf import settings
from django.db import transaction
from oauthlib.common import Request, add_params_to_uri
from oauthlib.oauth2 import OAuth2Error, WebApplicationServer
from oauthlib.oauth2.rfc6749.errors import AccessDeniedError, FatalClientError, InvalidRequestError
from oauthlib.oauth2.rfc6749.grant_types import AuthorizationCodeGrant
from oauthlib.oauth2.rfc6749.grant_types.authorization_code import code_challenge_method_s256
from oauthlib.oauth2.rfc6749.tokens import BearerToken

from apps.access import operations, rights, scopes, waiting_period
from apps.access.access import Access
from apps.access.authorization.tokens import revoke_family
from apps.access.authorization.validator import (
    Validator,
    checksum,
    has_refresh,
    lifetime_seconds,
    new_access_token,
    new_refresh_token,
)
from apps.access.documents import OAuthError, OAuthTokens
from apps.access.models import AccessToken, Application, RefreshToken
from apps.core import clock
from apps.core.errors import Failure, RefusalKind
from apps.core.models import Mode
from apps.stores import roles
from apps.stores.auditing import audit
from apps.stores.models import Member, Store, User

_ONCE = (
    "livemode",
    "code_challenge",
    "code_challenge_method",
    "code",
    "refresh_token",
    "code_verifier",
    "token",
    "store_id",
    "decision",
)


class OAuthFailure(Failure):
    """A refusal with a code of RFC 6749."""

    kind = RefusalKind.MALFORMED

    def __init__(self, code: str, text: str, *, kind: RefusalKind | None = None) -> None:
        super().__init__(text, code=code, kind=kind)


class UnknownClient(OAuthFailure):
    """The app didn't prove that it is the one it says it is."""

    kind = RefusalKind.UNAUTHENTICATED
    challenge = "Basic"

    def __init__(self) -> None:
        super().__init__("invalid_client", "Client authentication failed")


class Redirected(OAuthFailure):
    """A refusal that the app may read: `redirect_to` is its address with the error and the
    state."""

    redirect_to = ""


@dataclass(frozen=True)
class Consent:
    """An app's request for consent, as a person sees it."""

    application: Application
    scopes: tuple[str, ...]
    mode: str
    redirect_uri: str
    needs_store: bool


class _CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]  # oauthlib has no types
    _code_challenge_methods = {"S256": code_challenge_method_s256}


class _BearerTokens(BearerToken):  # type: ignore[misc]  # oauthlib has no types
    def create_token(self, request: Any, refresh_token: bool = False, **options: Any) -> Any:
        return super().create_token(
            request, refresh_token=refresh_token and has_refresh(request), **options
        )


@cache
def _server() -> Any:
    validator = Validator()
    server = WebApplicationServer(validator)
    grant = _CodeGrant(validator)
    tokens = _BearerTokens(validator, new_access_token, lifetime_seconds, new_refresh_token)
    server.response_types["code"] = server.grant_types["authorization_code"] = grant
    server._default_token_type = tokens
    return server


def read_parameters(text: str) -> tuple[str, dict[str, str]]:
    """A query or form in its plainest spelling, and its parameters. Raises OAuthFailure when one
    is there twice or can't be read."""
    try:
        pairs = parse_qsl(
            text,
            keep_blank_values=True,
            strict_parsing=bool(text),
            errors="strict",
            max_num_fields=100,
        )
    except ValueError:
        raise OAuthFailure("invalid_request", "The parameters can't be read") from None
    names = [name for name, _ in pairs]
    twice = next((name for name in _ONCE if names.count(name) > 1), None)
    if twice is not None:
        raise OAuthFailure("invalid_request", f"Duplicate {twice} parameter")
    if any("\x00" in part for pair in pairs for part in pair):
        raise OAuthFailure("invalid_request", "The parameters can't be read")
    return urlencode(pairs), dict(pairs)


def ask(query: str) -> Consent:
    """Reads the query of an authorization request. Raises Redirected, or OAuthFailure when nobody
    may be redirected."""
    query, parameters = read_parameters(query)
    try:
        scope_names, info = _server().validate_authorization_request(
            _uri("authorize", query), "GET", None, {}
        )
    except FatalClientError as error:
        raise _failure(error) from None
    except OAuth2Error as error:
        raise _redirected(error, error.redirect_uri) from None
    if parameters.get("livemode", "") not in ("true", "false", ""):
        wrong = InvalidRequestError("livemode must be true or false", state=info["state"])
        raise _redirected(wrong, info["redirect_uri"])
    mode = Mode.LIVE if parameters.get("livemode") == "true" else Mode.TEST
    needs_store = any(scope in scopes.ALL for scope in scope_names)
    return Consent(
        info["request"].client, tuple(scope_names), mode, info["redirect_uri"], needs_store
    )


def stores_for(user: User, scope_names: Iterable[str]) -> list[Store]:
    """The stores for which a person may let an app in.

    Those where they may make API keys, and have themselves what the app asks for.
    """
    return [member.store for member in _members(user) if not _beyond(member, scope_names)]


def _members(user: User) -> list[Member]:
    rows = Member.objects.filter(
        user=user, store__deleted_at=None, store__sign_ins_suspended_at=None
    ).select_related("store")
    members = rows.order_by("store__name", "store_id")
    return [member for member in members if roles.may(member.role, roles.DEVELOP)]


def _beyond(member: Member, scope_names: Iterable[str]) -> list[str]:
    """Scopes that an app requests and the person can't give."""
    permitted = roles.scopes_of(member.role, frozenset(scopes.ALL))
    return [scope for scope in scope_names if scope in scopes.ALL and scope not in permitted]


def decide(user: User, query: str, store_id: str, decision: str, *, proof: str) -> str:
    """The address the person is sent to, with a code or the refusal. `proof` is what they have
    shown of a second factor.

    Raises OAuthFailure, or what operations.check refuses with.
    """
    consent = ask(query)
    query, parameters = read_parameters(query)
    if decision not in ("allow", "deny"):
        raise OAuthFailure("invalid_request", "decision must be allow or deny")
    if decision == "deny":
        return _answer(
            consent.redirect_uri, AccessDeniedError(state=parameters.get("state")).twotuples
        )
    member = _member_for(user, consent, store_id)
    store = member.store if member is not None else None
    access = None
    if member is not None:
        operation = (
            operations.GUARDED_GRANT if rights.is_guarded(consent.scopes) else operations.GRANT
        )
        access = Access.for_session(user, member.store, consent.mode, member.role, proof)
        operations.check(access, operation)
    until = waiting_period.credential_waits(
        access, operations.GUARDED_GRANT, consent.scopes, consent.mode
    )
    family = uuid.uuid4()
    grant = {
        "user": user,
        "store": store,
        "mode": consent.mode,
        "token_family": family,
        "sends_anywhere_from": until,
    }
    with transaction.atomic():
        headers, _, _ = _server().create_authorization_response(
            _uri("authorize", query), "GET", None, {}, list(consent.scopes), grant
        )
        waiting_period.tell_credential(
            access,
            operations.GUARDED_GRANT,
            family,
            consent.application.name,
            consent.scopes,
            mode=consent.mode,
            until=until,
        )
        audit.record(
            "oauth_app.let_in",
            store=store,
            mode=consent.mode,
            target=consent.application,
            name=consent.application.name,
            details={"scopes": consent.scopes},
        )
    return _answer(str(headers["Location"]))


def _answer(address: str, parameters: Iterable[tuple[str, str]] = ()) -> str:
    """Redirect address with the issuer in it (RFC 9207), so that an app of several servers can't
    mix them up."""
    return str(add_params_to_uri(address, [*parameters, ("iss", settings.PUBLIC_URL)]))


def _member_for(user: User, consent: Consent, store_id: str) -> Member | None:
    """The person's membership in the chosen store, if it allows everything that is requested."""
    member = next(
        (member_row for member_row in _members(user) if str(member_row.store_id) == store_id), None
    )
    if member is None:
        if store_id or consent.needs_store:
            raise OAuthFailure("invalid_request", "store_id must be a store of yours")
        return None
    beyond = _beyond(member, consent.scopes)
    if beyond:
        raise OAuthFailure("invalid_scope", f"Your role does not allow the scope {beyond[0]}")
    return member


def exchange(form: str, authorization: str) -> tuple[OAuthTokens | OAuthError, int, dict[str, str]]:
    """The answer of the token endpoint: its body, status and headers. Never raises for what a
    client did."""
    form, parameters = read_parameters(form)
    if not parameters.get("grant_type"):
        raise OAuthFailure("invalid_request", "Missing grant_type parameter")
    with transaction.atomic():
        headers, body, status = _server().create_token_response(
            _uri("token"), "POST", form, _headers(authorization)
        )
    answer = _refused(body) if int(status) >= 400 else msgspec.json.decode(body, type=OAuthTokens)
    return (
        answer,
        int(status),
        {name: value for name, value in headers.items() if name != "Content-Type"},
    )


def revoke(form: str, authorization: str) -> None:
    """End the token in the body, or else the bearer itself, with all that its consent led to. An
    unknown one is no failure."""
    form, parameters = read_parameters(form)
    scheme, _, bearer = authorization.partition(" ")
    text = parameters.get("token") or (bearer if scheme.lower() == "bearer" else "")
    if not text:
        raise OAuthFailure("invalid_request", "Missing token parameter")
    token = _token(text)
    if token is None:
        return
    if parameters.get("token"):
        _check_client(token.application, form, authorization)
    revoke_family(token.token_family, clock.real_now())


def _token(text: str) -> Any:
    for model in (AccessToken, RefreshToken):
        token = (
            model.objects.select_related("application")
            .filter(token_checksum=checksum(text))
            .first()
        )
        if token is not None:
            return token
    return None


def _check_client(application: Application, form: str, authorization: str) -> None:
    """A confidential app proves itself; a public one may name itself, but no other."""
    request = Request(_uri("revoke"), "POST", form, _headers(authorization))
    validator = Validator()
    if (
        validator.client_authentication_required(request)
        and request.client_id is None
        and application.client_type == "public"
    ):
        return
    is_known = (
        validator.authenticate_client(request)
        if application.client_type == "confidential"
        or validator.client_authentication_required(request)
        else validator.authenticate_client_id(request.client_id, request)
    )
    if not is_known or request.client.pk != application.pk:
        raise UnknownClient


def _uri(name: str, query: str = "") -> str:
    return f"https://server/oauth/{name}" + (f"?{query}" if query else "")


def _headers(authorization: str) -> dict[str, str]:
    return {
        "HTTP_AUTHORIZATION": authorization,
        "Content-Type": "application/x-www-form-urlencoded",
    }


# What oauthlib calls by a number; anything else is a request that can't be read.
_KINDS = {401: RefusalKind.UNAUTHENTICATED, 403: RefusalKind.FORBIDDEN}


def _failure(error: Any) -> OAuthFailure:
    return OAuthFailure(
        error.error,
        error.description or error.error.replace("_", " "),
        kind=_KINDS.get(error.status_code),
    )


def _redirected(error: Any, redirect_uri: str) -> Redirected:
    redirect = Redirected(error.error, error.description or error.error.replace("_", " "))
    redirect.redirect_to = _answer(redirect_uri, error.twotuples)
    return redirect


def _refused(body: str) -> OAuthError:
    """A refusal of the library's, which always says something."""
    refusal = msgspec.json.decode(body, type=OAuthError)
    return OAuthError(
        error=refusal.error,
        error_description=refusal.error_description or refusal.error.replace("_", " "),
    )


def as_form(fields: Mapping[str, Any]) -> str:
    """A JSON body as a form. Raises OAuthFailure unless every value is text (or a boolean, for
    livemode)."""
    texts = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in fields.items()
        if value is not None
    }
    wrong = next((name for name, value in texts.items() if not isinstance(value, str)), None)
    if wrong is not None:
        raise OAuthFailure("invalid_request", f"{wrong} must be a string")
    return urlencode(texts)
