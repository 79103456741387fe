"""The merchant takes what came late or in another coin, by the hash of its transaction: toward an
open payment it counts at the rate that is locked for its coin, else it joins the balance.

Anyone who comes second finds it done and changes nothing.
"""

from apps.access import operations
from apps.access.access import Access
from apps.chain.models import UnmatchedTransfer
from apps.chain.services import AlreadyResolved
from apps.core import clock
from apps.core.errors import Failure
from apps.payments.models import LateDeposit, Payment
from apps.payments.services.late import AlreadyAccepted, accept_late_deposit
from apps.payments.services.transfers import accept_transfer, transfers_at


class NothingUndecided(Failure):
    code = "nothing_to_accept"
    message = "No deposit of this transaction waits for a decision on this payment"


def accept_transaction(payment: Payment, tx_hash: str, *, by: Access) -> Payment:
    """The payment as it is then. Raises NothingUndecided, a Failure of late.py or transfers.py,
    or what operations.check refuses with."""
    operations.check(by, operations.TRANSFER_ACCEPT)
    folded = tx_hash.strip().lower()
    try:
        _accept(payment, folded, by)
    except (AlreadyAccepted, AlreadyResolved):
        _accept(payment, folded, by)  # somebody was faster: whether it was accepted is known now
    fresh: Payment = Payment.objects.select_related("store").get(pk=payment.pk)
    return fresh


def _accept(payment: Payment, folded: str, by: Access) -> None:
    late = _late(payment, folded)
    transfers = [transfer for transfer in transfers_at(payment) if transfer.tx_hash == folded]
    waiting = [row for row in late if row.accepted_at is None]
    if not (late or transfers) and not _is_accepted(payment, folded):
        raise NothingUndecided
    for row in waiting:
        accept_late_deposit(
            payment, str(row.deposit_id), clock.now(payment.store, payment.mode), by=by
        )
    for transfer in transfers:
        accept_transfer(by, str(transfer.pk), payment.reference)


def _late(payment: Payment, tx_hash: str) -> list[LateDeposit]:
    rows = payment.late_deposits.filter(deposit__tx_hash=tx_hash).order_by("created_at")
    return list(rows)


def _is_accepted(payment: Payment, tx_hash: str) -> bool:
    """Tells whether a transfer of this transaction at the payment's addresses was accepted, if on
    another payment."""
    return UnmatchedTransfer.objects.filter(
        store_id=payment.store_id,
        address__in=payment.addresses.values("address_id"),
        tx_hash=tx_hash,
        outcome=UnmatchedTransfer.Outcome.CREDITED,
    ).exists()
