"""Merchants' OAuth apps: made, changed and switched off, and the agent credentials that they ask
for.

A client secret is shown once; only its hash is kept.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from apps.access import credentials, operations, rights, scopes
from apps.access.access import OAUTH, Access
from apps.access.authorization.validator import checksum
from apps.access.models import AccessToken, AgentCredential, Application, RefreshToken
from apps.access.requests import AppChanges, AppRequest
from apps.core.db import tenancy
from apps.core.errors import Failure
from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.models import Store, User
from apps.stores.selectors import role_of


class StoreRequired(Failure):
    code = "store_required"
    message = "The grant is for no store"


def create_app(
    store: Store, user: User, order: AppRequest, *, by: Access | None = None
) -> tuple[Application, str | None]:
    """A new app, and its secret when it is confidential. Raises Failure on unknown scopes or
    repeated addresses."""
    operations.check(by, operations.APP_CREATE)
    secret = credentials.mint(credentials.CLIENT_SECRET_PREFIX) if order.confidential else None
    app = Application(
        store=store,
        user=user,
        client_type=Application.CLIENT_CONFIDENTIAL if secret else Application.CLIENT_PUBLIC,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        client_secret=checksum(secret) if secret else "",
        hash_client_secret=False,  # it is hashed already
        skip_authorization=False,
    )
    _fill(app, order.scopes, order.redirect_uris)
    app.name = order.name
    app.website_url = order.website_url or ""
    app.logo_url = order.logo_url or ""
    with transaction.atomic():
        app.save()
        audit.record(
            "oauth_app.created",
            store=store,
            target=app,
            name=app.name,
            details={"scopes": app.scopes},
        )
    return app, secret


def change_app(app: Application, changes: AppChanges, *, by: Access | None = None) -> None:
    """Applies the fields that were sent. Raises Failure on unknown scopes or a redirect address
    that can't be."""
    operations.check(by, operations.APP_CHANGE, mode=_reach(app, by))
    values = changes.sent()
    _fill(app, values.get("scopes"), values.get("redirect_uris"))
    for name in ("name", "website_url", "logo_url"):
        if name in values:
            setattr(app, name, values[name] or "")
    with transaction.atomic():
        app.save()
        audit.record(
            "oauth_app.changed",
            store=app.store,
            target=app,
            name=app.name,
            details={"fields": sorted(values)},
        )


def _reach(app: Application, by: Access | None) -> str | None:
    """Apps have no mode. One that somebody has let into live mode is live, whatever the dashboard
    shows."""
    for model in (AccessToken, RefreshToken):
        if by is not None and model.objects.filter(application=app, mode=Mode.LIVE).exists():
            return Mode.LIVE
    return None


def _fill(
    app: Application, scope_names: Sequence[str] | None, redirect_uris: Sequence[str] | None
) -> None:
    """None stays as it is."""
    if scope_names is not None:
        app.scopes = list(dict.fromkeys(scope_names))
        unknown = [scope for scope in app.scopes if scope not in scopes.OAUTH]
        if unknown:
            raise Failure(
                Worded("scopes contains unknown scopes: {unknown}", unknown=", ".join(unknown)),
                field="scopes",
            )
        if not app.scopes:
            raise Failure("scopes can't be blank", field="scopes")
    if redirect_uris is not None:
        addresses = list(dict.fromkeys(redirect_uris))
        if not addresses:
            raise Failure("redirect_uris can't be blank", field="redirect_uris")
        if any("#" in address for address in addresses):
            raise Failure("redirect_uris must not have a fragment", field="redirect_uris")
        app.redirect_uris = " ".join(addresses)


def rotate_secret(app: Application, *, by: Access | None = None) -> str:
    """A new secret; the old one stops working at once. Raises Failure for a public app."""
    operations.check(by, operations.APP_ROTATE, mode=_reach(app, by))
    if app.client_type != Application.CLIENT_CONFIDENTIAL:
        raise Failure("A public app has no secret")
    secret = credentials.mint(credentials.CLIENT_SECRET_PREFIX)
    app.client_secret = checksum(secret)
    with transaction.atomic():
        app.save(update_fields=["client_secret"])
        audit.record("oauth_app.rotated", store=app.store, target=app, name=app.name)
    return secret


def deactivate_app(app: Application, at: datetime, *, by: Access | None = None) -> None:
    """Nobody can let it in any more, and what it holds is refused."""
    operations.check(by, operations.APP_DEACTIVATE)
    with transaction.atomic():
        Application.objects.filter(pk=app.pk).update(is_active=False)
        with tenancy.everyone("an app is let into many stores"):
            AgentCredential.objects.filter(application=app, revoked_at=None).update(revoked_at=at)
        audit.record("oauth_app.deactivated", store=app.store, target=app, name=app.name)


def agent_credential(
    token: AccessToken, scope_names: Iterable[str] | None, at: datetime
) -> tuple[AgentCredential, str]:
    """The one credential of an app, person, store and mode with a new secret.

    At most what the person who let the app in may: all of it unless scopes are named. Raises
    StoreRequired, Failure on unknown scopes, or rights.BeyondYourRights.
    """
    if token.store is None:
        raise StoreRequired
    role = role_of(token.user, token.store)
    tenancy.narrow(token.store, modes=[token.mode])
    if role is None:  # they left between the look-up of the token and now
        raise StoreRequired
    person = Access.for_session(token.user, token.store, token.mode, role)
    operations.check(
        replace(person, kind=OAUTH, user=None, scopes=frozenset(token.scope.split())),
        operations.APP_AGENT,
    )
    chosen = (
        rights.held_of(person, scopes.AGENT)
        if scope_names is None
        else list(dict.fromkeys(scope_names))
    )
    unknown = [scope for scope in chosen if scope not in scopes.AGENT]
    if unknown:
        raise Failure(
            Worded("scopes contains unknown scopes: {unknown}", unknown=", ".join(unknown)),
            field="scopes",
        )
    rights.check_held(person, chosen)
    text = credentials.mint(credentials.AGENT_PREFIXES[token.mode])
    values = {
        "name": token.application.name[:100],
        "secret_hash": credentials.digest(text),
        "token_prefix": text[:16],
        "last_four": text[-4:],
        "scopes": chosen,
        "revoked_at": None,
        "last_used_at": None,
        "sends_anywhere_from": token.sends_anywhere_from,
    }
    with transaction.atomic():
        row, _ = AgentCredential.objects.update_or_create(
            application=token.application,
            user=token.user,
            store=token.store,
            mode=token.mode,
            defaults=values,
            create_defaults={**values, "principal": f"agent:{uuid.uuid4()}", "created_at": at},
        )
        audit.record(
            "agent_credential.created",
            store=token.store,
            mode=token.mode,
            target=row,
            name=row.name,
            details={
                "scopes": chosen,
                **credentials.noted(row.secret_hash, row.user_id, row.sends_anywhere_from),
            },
        )
    return row, text
