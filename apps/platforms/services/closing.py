"""An owner closes their own store: nothing of live mode is left in it or under way, and from then
on its records are only read.

What an app above or beside has that must end first is decided by the modules of settings.CLOSING.
"""

from importlib import import_module
from typing import Protocol, cast

from django.conf import settings
from django.db import transaction

from apps.access import operation_emails, operations
from apps.access.access import Access
from apps.access.closing import revoke_credentials_of
from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import Failure, RefusalKind
from apps.core.models import Mode
from apps.platforms.services.accounts import AccountBlocker, blockers
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.webhooks.services.endpoints import disable_endpoints_of


class HasBlockers(Protocol):
    """A module of settings.CLOSING."""

    def closing_blockers(self, store: Store) -> dict[str, int]:
        """Number of records of each type that must end before a store closes."""


class NotItsName(Failure):
    field = "name"
    message = "Type the store's name exactly as it is shown"


class StoreNotClosable(Failure):
    kind = RefusalKind.CONFLICT
    message = "This store can't be closed yet"


class ClosedByPlatformOnly(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "The platform of this store closes it"


def close_store(access: Access, name: str) -> None:
    """Raises NotItsName, StoreNotClosable, ClosedByPlatformOnly, or what operations.check does."""
    operations.check(access, operations.STORE_CLOSE)
    at = clock.real_now()
    with tenancy.also([access.store], Mode.values), transaction.atomic():
        store = Store.objects.select_for_update().get(pk=access.store_id)
        if store.platform_id is not None:
            raise ClosedByPlatformOnly
        if name.strip() != store.name:
            raise NotItsName
        if store.deleted_at is not None or closing_obstacles(store):
            raise StoreNotClosable
        store.deleted_at = at
        store.save(update_fields=["deleted_at"])
        revoke_credentials_of(store, at)
        disable_endpoints_of(store)
        operation_emails.tell(access, operations.STORE_CLOSE, store.name)
        audit.record("store.closed", store=store, target=store, name=store.name)


def closing_obstacles(store: Store) -> list[AccountBlocker]:
    """Obstacles to closing a store of one's own. Coins of test mode are worth nothing."""
    with tenancy.also([store], Mode.values):
        return _obstacles(store)


def _obstacles(store: Store) -> list[AccountBlocker]:
    accounts = Store.objects.filter(platform=store, deleted_at=None).count()
    obstacles = blockers(store, modes=(Mode.LIVE,))
    more = [("account", accounts)] if accounts else []
    for path in settings.CLOSING:
        beside = cast(HasBlockers, import_module(path)).closing_blockers(store)
        more += [(type, count) for type, count in beside.items() if count]
    return [*obstacles, *(AccountBlocker(type, count) for type, count in more)]
