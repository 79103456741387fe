"""The demo's stores are found again at the next start, whatever they were renamed to."""

import msgspec

from apps.stores.models import Store, User
from apps.stores.services import change_store
from dev.demo import people, platforms
from tests.cast import Cast


def test_a_start_finds_stores_that_were_renamed(cast: Cast) -> None:
    store = people.open_demo_store()
    first = people.credentials(store, None)
    merchant = User.objects.get(email=people.MERCHANT["email"])
    platforms.seed_platform(merchant)
    before = set(Store.objects.values_list("pk", flat=True))
    for number, own in enumerate(Store.objects.filter(members__user=merchant)):
        change_store(own, name=f"Renamed {number}")

    store.refresh_from_db()
    assert people.open_demo_store() == store
    again = people.credentials(store, msgspec.json.encode(first))
    assert (again.keys, again.store.name) == (first.keys, store.name) != (first.keys, "Demo Coffee")
    platforms.seed_platform(merchant)
    assert set(Store.objects.values_list("pk", flat=True)) == before
