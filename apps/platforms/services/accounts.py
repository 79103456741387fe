"""Sub-merchants of a platform: opened once per external id, changed, closed when nothing of theirs
is left or under way, opened again."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from apps.access import operations
from apps.access.access import Access
from apps.access.closing import revoke_credentials_of
from apps.assets.services import accept_all_active
from apps.core import clock, money
from apps.core.db import tenancy
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, RefusalKind
from apps.core.idempotency import make_once
from apps.core.messages.fields import Invalid, is_uuid
from apps.core.models import Mode
from apps.ledger.selectors import balances
from apps.payments.models import Payment, Refund
from apps.payouts.models import Payout
from apps.platforms.documents import deleted_event
from apps.platforms.requests import AccountChanges, AccountRequest
from apps.platforms.selectors import AccountNotFound, find_account
from apps.stores import platform_fees
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.webhooks import events
from apps.webhooks.services.endpoints import disable_endpoints_of

IN_FLIGHT = (Payment.Status.PENDING, Payment.Status.PROCESSING)
ENDED_PAYOUTS = (Payout.Status.CONFIRMED, Payout.Status.FAILED)
OPEN_REFUNDS = (Refund.Status.PENDING, Refund.Status.SUBMITTED)


class AccountDeleted(Failure):
    kind = RefusalKind.CONFLICT
    field = "external_id"
    code = "account_deleted"
    message = "The account with this external_id has been deleted; restore it"


class NotDeleted(Failure):
    code = "account_not_deleted"
    message = "This account has not been deleted"


class HasActiveFunds(Failure):
    kind = RefusalKind.CONFLICT
    code = "account_has_active_funds"
    message = "This account has a balance or payments under way"


class ExternalIdTaken(Failure):
    field = "external_id"
    message = "External has already been taken"


@dataclass(frozen=True)
class AccountBlocker:
    """Records that keep an account from being closed, and how many."""

    type: str
    count: int


def create_account(access: Access, request: AccountRequest) -> tuple[Store, bool]:
    """The sub-merchant, and whether this call made it. Raises Invalid or AccountDeleted."""
    platform = access.store
    external_id = request.external_id
    earlier = _account_of(platform, external_id)
    if earlier is not None:
        return earlier, False
    fee = _fee(platform, request.platform_fee_percentage)

    def make() -> Store:
        account: Store = Store.objects.create(
            name=request.name,
            country=request.country or "",
            settlement_currency=platform.settlement_currency,
            created_at=clock.real_now(),
            platform=platform,
            platform_fee_fraction=fee,
            external_id=external_id,
        )
        with tenancy.also([account], Mode.values):
            accept_all_active(account)
        details = {"external_id": external_id, "platform_fee": fee}
        audit.record(
            "account.opened", store=platform, target=account, name=account.name, details=details
        )
        return account

    return make_once(lambda: _account_of(platform, external_id), make)


def _account_of(platform: Store, external_id: str | None) -> Store | None:
    if external_id is None:
        return None
    account = Store.objects.filter(platform=platform, external_id=external_id).first()
    if account is not None and account.deleted_at is not None:
        raise AccountDeleted
    return account


def _fee(platform: Store, text: str | None) -> Decimal | None:
    """None inherits the platform's default. Service and platform together leave the merchant
    something."""
    if text is None:
        return None
    fee = Decimal(text)
    if fee + platform.fee_fraction >= 1:
        raise Invalid("platform_fee_percentage", "nothing_left")
    ceiling = platform.platform_fee_ceiling_fraction
    if ceiling is not None and fee > ceiling:
        raise Invalid(
            "platform_fee_percentage", "above_ceiling", ceiling=money.fraction_text(ceiling)
        )
    return fee


def update_account(access: Access, account: Store, changes: AccountChanges) -> Store:
    """Change what was sent. A raised fee holds later in live mode, and who pays it is notified.
    Raises Invalid or ExternalIdTaken."""
    fields = changes.sent()
    platform = access.store
    if "platform_fee_percentage" in fields:
        fields["platform_fee_fraction"] = _fee(platform, fields.pop("platform_fee_percentage"))
    with transaction.atomic():
        return _update(access, _locked(access, str(account.pk)), fields)


def _update(access: Access, account: Store, fields: dict[str, object]) -> Store:
    platform = access.store
    details = audit.changes(account, fields)
    if not details:
        return account
    former = copy(account)
    for name, value in fields.items():
        setattr(account, name, value)
    is_other_fee = "platform_fee_fraction" in details
    if is_other_fee:
        chosen = platform_fees.chosen_fee(account, platform)
        notice = platform_fees.change_fee(former, platform, chosen, clock.real_now())
        for name, value in notice.items():
            setattr(account, name, value)
        fields = {**fields, **notice}
    with refused_by("store_external_id_unique", ExternalIdTaken):
        account.save(update_fields=list(fields))
        if is_other_fee:
            with tenancy.also([account], Mode.values):
                platform_fees.tell_raise(account, platform)
        audit.record(
            "account.changed",
            store=access.store,
            target=account,
            name=account.name,
            details=details,
        )
    return account


def delete_account(access: Access, account_id: str) -> None:
    """Close an account that has nothing left. Its ledger stays. Raises AccountNotFound or
    HasActiveFunds."""
    operations.check(access, operations.ACCOUNT_CLOSE)
    account = find_account(access, account_id)
    with tenancy.also([account], Mode.values), transaction.atomic():
        account = _locked(access, account_id)
        if account.deleted_at is not None:
            raise AccountNotFound
        obstacles = blockers(account)
        if obstacles:
            raise HasActiveFunds(
                blockers=[
                    {"type": obstacle.type, "count": obstacle.count} for obstacle in obstacles
                ]
            )
        account.deleted_at = clock.real_now()
        account.save(update_fields=["deleted_at"])
        revoke_credentials_of(account, account.deleted_at)
        disable_endpoints_of(account)
        audit.record("account.deleted", store=access.store, target=account, name=account.name)
        _tell_deleted(account, account.deleted_at)


def _tell_deleted(account: Store, at: datetime) -> None:
    """Accounts have no mode, so the platform's endpoints of both hear of it."""
    for mode in Mode.values:
        events.record(
            store_id=account.pk,
            mode=mode,
            type="store.deleted",
            object=deleted_event(account, at),
            at=at + clock.offset(account, mode),
            platform_id=account.platform_id,
        )


