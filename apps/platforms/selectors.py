"""Reads of a platform: its accounts with what is known of each, its links, and the payments of its
sub-merchants.

The rows of a sub-merchant belong to the sub-merchant; a platform reaches them only through
`platform`, in its own mode.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

from django.db import models

from apps.access.access import Access
from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import is_uuid
from apps.payments import sold_sums
from apps.payments.models import Payment, SoldSpan
from apps.payments.sold_sums import RECENT
from apps.payouts.models import Destination
from apps.platforms.models import OnboardingLink
from apps.stores import platform_fees
from apps.stores.models import Store, Verification

LIST_MAX = 10_000
NOT_STARTED = "not_started"


class AccountNotFound(Failure):
    """An answer for unknown, malformed, deleted and other platforms' ids."""

    kind = RefusalKind.NOT_FOUND
    code = "account_not_found"
    message = "Unknown sub-merchant account"


class PaymentNotFound(Failure):
    kind = RefusalKind.NOT_FOUND
    message = "Unknown payment"


@dataclass(frozen=True)
class AccountSummary:
    """A sub-merchant with what is shown of it; `has_destination` is of the mode that was asked
    in."""

    store: Store
    fee: Decimal | None
    next_fee: Decimal | None  # of live mode, where a raise waits
    verification_status: str
    has_destination: bool


def accounts_of(access: Access) -> "models.QuerySet[Store]":
    """The active sub-merchants of a platform, newest first."""
    return Store.objects.filter(platform_id=access.store_id, deleted_at=None).order_by(
        "-created_at", "-id"
    )


def find_account(access: Access, account_id: str) -> Store:
    """An active sub-merchant of the platform. Raises AccountNotFound."""
    account = accounts_of(access).filter(pk=account_id).first() if is_uuid(account_id) else None
    if account is None:
        raise AccountNotFound
    tenancy.narrow(access.store, account, modes=[access.mode])
    return account


def described(access: Access, stores: Iterable[Store]) -> list[AccountSummary]:
    """The accounts with what is known of each, in three queries however many there are."""
    rows = list(stores)
    ids = [row.pk for row in rows]
    destinations = Destination.objects.filter(store_id__in=ids, mode=access.mode, removed_at=None)
    with tenancy.also(rows):
        statuses = _latest_statuses(ids)
        with_destination = set(
            destinations.order_by().values_list("store_id", flat=True).distinct()
        )
    platform = access.store
    at = clock.real_now()
    return [
        AccountSummary(
            store=row,
            fee=platform_fees.fee_now(row, platform, access.mode, at),
            next_fee=(
                platform_fees.chosen_fee(row, platform)
                if platform_fees.is_waiting(row, at)
                else None
            ),
            verification_status="approved"
            if row.kyc_confirmed_at is not None
            else statuses.get(row.pk, NOT_STARTED),
            has_destination=row.pk in with_destination,
        )
        for row in rows
    ]


@dataclass(frozen=True)
class SoldAmount:
    """Sales of a sub-merchant in a currency, in cents, and their number of payments."""

    currency: str
    cents: int
    payments: int


def sold_lately(access: Access, stores: Iterable[Store]) -> dict[uuid.UUID, list[SoldAmount]]:
    """Sales of each store in the newest thirty days of the access's mode, by currency: one
    statement, answered by the index of the sums."""
    spans = SoldSpan.objects.filter(
        platform_id=access.store_id,
        mode=access.mode,
        span=RECENT,
        store_id__in=[store.pk for store in stores],
    ).exclude(payments=0)
    sold: dict[uuid.UUID, list[SoldAmount]] = {}
    columns = ("store_id", "currency", "cents", "payments")
    for store_id, currency, cents, payments in spans.order_by("-cents", "currency").values_list(
        *columns
    ):
        sold.setdefault(store_id, []).append(SoldAmount(currency, cents, payments))
    return sold


def completed_lately(
    access: Access, sold: Mapping[uuid.UUID, Iterable[SoldAmount]], limit: int
) -> dict[uuid.UUID, uuid.UUID]:
    """Accounts of the payments that `sold` counts, by payment: of as many accounts as have `limit`
    payments together, the first of them first."""
    chosen: list[uuid.UUID] = []
    left = limit
    for store_id, amounts in sold.items():
        left -= sum(amount.payments for amount in amounts)
        if left >= 0:
            chosen.append(store_id)
    newest = sold_sums.newest_day()
    if not chosen or newest is None:
        return {}
    first = newest - timedelta(days=sold_sums.RECENT_DAYS - 1)
    rows = Payment.objects.filter(
        platform_id=access.store_id,
        mode=access.mode,
        store_id__in=chosen,
        completed_at__gte=datetime.combine(first, time.min, UTC),
    )
    # What came since the sums were added up is over the limit by so much.
    return dict(rows.order_by().values_list("pk", "store_id")[: 2 * limit])


def described_account(access: Access, store: Store) -> AccountSummary:
    return described(access, [store])[0]


def _latest_statuses(ids: list[uuid.UUID]) -> dict[uuid.UUID, str]:
    rows = (
        Verification.objects.filter(store_id__in=ids)
        .order_by("store_id", "-created_at")
        .distinct("store_id")
    )
    return dict(rows.values_list("store_id", "status"))


def links_of(access: Access, account: Store) -> "models.QuerySet[OnboardingLink]":
    """The links of the platform's mode to an account, newest first."""
    return (
        OnboardingLink.objects.visible_to(access)
        .filter(account=account)
        .order_by("-created_at", "-id")
    )


def payments_of_platform(access: Access) -> "models.QuerySet[Payment]":
    """Payments of the platform's sub-merchants, newest first."""
    rows = Payment.objects.filter(platform_id=access.store_id, mode=access.mode)
    return rows.select_related("store").order_by("-created_at", "-id")


def payment_of_platform(access: Access, id: str) -> Payment:
    """One of them. Raises PaymentNotFound."""
    payment = payments_of_platform(access).filter(pk=id).first() if is_uuid(id) else None
    if payment is None:
        raise PaymentNotFound
    return payment


def filtered_payments(
    rows: "models.QuerySet[Payment]", *, account_id: str | None = None, status: str | None = None
) -> "models.QuerySet[Payment]":
    """An unrecognised status is ignored; an account that isn't there has no payments."""
    if account_id:
        rows = rows.filter(store_id=account_id) if is_uuid(account_id) else rows.none()
    return rows.filter(status=status) if status in Payment.Status.values else rows
