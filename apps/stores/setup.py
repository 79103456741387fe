"""How a store sells, and which steps of its setup its people left out.

Nothing but what the dashboard suggests depends on it.
"""

from collections.abc import Collection

from django.db import transaction

from apps.core.errors import Failure
from apps.stores.models import Store, WayOfSelling
from apps.stores.services import change_store


class UnknownWay(Failure):
    field = "way"
    message = "Choose how you sell"


def choose_way_of_selling(store: Store, way: str) -> Store:
    """Raises UnknownWay."""
    if way not in WayOfSelling.values:
        raise UnknownWay
    return change_store(store, way_of_selling=way)


def skip_steps(store: Store, names: Collection[str]) -> Store:
    """Leave steps out of the setup list, beside those that are left out already."""
    return _change(store, add=names, remove=())


def restore_steps(store: Store, names: Collection[str]) -> Store:
    """Take steps into the setup list again."""
    return _change(store, add=(), remove=names)


def _change(store: Store, *, add: Collection[str], remove: Collection[str]) -> Store:
    """In a lock, so that two people who skip a step each both leave theirs out."""
    with transaction.atomic():
        locked: Store = Store.objects.select_for_update(no_key=True).get(pk=store.pk)
        names = (set(locked.skipped_steps) | set(add)) - set(remove)
        return change_store(locked, skipped_steps=sorted(names))
