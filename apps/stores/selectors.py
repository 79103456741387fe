"""Reads of people and stores."""

import uuid

from django.db.models import UUIDField

from apps.core import emails
from apps.core.db.prepared_reads import Query
from apps.core.db.sql import BlankParameter
from apps.stores.models import Member, Role, Store, User, Verification


def role_of(user: User, store: Store) -> str | None:
    """The person's role in the store, None for a stranger."""
    return Member.objects.filter(user=user, store=store).values_list("role", flat=True).first()


def owned_together(store_id: uuid.UUID) -> tuple[set[uuid.UUID], set[uuid.UUID]]:
    """The owners of a store, and all stores that they own, this one and closed ones among them."""
    owners = Member.objects.filter(store_id=store_id, role=Role.OWNER)
    people = set(owners.values_list("user", flat=True))
    owned = Member.objects.filter(user__in=people, role=Role.OWNER)
    return people, {store_id, *owned.values_list("store", flat=True)}


_LATEST_VERIFICATION = Query(
    lambda: Verification.objects.filter(store=BlankParameter("store_id", UUIDField())).order_by(
        "-created_at"
    )[:1]
)


def latest_verification(store: Store) -> Verification | None:
    """Latest submission of the business, decided or not."""
    return _LATEST_VERIFICATION.first(store_id=store.pk)


def approved_verification(store: Store) -> Verification | None:
    """Latest approved submission of the business."""
    return (
        Verification.objects.filter(store=store, status=Verification.Status.APPROVED)
        .order_by("-created_at")
        .first()
    )


def contact_of(account: Store) -> str | None:
    """The business's contact: of the last details that a person approved. Never one of its
    platform's own people."""
    approved = Verification.objects.filter(store=account, status=Verification.Status.APPROVED)
    verified = (
        approved.exclude(contact_email=None)
        .order_by("-reviewed_at", "-created_at")
        .values_list("contact_email", flat=True)
        .first()
    )
    if not verified or account.platform is None:
        return verified or None
    people = Member.objects.filter(store=account.platform).values_list("user__email", flat=True)
    its_own = {emails.mailbox(email) for email in (*people, account.platform.support_email)}
    return None if emails.mailbox(verified) in its_own else verified
