"""Writes that the app above asks for."""

import uuid
from datetime import datetime

from django.db import transaction

from apps.chain.models import Deposit, UnmatchedTransfer
from apps.chain.states import DEPOSIT
from apps.core.machine import Step


def mark_unmatched(deposit: Deposit, reason: str, at: datetime, *, store_id: uuid.UUID | None = None) -> None:
    """Set a deposit aside for staff: nothing credits it by itself. `store_id` is whose payment the address was made for."""
    with transaction.atomic():
        UnmatchedTransfer.objects.get_or_create(
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
        # As it stands now: the watcher may have moved it since it was read.
        locked = Deposit.objects.select_for_update(of=("self",), no_key=True).get(pk=deposit.pk)
        if locked.status != unmatched:
            DEPOSIT.change_locked(locked, Step(unmatched), at=at, handled_status=unmatched)
