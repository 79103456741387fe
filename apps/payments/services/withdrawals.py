"""The operator's own earnings, taken out in two steps by two people: one asks, another lets go.

They go to the operator's list of addresses alone, and never more than the earnings are: fees less
gas, as far as the service's own accounts together hold it. What is let go is set aside in the books
first (decision 134).
"""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.assets.models import Asset
from apps.assets.selectors import fee_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.families import addresses_of, stored
from apps.chain.sending.following import TransferFollower, TransferOrder
from apps.chain.sending.limits import is_listed_for_withdrawal, is_refused_destination
from apps.core import clock, jobs
from apps.core.db import locks
from apps.core.errors import Failure
from apps.core.machine import Step
from apps.core.rows import Job
from apps.ledger import movements
from apps.ledger.chart import NETWORK_FEES, SERVICE_FEES, SWAP_CLEARING, TREASURY
from apps.ledger.selectors import account_balance
from apps.payments.models import Withdrawal
from apps.payments.services.refund_progress import book_gas
from apps.payments.states import WITHDRAWAL_MACHINE
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.models import User
from apps.stores.staff.emails import StaffEmail, tell, tell_deciders

_Status = Withdrawal.Status
PURPOSE = OutgoingTransaction.Purpose.WITHDRAWAL
_OWN_KINDS = (TREASURY, SERVICE_FEES, NETWORK_FEES, SWAP_CLEARING)


class WithdrawalRefused(Failure):
    """The text says why."""


@dataclass(frozen=True)
class WithdrawalRequest:
    """A request to withdraw earnings, and its idempotency key."""

    reference: str
    asset: Asset
    amount_atomic: int
    to_address: str
    reason: str


def withdrawable(asset: Asset) -> int:
    """Withdrawable earnings of an asset: its fees, less gas, and no more than all of the service's
    own together."""
    own = {kind: account_balance(None, asset.mode, asset.pk, kind) for kind in _OWN_KINDS}
    # Gas that stores have paid is no earning: what it was paid for has left in the chain's own
    # coin.
    earned = own[SERVICE_FEES] + min(0, own[NETWORK_FEES])
    return max(0, min(earned, sum(own.values())))


def request_withdrawal(request: WithdrawalRequest, staff: User, at: datetime) -> Withdrawal:
    """Ask for it; the same reference with the same content is the same withdrawal. Raises
    WithdrawalRefused."""
    fields = {
        "asset_id": request.asset.pk,
        "amount_atomic": request.amount_atomic,
        "to_address": stored(request.to_address),
        "reason": request.reason.strip(),
    }
    with transaction.atomic():
        withdrawal = Withdrawal.objects.filter(reference=request.reference).first()
        if withdrawal is not None:
            if any(getattr(withdrawal, name) != value for name, value in fields.items()):
                raise WithdrawalRefused(f"{request.reference} is another withdrawal already")
            return withdrawal
        _refuse(request, staff)
        created, _ = Withdrawal.objects.get_or_create(
            reference=request.reference,
            defaults={
                **fields,
                "mode": request.asset.mode,
                "requested_by": staff,
                "requested_at": at,
            },
        )
        _note("requested", created, staff)
        text = (
            f"{staff} requested it. No money leaves until another member of finance staff approves"
            " it."
        )
        tell_deciders(
            staff_roles.WITHDRAWAL, staff, _email(created, "needs a second approval", text)
        )
    return created


def _refuse(request: WithdrawalRequest, staff: User) -> None:
    to = stored(request.to_address)
    if not staff_roles.may(staff, staff_roles.WITHDRAWAL):
        raise WithdrawalRefused("Only finance staff withdraw earnings")
    if not request.reference or not request.reason.strip():
        raise WithdrawalRefused("A withdrawal has a reference and a reason")
    if not is_listed_for_withdrawal(to) or is_refused_destination(to, PURPOSE, request.asset.mode):
        raise WithdrawalRefused("WITHDRAWAL_ADDRESSES doesn't name this address")
    if addresses_of(request.asset.chain).read(to) is None:
        raise WithdrawalRefused(f"This is no address of {request.asset.chain.name}")
    if request.amount_atomic <= 0:
        raise WithdrawalRefused("A withdrawal is of more than nothing")
    _refuse_more_than_earned(request.asset, request.amount_atomic)


def _refuse_more_than_earned(asset: Asset, amount_atomic: int) -> None:
    limit = withdrawable(asset)
    if amount_atomic > limit:
        raise WithdrawalRefused(
            f"The earnings of {asset.pk} are {limit}, less than {amount_atomic}"
        )


