"""Books what the sweeper moved between our own addresses, what that and the joining of coins cost,
and what anything cost otherwise when it was mined again."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import gas_left, sender
from apps.chain.sending.following import Booking
from apps.core import clock
from apps.core.rows import Job
from apps.ledger import movements
from apps.ledger.chart import CUSTODY_DEPOSITS, CUSTODY_HOT

AGAIN = Job("payments.book_mined_again", limit=100)
_Purpose = OutgoingTransaction.Purpose


def _book_difference(outgoing: OutgoingTransaction) -> None:
    """A transaction's app has booked its end; a reorg undid it, and the second time gas or the
    exchange's price was another."""
    with transaction.atomic():
        row = (
            sender.mined_otherwise().select_for_update(of=("self",)).filter(pk=outgoing.pk).first()
        )
        if row is None:
            return
        movements.mined_again(
            mode=row.mode,
            outgoing_id=row.pk,
            time=row.undone_count,
            gas_asset_id=_fee_asset_id(row),
            gas_atomic=row.network_fee_atomic - row.handled_fee_atomic,
            paid_from=CUSTODY_DEPOSITS if row.purpose == _Purpose.SWEEP else CUSTODY_HOT,
            received_asset_id=row.receives_asset_id or "",
            received_atomic=(
                row.received_atomic - row.handled_received_atomic if row.receives_asset_id else 0
            ),
            at=row.finished_at or clock.real_now(),
        )
        sender.mark_handled(row)
        if row.purpose in (_Purpose.SWEEP, _Purpose.SWEEP_GAS):
            gas_left.note(row.chain_id, _address_of(row))


def _address_of(row: OutgoingTransaction) -> str:
    return row.from_address if row.purpose == _Purpose.SWEEP else row.to_address


def _fee_asset_id(row: OutgoingTransaction) -> str:
    return str(
        Asset.objects.filter(chain=row.chain_id, pays_fees=True).values_list("pk", flat=True).get()
    )


class SweepFollower(Booking):
    """Sweeps, the gas that is sent ahead for them or that a batch of them takes, and coins that are
    joined. The sweeper asks
    again for what failed, and nobody has to act."""

    purpose = _Purpose.SWEEP
    purposes = (_Purpose.SWEEP, _Purpose.SWEEP_GAS, _Purpose.SWEEP_BATCH, _Purpose.JOIN)
    job = Job("payments.book_sweeps", limit=100)

    def follow(self, row: Any, transfer: OutgoingTransaction, at: datetime) -> None:
        super().follow(row, transfer, at)
        if transfer.purpose in (_Purpose.SWEEP, _Purpose.SWEEP_GAS):
            gas_left.note(transfer.chain_id, _address_of(transfer))

    def book(self, transfer: OutgoingTransaction, moved_atomic: int, at: datetime) -> None:
        """Of a sweep, what didn't arrive is what the token has kept."""
        if transfer.purpose == _Purpose.JOIN:
            movements.coins_joined(
                mode=transfer.mode,
                outgoing_id=transfer.pk,
                gas_asset_id=_fee_asset_id(transfer),
                gas_atomic=transfer.network_fee_atomic,
                at=at,
            )
            return
        if transfer.purpose in (_Purpose.SWEEP_GAS, _Purpose.SWEEP_BATCH):
            is_batch = transfer.purpose == _Purpose.SWEEP_BATCH
            movements.sweep_gas_sent(
                mode=transfer.mode,
                asset_id=_fee_asset_id(transfer),
                tx_hash=transfer.tx_hash,
                amount_atomic=0 if is_batch else moved_atomic,
                gas_atomic=transfer.network_fee_atomic,
                at=at,
            )
            return
        tax = moved_atomic - transfer.received_atomic if transfer.received_atomic else 0
        movements.sweep_confirmed(
            mode=transfer.mode,
            asset_id=transfer.asset_id,
            tx_hash=transfer.tx_hash,
            part_id=transfer.pk if transfer.spend_id or transfer.batch_id else None,
            amount_atomic=moved_atomic - tax,
            kept_atomic=tax,
            gas_asset_id=_fee_asset_id(transfer),
            gas_atomic=transfer.network_fee_atomic,
            at=at,
        )

    def notify(self, transfer: OutgoingTransaction, outcome: str, text: str) -> None:
        pass


FOLLOWER = SweepFollower()


def book_sweeps() -> int:
    """The sweep over ended transactions of the sweeper; how many there were."""
    return FOLLOWER.advance() + AGAIN.walk(sender.mined_otherwise(), _book_difference)
