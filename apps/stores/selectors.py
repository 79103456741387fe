"""Reads of people and stores."""

from dataclasses import dataclass
from decimal import Decimal

from apps.stores.models import Member, Store, User, Verification


def role_of(user: User, store: Store) -> str | None:
    """The person's role in the store, None for a stranger."""
    return Member.objects.filter(user=user, store=store).values_list("role", flat=True).first()


@dataclass(frozen=True)
class Fees:
    """What is taken of a payment made now, as fractions of 1. `platform` is None where no platform
    earns."""

    service: Decimal
    platform: Decimal | None


def fees_of(store: Store) -> Fees:
    """A platform's negotiated rate holds for all its sub-merchants, and its fee for those without
    one of their own."""
    if store.platform_id is None:
        return Fees(store.fee_fraction, None)
    columns = ("fee_fraction", "platform_fee_fraction")
    service, default = Store.objects.filter(pk=store.platform_id).values_list(*columns).get()
    return Fees(
        service, default if store.platform_fee_fraction is None else store.platform_fee_fraction
    )


def latest_verification(store: Store) -> Verification | None:
    """What was last said of the business, decided or not."""
    return Verification.objects.filter(store=store).order_by("-created_at").first()


def approved_verification(store: Store) -> Verification | None:
    """What was last found to be true of the business."""
    return (
        Verification.objects.filter(store=store, status=Verification.Status.APPROVED)
        .order_by("-created_at")
        .first()
    )
