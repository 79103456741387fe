"""A store's own checkout domain: named by the merchant, proved by a TXT record, and served only
while it is proved and leads here.

The proof is a MAC over store and domain, so it fits no other store. One domain is served for one
store.
"""

import hashlib
import hmac
import re
import uuid
from datetime import datetime, timedelta
from typing import cast
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from apps.core.clock import real_now
from apps.core.db import locks
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, ProviderError
from apps.core.rows import RUN_SECONDS_MAX, Job
from apps.stores.auditing import audit
from apps.stores.models import AuditEntry, Store
from apps.stores.providers.base import Resolver
from apps.stores.selectors import owned_together

log = structlog.get_logger(__name__)
_DOMAIN = re.compile(
    r"(?=.{4,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])",
    re.ASCII,
)
PROOF_LABEL = "_tillgate"
CHECK_EVERY = timedelta(hours=1)
CHECK_AT_MOST_EVERY = timedelta(seconds=20)
# Of all stores of an owner.
CHANGES_MAX = 10
CHANGES_COUNTED = timedelta(hours=24)
# Certificates for new domains of all stores; more are looked at again.
NEW_PER_HOUR_MAX = 50
JOB = Job("stores.check_domains", in_transaction=False)
NOT_PROVED = gettext_noop(
    "The TXT record was not found. A new record can take up to an hour to be seen."
)
LEADS_ELSEWHERE = gettext_noop("The domain does not lead to this service yet.")
IN_USE = gettext_noop("Another store uses this domain and still has its TXT record.")
TOO_MANY = gettext_noop("Many domains were added in this hour. We look again within an hour.")
NO_ANSWER = gettext_noop("DNS could not be asked. We try again soon; nothing has changed.")


class NotADomain(Failure):
    field = "domain"
    message = "Enter a domain name such as pay.example.com"


class TooManyDomains(Failure):
    field = "domain"
    message = "You have changed domains too often today. Try again tomorrow."


class OurDomain(Failure):
    field = "domain"
    message = "This domain belongs to the service"


class _Taken(Exception):
    """Another store has proved the domain since we looked."""


def our_host() -> str:
    """Host to which a checkout domain has to lead."""
    return urlsplit(settings.PUBLIC_URL).hostname or ""


def base_url(domain: str) -> str:
    """The origin of a checkout domain; scheme and port are those of the service."""
    parts = urlsplit(settings.PUBLIC_URL)
    return f"{parts.scheme}://{domain}" + (f":{parts.port}" if parts.port else "")


def proof(store: Store) -> tuple[str, str]:
    """The name and text of the TXT record that proves the domain."""
    content = f"checkout-domain\x1f{store.pk}\x1f{store.checkout_domain}".encode()
    mac = hmac.new(settings.SECRET_KEY.encode(), content, hashlib.sha256).hexdigest()
    return f"{PROOF_LABEL}.{store.checkout_domain}", f"tillgate-domain={mac[:40]}"


def set_domain(store: Store, text: str) -> Store:
    """Another domain, or none when the text is empty. The one before is not served any more. Raises
    NotADomain or OurDomain."""
    domain = _normal(text) if text.strip() else ""
    with transaction.atomic():
        locked = Store.objects.select_for_update(no_key=True).get(pk=store.pk)
        if domain == locked.checkout_domain:
            return store
        if domain:
            _check_changes(store)
        details = {"checkout_domain": [locked.checkout_domain, domain]}
        audit.record(
            "store.domain_changed",
            store=store,
            target=store,
            name=domain or "None",
            details=details,
        )
        _write(
            store,
            checkout_domain=domain,
            checkout_domain_verified_at=None,
            checkout_domain_checked_at=None,
            checkout_domain_problem="",
        )
    return store


def _check_changes(store: Store) -> None:
    """Each domain that is served costs a certificate, and who issues them counts them for all
    stores together."""
    owners, stores = owned_together(store.pk)
    for key in sorted(owners):  # of two stores at once the second counts the first
        locks.hold_in_transaction(locks.LockKind.DOMAINS_OF_AN_OWNER, key)
    changes = AuditEntry.objects.filter(
        action="store.domain_changed", store_id__in=stores, at__gt=real_now() - CHANGES_COUNTED
    )
    if changes.count() >= CHANGES_MAX:
        raise TooManyDomains


