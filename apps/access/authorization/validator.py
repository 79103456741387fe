"""Storage of the OAuth server: codes and tokens with a store and a mode, found by their hash.

A code that comes a second time revokes its whole family. A refresh token has one successor, which a
repeat within the grace is answered with again; one that comes later, or after its successor was
used, revokes the family: two hold the chain.
"""

import base64
import hashlib
import re
import secrets
from datetime import datetime, timedelta
from typing import Any, TypedDict
from urllib.parse import unquote_plus

from django.db.models import Q
from oauthlib.oauth2.rfc6749 import errors

from apps.access import credentials
from apps.access.authorization.tokens import end_orphans, revoke_family
from apps.access.models import AccessToken, Grant, RefreshToken
from apps.access.scopes import OFFLINE
from apps.core import clock
from apps.core.process.imports import postponed

# For asking other servers about their tokens and clients, and for tokens that are signed: we do
# neither.
with postponed("requests", "urllib3", "jwcrypto", "jwcrypto.common", "jwcrypto.jwt"):
    from oauth2_provider.oauth2_validators import OAuth2Validator

CODE_LIFETIME = timedelta(minutes=10)
SHORT_SECONDS = 3600
LONG_SECONDS = 7776000
REFRESH_GRACE = timedelta(seconds=60)
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


def checksum(text: str) -> str:
    """Stored form of a code, token or client secret."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def lifetime_seconds(request: Any) -> int:
    """Of an access token: short where a refresh token comes with it."""
    return SHORT_SECONDS if has_refresh(request) else LONG_SECONDS


def has_refresh(request: Any) -> bool:
    return request.grant_type == "refresh_token" or OFFLINE in (request.scopes or ())


def _name_and_password(encoded: str) -> tuple[str, str]:
    """Name and password of HTTP Basic, each form-encoded (RFC 6749, 2.3.1). Ours are printable
    ASCII: anything else, which a database may not even be asked for, is nobody's."""
    try:
        name, separator, password = base64.b64decode(encoded).decode("ascii").partition(":")
    except ValueError:
        return "", ""
    parts = unquote_plus(name), unquote_plus(password)
    is_clear = separator and all(part.isascii() and part.isprintable() for part in parts)
    return parts if is_clear else ("", "")


class BearerToken(TypedDict, total=False):
    """oauthlib's bearer token with our additional fields."""

    access_token: str
    expires_in: int
    scope: str
    refresh_token: str
    refresh_token_expires_in: int
    store_id: str | None
    livemode: bool


