"""Coins of test mode that no chain knows: deposits, and transfers that go out.

A deposit is named by its reference: using it again changes that deposit.
"""

import hashlib
import secrets
import uuid
from datetime import datetime, timedelta

from apps.assets.models import Asset
from apps.chain.models import Deposit
from apps.chain.states import DEPOSIT
from apps.core.db.sql import insert
from apps.core.machine import Step

SIMULATED_INDEX = -1
# A transfer out takes so long by the store's clock or, whichever is over first, by the machine's.
UNDER_WAY = timedelta(seconds=60)
UNDER_WAY_REAL = timedelta(seconds=10)
HASHES_SINCE = "0018_simulated_hashes_of_records"  # the migration


def new_hash() -> str:
    """A transaction's hash that no chain has."""
    return "0x" + secrets.token_hex(32)


def hash_of(record_id: uuid.UUID) -> str:
    """Of the transfer that a record represents: always the same, so that another one in the record
    is found."""
    return "0x" + hashlib.sha256(f"simulated:{record_id}".encode()).hexdigest()


def other_hash_sql(row: str) -> str:
    """SQL: whether a simulated record that was made since hashes are the record's own has another
    one."""
    own = f"'0x' || encode(sha256(convert_to('simulated:' || {row}.id, 'UTF8')), 'hex')"
    made = f"('x' || left(replace({row}.id::text, '-', ''), 12))::bit(48)::bigint"
    since = (
        "(SELECT extract(epoch FROM applied) * 1000 FROM django_migrations WHERE app = 'chain'"  # noqa: S608  # ours
        f" AND name = '{HASHES_SINCE}')"
    )
    return f"({row}.tx_hash <> {own} AND substr({row}.id::text, 15, 1) = '7' AND {made} > {since})"


def has_arrived(
    submitted_at: datetime | None, submitted_real_at: datetime | None, at: datetime, real: datetime
) -> bool:
    """True if a transfer that set out then, by the two clocks, is confirmed now."""
    by_store = submitted_at is not None and submitted_at + UNDER_WAY <= at
    return by_store or (
        submitted_real_at is not None and submitted_real_at + UNDER_WAY_REAL <= real
    )


def put(
    address_id: str,
    asset: Asset,
    reference: str,
    *,
    amount_atomic: int,
    confirmations: int,
    status: str,
    at: datetime,
    payer: str | None = None,
) -> tuple[Deposit, int]:
    """The simulated deposit `reference` of an address, made or changed, and by how much a confirmed
    (so booked) one has grown."""
    deposit = (
        Deposit.objects.select_for_update()
        .filter(address_id=address_id, simulated_reference=reference, is_simulated=True)
        .first()
    )
    if deposit is None:
        payer = payer or "0x" + secrets.token_hex(20)
        return _new(
            address_id, asset, reference, amount_atomic, confirmations, status, at, payer
        ), 0
    grown_atomic = 0
    if deposit.status == Deposit.Status.CONFIRMED:
        grown_atomic = (
            amount_atomic - deposit.amount_atomic if status != Deposit.Status.FAILED else 0
        )
        deposit.amount_atomic += grown_atomic
        deposit.save(update_fields=["amount_atomic"])
    else:
        columns = {
            "amount_atomic": amount_atomic,
            "simulated_confirmations": confirmations,
            "confirmed_at": at if status == Deposit.Status.CONFIRMED else None,
            "failed_at": at if status == Deposit.Status.FAILED else None,
        }
        DEPOSIT.change_locked(deposit, Step(status), at=at, **columns)
    return deposit, grown_atomic


def _new(
    address_id: str,
    asset: Asset,
    reference: str,
    amount_atomic: int,
    confirmations: int,
    status: str,
    at: datetime,
    payer: str,
) -> Deposit:
    deposit = Deposit(
        chain_id=asset.chain_id,
        asset=asset,
        address_id=address_id,
        tx_hash=new_hash(),
        log_index=SIMULATED_INDEX,
        from_address=payer,
        amount_atomic=amount_atomic,
        status=status,
        required_confirmations=asset.chain.required_confirmations,
        detected_at=at,
        confirmed_at=at if status == Deposit.Status.CONFIRMED else None,
        failed_at=at if status == Deposit.Status.FAILED else None,
        is_simulated=True,
        simulated_reference=reference,
        simulated_confirmations=confirmations,
    )
    insert(deposit)
    return deposit
