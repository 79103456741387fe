"""Reads of people and stores."""

from apps.stores.models import Member, Store, User


def role_of(user: User, store: Store) -> str | None:
    """The person's role in the store, None for a stranger."""
    return Member.objects.filter(user=user, store=store).values_list("role", flat=True).first()
