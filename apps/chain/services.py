"""Writes that the app above asks for."""

import uuid
from datetime import datetime

from django.db import transaction

from apps.chain.models import Deposit, UnmatchedTransfer
from apps.chain.selectors import is_final
from apps.chain.states import DEPOSIT
from apps.core.errors import Failure
from apps.core.machine import Step


def mark_unmatched(
    deposit: Deposit, reason: str, at: datetime, *, store_id: uuid.UUID | None = None
) -> UnmatchedTransfer:
    """Set a deposit aside for staff: nothing credits it by itself. `store_id` is whose payment the
    address was made for."""
    with transaction.atomic():
        transfer, _ = UnmatchedTransfer.objects.get_or_create(
            chain_id=deposit.chain_id,
            tx_hash=deposit.tx_hash,
            log_index=deposit.log_index,
            defaults={
                "store_id": store_id,
                "asset_id": deposit.asset_id,
                "contract_address": deposit.asset.contract_address or "",
                "address_id": deposit.address_id,
                "from_address": deposit.from_address,
                "amount_atomic": deposit.amount_atomic,
                "block_number": deposit.block_number or 0,
                "reason": reason,
                "detected_at": at,
            },
        )
        unmatched = Deposit.Status.UNMATCHED
        # Its present state: the watcher may have moved it since it was read.
        locked = Deposit.objects.select_for_update(of=("self",), no_key=True).get(pk=deposit.pk)
        if locked.status != unmatched:
            DEPOSIT.change_locked(
                locked, Step(unmatched), at=at, handled_status=unmatched, confirmed_at=None
            )
    return transfer


class NotConfirmedYet(Failure):
    message = "This transfer has not confirmed yet"


class AlreadyResolved(Failure):
    message = "This transfer has been resolved already"


def claim_unmatched(
    transfer: UnmatchedTransfer, deposit: Deposit, outcome: str, at: datetime
) -> None:
    """The store whose address it came to takes it, once: staff and store meet here. The deposit
    counts as confirmed and acted upon.

    Within the caller's transaction, which books it. Raises AlreadyResolved or NotConfirmedYet.
    """
    waiting = UnmatchedTransfer.objects.filter(pk=transfer.pk, resolved_at=None)
    if not waiting.update(resolved_at=at, outcome=outcome):
        raise AlreadyResolved
    locked = Deposit.objects.select_for_update(of=("self",), no_key=True).get(pk=deposit.pk)
    if locked.status == Deposit.Status.CONFIRMED:
        return  # it was sent back before, and came back to the store
    if not is_final(locked):
        raise NotConfirmedYet
    confirmed = Deposit.Status.CONFIRMED
    confirmed_at = locked.confirmed_at or at
    DEPOSIT.change_locked(
        locked, Step(confirmed), at=at, handled_status=confirmed, confirmed_at=confirmed_at
    )


def reopen_unmatched(transfer_id: int) -> None:
    """Reopens the store's decision after a return that could not be sent."""
    UnmatchedTransfer.objects.filter(pk=transfer_id).update(resolved_at=None, outcome="")