def restore_account(access: Access, account_id: str) -> Store:
    """Open a closed account again; keys and endpoints stay off. Raises AccountNotFound or
    NotDeleted."""
    with transaction.atomic():
        account = _locked(access, account_id)
        if account.deleted_at is None:
            raise NotDeleted
        account.deleted_at = None
        account.save(update_fields=["deleted_at"])
        audit.record("account.restored", store=access.store, target=account, name=account.name)
    return account


def blockers(account: Store, modes: Sequence[str] = tuple(Mode.values)) -> list[AccountBlocker]:
    """Obstacles to closing an account, in these modes."""
    asset_count = sum(
        bool(balance.total_atomic)
        for mode in modes
        for balance in balances(account.pk, mode).values()
    )
    counts = {
        "store_balance": asset_count,
        "pending_payout": Payout.objects.filter(store=account, mode__in=modes)
        .exclude(status__in=ENDED_PAYOUTS)
        .count(),
        "in_flight_payment_intent": Payment.objects.filter(
            store=account, mode__in=modes, status__in=IN_FLIGHT
        ).count(),
        "pending_refund": Refund.objects.filter(
            store=account, mode__in=modes, status__in=OPEN_REFUNDS
        ).count(),
    }
    return [AccountBlocker(type, count) for type, count in counts.items() if count]


def _locked(access: Access, account_id: str) -> Store:
    rows = Store.objects.select_for_update().filter(platform_id=access.store_id)
    account = rows.filter(pk=account_id).first() if is_uuid(account_id) else None
    if account is None:
        raise AccountNotFound
    return account
