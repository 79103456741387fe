"""Tells whether a deposit came in time, by the block that has it."""

from datetime import timedelta

from apps.chain.models import Deposit
from apps.payments.models import Payment


def is_on_time(payment: Payment, deposit: Deposit) -> bool:
    """Its block is not later than the intent's deadline; of coins that it is held open for, than
    the end of that.

    By the store's clock in test mode. A simulated deposit is as old as its record.
    """
    limit = payment.deadline if deposit.asset_id in payment.held_open_assets else payment.expires_at
    if deposit.is_simulated:
        return deposit.detected_at <= limit
    if deposit.mined_at is None:
        return True
    ahead = payment.store.test_offset_seconds if payment.mode == "test" else 0
    return deposit.mined_at + timedelta(seconds=ahead) <= limit
