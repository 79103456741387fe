"""Books what the sweeper moved between our own addresses, the gas of it, and what anything cost
otherwise when it was mined again."""

from django.db import transaction

from apps.assets.models import Asset, TokenStandard
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import gas_left, sender
from apps.core import clock
from apps.core.rows import Job
from apps.ledger import movements
from apps.ledger.chart import CUSTODY_DEPOSITS, CUSTODY_HOT

JOB = Job("payments.book_sweeps", limit=100)
AGAIN = Job("payments.book_mined_again", limit=100)
_Purpose = OutgoingTransaction.Purpose
_Sent = OutgoingTransaction.Status


def book_sweeps() -> int:
    """The sweep over ended transactions of the sweeper; how many there were. What needs a person is
    left to one."""
    ended = sender.unhandled(_Purpose.SWEEP, _Purpose.SWEEP_GAS).exclude(status=_Sent.REVIEW)
    return JOB.walk(ended, _book) + AGAIN.walk(sender.mined_otherwise(), _book_difference)


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
            gas_asset_id=_native_id(row),
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


def _native_id(row: OutgoingTransaction) -> str:
    return str(
        Asset.objects.filter(chain=row.chain_id, token_standard=TokenStandard.NATIVE)
        .values_list("pk", flat=True)
        .get()
    )


def _book(ended: OutgoingTransaction) -> None:
    """A reverted one has moved nothing and paid its gas; one that was never signed has cost
    nothing. Of a sweep, what didn't arrive is what the token has kept."""
    native_id = _native_id(ended)
    with transaction.atomic():
        row = sender.locked_unhandled(ended)
        if row is None:
            return
        moved = row.amount_atomic if row.status == _Sent.CONFIRMED else 0
        tax = moved - row.received_atomic if row.received_atomic else 0
        at = row.finished_at or clock.real_now()
        if row.purpose == _Purpose.SWEEP and (moved or row.network_fee_atomic):
            movements.sweep_confirmed(
                mode=row.mode,
                asset_id=row.asset_id,
                tx_hash=row.tx_hash,
                amount_atomic=moved - tax,
                kept_atomic=tax,
                gas_asset_id=native_id,
                gas_atomic=row.network_fee_atomic,
                at=at,
            )
        elif moved or row.network_fee_atomic:
            movements.sweep_gas_sent(
                mode=row.mode,
                asset_id=native_id,
                tx_hash=row.tx_hash,
                amount_atomic=moved,
                gas_atomic=row.network_fee_atomic,
                at=at,
            )
        sender.mark_handled(row)
        gas_left.note(row.chain_id, _address_of(row))
