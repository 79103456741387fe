"""Somebody of a role at the point of sale."""

from apps.stores.models import Member
from tests.cast import Cast, person
from tests.dashboard.browse import Browser


def joined(cast: Cast, role: str, name: str = "guest") -> Browser:
    """A signed-in member of the bakery."""
    guest = person(name)
    Member.objects.create(
        store=cast.bakery.store, user=guest, role=role, created_at=cast.bakery.access().now()
    )
    return Browser(guest)
