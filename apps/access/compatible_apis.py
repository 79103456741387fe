"""The API of BTCPay Server for a store: off until an owner turns it on."""

from django.db import transaction

from apps.access import operation_emails, operations
from apps.access.access import Access
from apps.core.errors import Failure, RefusalKind
from apps.stores.models import Store
from apps.stores.services import change_store


class CompatibleApisOff(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "compatible_apis_off"
    message = "The BTCPay API of this store is off; an owner turns it on under Settings"


def change_compatible_apis(access: Access, *, is_on: bool) -> Store:
    """Turns it on or off, in both modes. Raises what operations.check does."""
    operations.check(access, operations.COMPATIBLE_APIS)
    with transaction.atomic():
        store = Store.objects.select_for_update(no_key=True).get(pk=access.store_id)
        if store.has_compatible_apis == is_on:
            return store
        store = change_store(store, has_compatible_apis=is_on)
        operation_emails.tell(access, operations.COMPATIBLE_APIS, store.name)
    return store


def require_compatible_apis(store: Store) -> None:
    """Raises CompatibleApisOff."""
    if not store.has_compatible_apis:
        raise CompatibleApisOff
