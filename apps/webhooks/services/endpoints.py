"""Registering receivers and turning them on and off. A secret is shown once; a store has one
platform integration per mode.

Anyone who turns an endpoint off also ignores its waiting deliveries, in the same transaction.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from apps.access import operations
from apps.access.access import Access
from apps.core import clock, crypto
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, RefusalKind
from apps.core.machine import Step
from apps.core.messages.invalid import InvalidFields
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.webhooks.models import Delivery, Endpoint, QueuedDelivery
from apps.webhooks.requests import EndpointChanges, EndpointRequest
from apps.webhooks.services import rules
from apps.webhooks.signing import secret_place
from apps.webhooks.states import DELIVERY, ENDPOINT

PREVIEW_LENGTH = 12
FINGERPRINT_LENGTH = 16
_SECRET_COLUMNS = ("sealed_secret", "secret_preview", "is_secret_of_platform")
ENDPOINTS_MAX = 16


class IntegrationExists(Failure):
    """Two first registrations of a platform met; this one lost."""

    kind = RefusalKind.CONFLICT


@dataclass(frozen=True)
class Registered:
    """An endpoint with its new secret; `is_new` is false when an existing integration was
    adopted."""

    endpoint: Endpoint
    secret: str
    is_new: bool


def register_endpoint(
    access: Access,
    request: EndpointRequest,
    broken: rules.Broken = MappingProxyType({}),
    *,
    format: str = Endpoint.Format.TILLGATE,
    secret: str = "",
) -> Registered:
    """Make an endpoint, or adopt the store's platform integration when a platform is named.

    `broken` is what of the request could not be read; it is reported with what the store forbids.
    An endpoint of another format may bring the secret that its receiver knows already. Raises
    InvalidFields, Failure when there is no room, or IntegrationExists when two first registrations
    race, and operations.MayNotIssueCredentials when a platform would adopt an integration whose
    secret is its sub-merchant's.
    """
    operations.check(access, operations.HOOK_CREATE)
    if "platform" in broken:
        raise InvalidFields(broken["platform"])
    platform = request.platform or None
    if platform is not None:
        existing = (
            Endpoint.objects.visible_to(access)
            .filter(deleted_at=None)
            .exclude(platform=None)
            .first()
        )
        if existing is not None:
            return _adopt(access, existing, request, broken)
    request = rules.for_new(request)
    rules.check(access, request, broken, required=("url", "subscribed_events"))
    columns = {**_columns(request), "platform": platform, "api_version": settings.API_VERSION}
    at = access.now()
    endpoint = Endpoint(
        store=access.store,
        mode=access.mode,
        created_at=at,
        updated_at=at,
        format=format,
        **columns,
    )
    secret = _new_secret(endpoint, access, secret)
    exists = IntegrationExists(
        Worded("An active {platform} integration already exists for this store", platform=platform)
    )
    with refused_by("endpoint_one_platform_per_mode", exists):
        store = _check_room(access)
        # By the clock that the locked store has now: what happens after this is the endpoint's to
        # hear of.
        endpoint.created_at = endpoint.updated_at = clock.now(store, access.mode)
        endpoint.save(force_insert=True)
        _note(
            "created",
            endpoint,
            url=endpoint.url,
            **_told_where(endpoint),
        )
    _listens(endpoint)
    return Registered(endpoint, secret, is_new=True)


def _columns(request: EndpointRequest) -> dict[str, object]:
    """Columns of the fields that were sent. Which platform it is belongs to the row's making
    alone."""
    columns: dict[str, object] = request.sent()
    columns.pop("platform", None)
    if "platform_store_url" in columns:
        columns["platform_store_url"] = columns["platform_store_url"] or None
    return columns


def _check_room(access: Access) -> Store:
    """The store's row, which is locked so that two at once don't both take the last place."""
    store: Store = Store.objects.select_for_update(no_key=True).get(pk=access.store_id)
    if Endpoint.objects.visible_to(access).filter(deleted_at=None).count() >= ENDPOINTS_MAX:
        raise Failure(
            Worded("Endpoints are limited to {maximum} per store and mode", maximum=ENDPOINTS_MAX)
        )
    return store


def _adopt(
    access: Access, endpoint: Endpoint, request: EndpointRequest, broken: rules.Broken
) -> Registered:
    request = rules.for_adoption(request)
    rules.check(access, request, broken)
    values = _columns(request)
    for name, value in values.items():
        setattr(endpoint, name, value)
    with transaction.atomic():
        at = access.now()
        _lock(endpoint)
        secret = _new_secret(endpoint, access)
        ENDPOINT.change_locked(
            endpoint, Step(Endpoint.Status.ACTIVE), at=at, disabled_at=None, is_notice_due=False
        )
        _save(endpoint, at, *values, *_SECRET_COLUMNS)
        _note(
            "secret_rotated",
            endpoint,
            adopted=True,
            url=endpoint.url,
            **_told_where(endpoint),
        )
    _listens(endpoint)
    return Registered(endpoint, secret, is_new=False)


def update_endpoint(
    access: Access,
    endpoint: Endpoint,
    request: EndpointChanges,
    broken: rules.Broken = MappingProxyType({}),
) -> Endpoint:
    """Change url, description, subscribed_events or metadata; `broken` as for a new one. Raises
    InvalidFields."""
    operations.check(access, operations.HOOK_CHANGE)
    rules.check(access, request, broken)
    values = request.sent()
    differences = audit.changes(endpoint, values)
    for name, value in values.items():
        setattr(endpoint, name, value)
    with transaction.atomic():
        if differences:
            _note("changed", endpoint, **differences | _told_where(endpoint))
        _save(endpoint, access.now(), *values)
    return _listens(endpoint)


def enable_endpoint(endpoint: Endpoint, at: datetime, *, by: Access | None = None) -> Endpoint:
    """Turn on again, no matter who turned it off."""
    operations.check(by, operations.HOOK_SWITCH)
    if endpoint.status == Endpoint.Status.ACTIVE:
        return endpoint
    with transaction.atomic():
        _lock(endpoint)
        if endpoint.status == Endpoint.Status.ACTIVE:
            return endpoint
        _note("enabled", endpoint)
        ENDPOINT.change_locked(
            endpoint,
            Step(Endpoint.Status.ACTIVE),
            at=at,
            disabled_at=None,
            is_notice_due=False,
            updated_at=at,
        )
    return _listens(endpoint)


def disable_endpoint(endpoint: Endpoint, at: datetime, *, by: Access | None = None) -> Endpoint:
    """The merchant turns it off; one that the service has turned off stays in error."""
    operations.check(by, operations.HOOK_SWITCH)
    if endpoint.status != Endpoint.Status.ACTIVE:
        return endpoint
    with transaction.atomic():
        _lock(endpoint)
        if endpoint.status != Endpoint.Status.ACTIVE:
            return endpoint
        ENDPOINT.change_locked(
            endpoint, Step(Endpoint.Status.DISABLED), at=at, disabled_at=at, updated_at=at
        )
        ignore_waiting(endpoint)
        _note("disabled", endpoint)
    return endpoint


def delete_endpoint(endpoint: Endpoint, at: datetime, *, by: Access | None = None) -> None:
    """Hide it for good; its deliveries are kept."""
    operations.check(by, operations.HOOK_DELETE)
    with transaction.atomic():
        endpoint.deleted_at = at
        endpoint.is_notice_due = False
        _save(endpoint, at, "deleted_at", "is_notice_due")
        ignore_waiting(endpoint)
        _note("deleted", endpoint)


def rotate_secret(endpoint: Endpoint, at: datetime, *, by: Access | None = None) -> str:
    """A new secret that holds from the next attempt on; the old one ends at once. Raises what
    operations.check does, and MayNotIssueCredentials as register_endpoint."""
    operations.check(by, operations.HOOK_ROTATE)
    with transaction.atomic():
        _lock(endpoint)
        secret = _new_secret(endpoint, by)
        _save(endpoint, at, *_SECRET_COLUMNS)
        _note("secret_rotated", endpoint)
    return secret


def disable_endpoints_of(store: Store) -> None:
    """Turn off every active endpoint of a store, in both modes."""
    for endpoint in Endpoint.objects.filter(
        store=store, deleted_at=None, status=Endpoint.Status.ACTIVE
    ):
        disable_endpoint(endpoint, clock.now(store, endpoint.mode))


def ignore_waiting(endpoint: Endpoint) -> None:
    """Drops deliveries that wait for an endpoint that was turned off."""
    queued = QueuedDelivery.objects.filter(endpoint=endpoint, status=Delivery.Status.PENDING)
    rows = Delivery.objects.filter(pk__in=queued.values("pk"))
    ignored = Step(Delivery.Status.IGNORED)
    DELIVERY.change_all(
        rows, Delivery.Status.PENDING, ignored, next_attempt_at=None, claimed_until=None
    )


def _lock(endpoint: Endpoint) -> None:
    """Its status, and whose its secret is, as they are: an attempt that failed for good may have
    turned it off since it was read."""
    endpoint.refresh_from_db(
        fields=["status", "is_secret_of_platform"],
        from_queryset=Endpoint.objects.select_for_update(no_key=True),
    )


def _new_secret(endpoint: Endpoint, by: Access | None, known: str = "") -> str:
    """A random secret, or the one that is known. A platform replaces the secrets that it made
    itself, and none that its sub-merchant has made."""
    is_of_platform = by is not None and by.platform is not None
    if is_of_platform and endpoint.secret_preview and not endpoint.is_secret_of_platform:
        raise operations.MayNotIssueCredentials
    endpoint.is_secret_of_platform = is_of_platform
    secret = known or f"whsec_{secrets.token_hex(32)}"
    endpoint.sealed_secret = crypto.encrypt(secret, secret_place(endpoint.pk))
    # Of a secret that somebody else chose, its beginning may be most of it.
    endpoint.secret_preview = "..." if known else f"{secret[:PREVIEW_LENGTH]}..."
    return secret


def _note(done: str, endpoint: Endpoint, **details: object) -> None:
    host = urlsplit(endpoint.url).hostname or ""
    audit.record(
        f"webhook_endpoint.{done}",
        store=endpoint.store_id,
        mode=endpoint.mode,
        target=endpoint,
        name=host,
        details=details,
    )


def _told_where(endpoint: Endpoint) -> dict[str, object]:
    """Values compared with its row: a part of the hash of its address, since an address may be its
    own key, and the names of its events."""
    digest = hashlib.sha256(endpoint.url.encode()).hexdigest()
    return {
        "url_fingerprint": digest[:FINGERPRINT_LENGTH],
        "events": ", ".join(sorted(endpoint.subscribed_events)),
    }


def _listens(endpoint: Endpoint) -> Endpoint:
    """Marks the start of the endpoint's events, which an audit knows by `updated_at`.

    In a transaction of its own: what happened while the endpoint waited to be committed didn't see
    it.
    """
    store = Store.objects.get(pk=endpoint.store_id)
    return _save(endpoint, clock.now(store, endpoint.mode))


def _save(endpoint: Endpoint, at: datetime, *columns: str) -> Endpoint:
    endpoint.updated_at = at
    endpoint.save(update_fields=[*columns, "updated_at"])
    return endpoint