class Validator(OAuth2Validator):  # type: ignore[misc]  # oauth2_provider has no types
    """Runs inside one transaction per request; the row of a code or refresh token is locked while
    it is used."""

    def _check_secret(self, provided_secret: str, stored_secret: str) -> bool:
        return bool(stored_secret) and secrets.compare_digest(
            checksum(provided_secret), stored_secret
        )

    def _authenticate_basic_auth(self, request: Any) -> bool:
        """A public app has no secret to prove: its id with an empty password names it, as its id
        in the body does. What it proves is the verifier of its code."""
        name, password = _name_and_password(self._extract_basic_auth(request) or "")
        client = self._load_application(name, request) if name else None
        if client is None:
            return False
        if not password and client.client_type == client.CLIENT_PUBLIC:
            return True
        return self._check_secret(password, client.client_secret)

    def validate_scopes(
        self,
        client_id: str,
        scopes: list[str],
        client: Any,
        request: Any,
        *args: Any,
        **options: Any,
    ) -> bool:
        return bool(scopes) and set(scopes) <= set(client.scopes)

    def get_default_scopes(
        self, client_id: str, request: Any, *args: Any, **options: Any
    ) -> list[str]:
        return list(request.client.scopes)

    def is_pkce_required(self, client_id: str, request: Any) -> bool:
        if request.code_challenge is not None and not _CHALLENGE.fullmatch(request.code_challenge):
            raise errors.InvalidRequestError(
                description="code_challenge is not a S256 challenge.", request=request
            )
        return True

    def save_authorization_code(
        self, client_id: str, code: dict[str, str], request: Any, *args: Any, **options: Any
    ) -> None:
        Grant.objects.create(
            application=request.client,
            user=request.user,
            store=request.store,
            mode=request.mode,
            token_family=request.token_family,
            sends_anywhere_from=request.sends_anywhere_from,
            code=checksum(code["code"]),
            expires=clock.real_now() + CODE_LIFETIME,
            redirect_uri=request.redirect_uri,
            scope=" ".join(request.scopes),
            code_challenge=request.code_challenge,
            code_challenge_method=request.code_challenge_method,
        )

    def validate_code(
        self, client_id: str, code: str, client: Any, request: Any, *args: Any, **options: Any
    ) -> bool:
        now = clock.real_now()
        grant = (
            Grant.objects.select_for_update()
            .filter(code=checksum(code), application=client)
            .first()
        )
        if grant is None:
            return False
        if grant.used_at is not None:
            revoke_family(grant.token_family, now)
            return False
        request.origin = grant
        request.user = grant.user
        request.scopes = grant.scope.split()
        return bool(grant.expires > now)

    def get_code_challenge(self, code: str, request: Any) -> str:
        return str(request.origin.code_challenge)

    def get_code_challenge_method(self, code: str, request: Any) -> str:
        return str(request.origin.code_challenge_method)

    def confirm_redirect_uri(
        self,
        client_id: str,
        code: str,
        redirect_uri: str,
        client: Any,
        request: Any,
        *args: Any,
        **options: Any,
    ) -> bool:
        return bool(request.origin.redirect_uri == redirect_uri)

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Any, *args: Any, **options: Any
    ) -> None:
        Grant.objects.filter(pk=request.origin.pk).update(used_at=clock.real_now())

    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Any, *args: Any, **options: Any
    ) -> bool:
        now = clock.real_now()
        rows = RefreshToken.objects.select_for_update(of=("self",)).filter(
            token_checksum=checksum(refresh_token), application=client
        )
        token = rows.select_related("user").first()
        if token is None or token.revoked is not None or token.expires_at <= now:
            return False
        if token.replaced_at is not None and not self._is_repeat(token, refresh_token, now):
            revoke_family(token.token_family, now)
            return False
        if token.replaced_at is None:
            token.successor_seed = secrets.token_bytes(32)
        request.origin = token
        request.user = token.user
        return True

    @staticmethod
    def _is_repeat(token: RefreshToken, presented: str, now: datetime) -> bool:
        """Recognize a client that may have missed the first answer: the replaced token comes again
        soon, and before anybody used its successor."""
        if token.replaced_at is None or token.successor_seed is None:
            return False
        if token.replaced_at + REFRESH_GRACE < now:
            return False
        successor = credentials.derive(
            credentials.OAUTH_REFRESH_PREFIX, bytes(token.successor_seed), presented
        )
        living = RefreshToken.objects.filter(revoked=None, replaced_at=None)
        return bool(living.filter(token_checksum=checksum(successor)).exists())

    def get_original_scopes(
        self, refresh_token: str, request: Any, *args: Any, **options: Any
    ) -> str:
        return str(request.origin.scope)

    def rotate_refresh_token(self, request: Any) -> bool:
        return True

    def _save_bearer_token(
        self, token: BearerToken, request: Any, *args: Any, **options: Any
    ) -> None:
        now = clock.real_now()
        origin = request.origin
        token["store_id"] = str(origin.store_id) if origin.store_id else None
        token["livemode"] = origin.mode == "live"
        if isinstance(origin, RefreshToken) and origin.replaced_at is not None:
            self._tell_again(token, now)
            return
        owner = {
            "application": request.client,
            "user": request.user,
            "store": origin.store,
            "mode": origin.mode,
            "token_family": origin.token_family,
            "sends_anywhere_from": origin.sends_anywhere_from,
        }
        if isinstance(origin, RefreshToken):
            self._replace(origin, now)
        else:
            self._end_others(origin, now)
        access = AccessToken(
            **owner, scope=token["scope"], expires=now + timedelta(seconds=token["expires_in"])
        )
        self._set_token_value(access, token["access_token"])
        access.save()
        if "refresh_token" in token:
            ends_at = now + timedelta(seconds=LONG_SECONDS)
            refresh = RefreshToken(
                **owner, access_token=access, scope=origin.scope, expires_at=ends_at
            )
            self._set_token_value(refresh, token["refresh_token"])
            refresh.save()
            token["refresh_token_expires_in"] = LONG_SECONDS
        if origin.store_id is not None:
            end_orphans(
                now,
                application_id=origin.application_id,
                store_id=origin.store_id,
                mode=origin.mode,
            )

    @staticmethod
    def _tell_again(token: BearerToken, now: datetime) -> None:
        """The answer to a repeat: the tokens are there, and live as long as they did."""
        access = AccessToken.objects.get(token_checksum=checksum(token["access_token"]))
        refresh = RefreshToken.objects.get(token_checksum=checksum(token["refresh_token"]))
        token["scope"] = access.scope
        token["expires_in"] = max(0, int((access.expires - now).total_seconds()))
        token["refresh_token_expires_in"] = int((refresh.expires_at - now).total_seconds())

    @staticmethod
    def _replace(spent: RefreshToken, now: datetime) -> None:
        """The first use ends the access token that came with it."""
        RefreshToken.objects.filter(pk=spent.pk).update(
            replaced_at=now, successor_seed=spent.successor_seed
        )
        AccessToken.objects.filter(pk=spent.access_token_id, revoked_at=None).update(revoked_at=now)

    @staticmethod
    def _end_others(grant: Grant, now: datetime) -> None:
        """Ends other grants: an app has one active grant per store and mode (without a store: per
        person). The app's row keeps two from passing each other."""
        type(grant.application).objects.select_for_update().get(pk=grant.application_id)
        same = Q(application_id=grant.application_id, store_id=grant.store_id, mode=grant.mode)
        if grant.store_id is None:
            same &= Q(user_id=grant.user_id)
        AccessToken.objects.filter(same, revoked_at=None).update(revoked_at=now)
        RefreshToken.objects.filter(same, revoked=None).update(revoked=now)


def new_access_token(request: Any, refresh_token: bool = False) -> str:
    return _new(credentials.OAUTH_ACCESS_PREFIX, request)


def new_refresh_token(request: Any, refresh_token: bool = False) -> str:
    return _new(credentials.OAUTH_REFRESH_PREFIX, request)


def _new(prefix: str, request: Any) -> str:
    """A random token for a code, the one successor for a refresh token."""
    origin = request.origin
    if isinstance(origin, RefreshToken) and origin.successor_seed is not None:
        return credentials.derive(prefix, bytes(origin.successor_seed), request.refresh_token)
    return credentials.mint(prefix)
