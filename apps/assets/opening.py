"""Opening a store: by somebody who signs up, and by somebody who has one already. It takes every
listed asset from the start."""

from django.db import transaction

from apps.access.person import sign_up
from apps.assets.services import accept_all_active
from apps.core import acting
from apps.core.db import tenancy
from apps.core.models import Mode
from apps.stores.models import Store, User
from apps.stores.requests import PersonRequest, StoreRequest
from apps.stores.services import create_store


def sign_up_with_store(
    email: str, person: PersonRequest, store: StoreRequest
) -> tuple[User, Store]:
    """An account for a proved address, and its first store. Raises BadPassword or EmailTaken."""
    with transaction.atomic():
        user = sign_up.create_account(email, person.person_name, person.password)
        acting.become(acting.ActorKind.PERSON, user.pk, user.email)
        return user, _open(user, store)


def open_store(user: User, request: StoreRequest) -> Store:
    """Opens another store of a person. Raises NoMoreStores."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(
            pk=user.pk
        )  # of two at once the second counts the first
        sign_up.check_may_open(user)
        return _open(user, request)


def _open(owner: User, request: StoreRequest) -> Store:
    store = create_store(owner, request)
    with tenancy.also([store], Mode.values):
        accept_all_active(store)
    return store
