"""Books what the sweeper moved between our own addresses, and the gas of it, in the transaction that ticks it off."""

from django.db import transaction

from apps.assets.models import Asset, TokenStandard
from apps.chain import sender
from apps.chain.models import OutgoingTransaction
from apps.core import clock
from apps.core.rows import Job
from apps.ledger import movements

JOB = Job("payments.book_sweeps", limit=100)
_Purpose, _Sent = OutgoingTransaction.Purpose, OutgoingTransaction.Status


def book_sweeps() -> int:
    """The sweep over ended transactions of the sweeper; how many there were. What needs a person is left to one."""
    ended = sender.unhandled(_Purpose.SWEEP, _Purpose.SWEEP_GAS).exclude(status=_Sent.REVIEW)
    return JOB.walk(ended, _book)


def _book(row: OutgoingTransaction) -> None:
    """A reverted one has moved nothing and paid its gas; one that was never signed has cost nothing."""
    native_id = str(Asset.objects.filter(chain=row.chain_id, token_standard=TokenStandard.NATIVE).values_list("pk", flat=True).get())
    moved = row.amount_atomic if row.status == _Sent.CONFIRMED else 0
    at = row.finished_at or clock.real_now()
    with transaction.atomic():
        if row.purpose == _Purpose.SWEEP and (moved or row.network_fee_atomic):
            movements.sweep_confirmed(
                mode=row.mode,
                asset_id=row.asset_id,
                tx_hash=row.tx_hash,
                amount_atomic=moved,
                gas_asset_id=native_id,
                gas_atomic=row.network_fee_atomic,
                at=at,
            )
        elif moved or row.network_fee_atomic:
            movements.sweep_gas_sent(
                mode=row.mode, asset_id=native_id, tx_hash=row.tx_hash, amount_atomic=moved, gas_atomic=row.network_fee_atomic, at=at
            )
        sender.mark_handled(row)