def check_domain(store: Store, at: datetime) -> Store:
    """Ask the DNS and write down what it says: a domain whose proof has gone stops at once, one
    that can't be asked about stays."""
    domain = store.checkout_domain
    problem = ""
    try:
        problem = _problem(store, at)
    except ProviderError as error:
        log.warning("domain_check_failed", store=str(store.pk), domain=domain, error=str(error))
        Store.objects.filter(pk=store.pk, checkout_domain=domain).update(
            checkout_domain_checked_at=at, checkout_domain_problem=NO_ANSWER
        )
        store.refresh_from_db()
        return store
    try:
        with refused_by("store_domain_unique", _Taken):
            return _record_check(store, domain, problem, at)
    except _Taken:
        return _record_check(store, domain, IN_USE, at)


def may_check(store: Store, at: datetime) -> bool:
    """True if a person may have us look again."""
    return (
        store.checkout_domain_checked_at is None
        or store.checkout_domain_checked_at <= at - CHECK_AT_MOST_EVERY
    )


def check_due(at: datetime) -> int:
    """Look again at every domain that wasn't looked at within the hour; how many."""
    rows = Store.objects.exclude(checkout_domain="").filter(deleted_at=None)
    new = rows.filter(checkout_domain_checked_at=None).order_by("pk")
    old = rows.filter(checkout_domain_checked_at__lte=at - CHECK_EVERY)
    # Either alone is a range of the index; both together would be all of it.
    parts = (("new", new), ("", old.order_by("checkout_domain_checked_at")))
    return sum(
        JOB.walk(
            part, lambda store: check_domain(store, at), mode=mode, seconds_max=RUN_SECONDS_MAX / 2
        )
        for mode, part in parts
    )


def store_served_at(domain: str) -> uuid.UUID | None:
    """Store whose checkout is served at a host: None unless a store has proved it."""
    rows = Store.objects.filter(
        checkout_domain=domain.lower(), checkout_domain_verified_at__isnull=False, deleted_at=None
    )
    store_id: uuid.UUID | None = rows.values_list("pk", flat=True).first()
    return store_id


def _problem(store: Store, at: datetime) -> str:
    entry = settings.PROVIDERS["dns"]["live"][0]
    resolver = cast(Resolver, import_string(entry["BACKEND"])(**entry["OPTIONS"]))
    if not resolver.has_text(*proof(store)):
        return NOT_PROVED
    if not resolver.leads_to(store.checkout_domain, our_host()):
        return LEADS_ELSEWHERE
    other = Store.objects.filter(
        checkout_domain=store.checkout_domain, checkout_domain_verified_at__isnull=False
    )
    holder = other.exclude(pk=store.pk).first()
    if holder is not None and resolver.has_text(*proof(holder)):
        return IN_USE
    if store.checkout_domain_verified_at is None and _new_within(at) >= NEW_PER_HOUR_MAX:
        return TOO_MANY
    if holder is not None:
        _record_check(holder, holder.checkout_domain, NOT_PROVED, at)
    return ""


def _new_within(at: datetime) -> int:
    new = Store.objects.filter(checkout_domain_verified_at__gt=at - timedelta(hours=1))
    return new.count()


def _record_check(store: Store, domain: str, problem: str, at: datetime) -> Store:
    with transaction.atomic():
        locked = Store.objects.select_for_update(no_key=True).get(pk=store.pk)
        store.refresh_from_db()
        if locked.checkout_domain != domain:
            return store
        was_verified = locked.checkout_domain_verified_at is not None
        verified_at = None if problem else locked.checkout_domain_verified_at or at
        if was_verified == bool(problem):
            done = "store.domain_stopped" if problem else "store.domain_verified"
            audit.record(done, store=store, target=store, name=domain, reason=problem)
        _write(
            store,
            checkout_domain_verified_at=verified_at,
            checkout_domain_checked_at=at,
            checkout_domain_problem=problem,
        )
    return store


def _write(store: Store, **columns: object) -> None:
    for column, value in columns.items():
        setattr(store, column, value)
    store.save(update_fields=list(columns))


def _normal(text: str) -> str:
    text = text.strip().rstrip(".").lower()
    try:
        domain = text.encode("idna").decode("ascii")
    except UnicodeError:
        raise NotADomain from None
    if not _DOMAIN.fullmatch(domain):
        raise NotADomain
    own_domain = our_host()
    if (
        domain == own_domain
        or (domain.endswith(f".{own_domain}") and own_domain != "localhost")
        or domain in settings.ALLOWED_HOSTS
    ):
        raise OurDomain
    return domain