def approve_withdrawal(withdrawal_id: uuid.UUID, staff: User, at: datetime) -> Withdrawal:
    """Let it go: it is set aside in the books, and the worker asks for it, once. Raises
    WithdrawalRefused."""
    with transaction.atomic():
        row = (
            Withdrawal.objects.select_for_update(of=("self",))
            .select_related("asset__chain")
            .get(pk=withdrawal_id)
        )
        if row.status != _Status.REQUESTED:
            raise WithdrawalRefused(f"The withdrawal is {row.status} already")
        if not staff_roles.may(staff, staff_roles.WITHDRAWAL) or staff.pk == row.requested_by_id:
            raise WithdrawalRefused(
                "A second member of finance staff has to approve it, not the one who asked"
            )
        # The same turn as swaps against the service's coins take: nothing of its own goes out
        # twice.
        locks.hold_in_transaction(locks.LockKind.TREASURY, row.asset_id)
        _refuse_more_than_earned(row.asset, row.amount_atomic)
        movements.withdrawal_created(
            mode=row.mode,
            asset_id=row.asset_id,
            withdrawal_id=row.pk,
            amount_atomic=row.amount_atomic,
            at=at,
        )
        WITHDRAWAL_MACHINE.change_locked(
            row, Step(_Status.APPROVED), at=at, decided_by=staff, decided_at=at
        )
        jobs.enqueue("payments.advance_treasury")
        _note("approved", row, staff)
        _tell_asker("approved", row, staff)
    return row


def reject_withdrawal(withdrawal_id: uuid.UUID, staff: User, at: datetime) -> Withdrawal:
    """Reject it; the person who asked may take it back. Raises WithdrawalRefused."""
    with transaction.atomic():
        row = Withdrawal.objects.select_for_update(of=("self",)).get(pk=withdrawal_id)
        if row.status != _Status.REQUESTED:
            raise WithdrawalRefused(f"The withdrawal is {row.status} already")
        if not staff_roles.may(staff, staff_roles.WITHDRAWAL):
            raise WithdrawalRefused("Only finance staff reject a withdrawal")
        WITHDRAWAL_MACHINE.change_locked(
            row, Step(_Status.REJECTED), at=at, decided_by=staff, decided_at=at
        )
        _note("rejected", row, staff)
        _tell_asker("rejected", row, staff)
    return row


def _tell_asker(outcome: str, row: Withdrawal, staff: User) -> None:
    if row.requested_by != staff:
        tell(
            row.requested_by,
            _email(row, f"was {outcome}", f"{staff} {outcome} your request."),
        )


def _email(row: Withdrawal, outcome: str, text: str) -> StaffEmail:
    path = f"/admin/payments/withdrawal/{row.pk}/decide/"
    return StaffEmail(
        f"withdrawal:{row.pk}:{row.status}",
        f"A withdrawal of earnings {outcome}",
        text,
        row.reference,
        row.reason,
        path,
    )


def _note(action: str, row: Withdrawal, staff: User) -> None:
    details = {
        "asset": row.asset_id,
        "amount_atomic": str(row.amount_atomic),
        "to_address": row.to_address,
        "staff": str(staff.pk),
    }
    audit.record(
        f"withdrawal.{action}",
        target=row,
        mode=row.mode,
        name=row.reference,
        reason=row.reason,
        details=details,
    )


class WithdrawalFollower(TransferFollower[Withdrawal]):
    """Follower of approved withdrawals. Of one that failed both who asked and who approved are
    emailed."""

    purpose = PURPOSE
    job = Job("payments.advance_withdrawals", limit=100)
    model = Withdrawal
    open_statuses = (_Status.APPROVED,)
    oldest_by = "decided_at"
    joined = ("asset__chain",)
    attempt_failed = staticmethod(book_gas)

    def now(self, row: Withdrawal) -> datetime:
        return clock.real_now()

    def order(self, row: Withdrawal, at: datetime) -> TransferOrder:
        Withdrawal.objects.filter(pk=row.pk, is_requested=False).update(is_requested=True)
        return TransferOrder(row.asset, row.to_address, row.amount_atomic)

    def confirmed(self, row: Withdrawal, transfer: OutgoingTransaction, at: datetime) -> None:
        _end(row, _Status.CONFIRMED, transfer, at)

    def failed(self, row: Withdrawal, transfer: OutgoingTransaction, at: datetime) -> None:
        _end(row, _Status.FAILED, transfer, at, failure_reason=transfer.reason[:200])
        email = _email(row, "failed", f"{transfer.reason}. The earnings can be withdrawn again.")
        for person in filter(None, (row.requested_by, row.decided_by)):
            tell(person, email)


def _end(
    row: Withdrawal, to: str, transfer: OutgoingTransaction, at: datetime, **changes: str
) -> None:
    is_confirmed = to == _Status.CONFIRMED
    book = movements.withdrawal_confirmed if is_confirmed else movements.withdrawal_released
    book(
        mode=row.mode,
        asset_id=row.asset_id,
        withdrawal_id=row.pk,
        amount_atomic=row.amount_atomic,
        gas_asset_id=fee_asset_id(row.asset),
        gas_atomic=transfer.network_fee_atomic,
        at=at,
    )
    WITHDRAWAL_MACHINE.change_locked(
        row, Step(to), at=at, finished_at=at, tx_hash=transfer.tx_hash, **changes
    )


FOLLOWER = WithdrawalFollower()
advance_withdrawals = FOLLOWER.advance
