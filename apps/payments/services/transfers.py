"""A store's decisions about unmatched coins: they join a payment as a late deposit, or go back.

Only what demonstrably came to an address of the store while it was the store's; the rest is for
staff. Staff and store act once.
"""

import contextlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import UUIDField

from apps.access import operations
from apps.access.access import Access
from apps.chain.addresses import check_recipient
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.chain.networks.base import Address
from apps.chain.networks.families import stored
from apps.chain.payers import check_payers
from apps.chain.providers.base import RpcError
from apps.chain.services import claim_unmatched
from apps.core import clock, jobs
from apps.core.db.prepared_reads import Query
from apps.core.db.sql import BlankParameter
from apps.core.errors import Failure, NotFound
from apps.core.text.wording import Worded
from apps.ledger import movements
from apps.payments import states
from apps.payments.models import LateDeposit, Payment, PaymentAddress, TransferReturn
from apps.payments.moments import is_on_time
from apps.payments.services.change_status import locked_payment
from apps.payments.services.late import note_accepted
from apps.payments.services.refund import PATIENCE_SECONDS
from apps.payments.services.refund_payers import standing_of
from apps.payments.services.settle import shares, take_in
from apps.payments.services.transfer_returns import booking_of
from apps.stores.auditing import audit
from apps.stores.staff.suspensions import RefundsToPayers, Suspension, is_suspended


class ForSupport(Failure):
    message = (
        "This transfer can't be matched to an address of your store automatically. Contact support"
    )


class UnknownPayment(Failure):
    field = "reference"
    message = "No payment of your store has this reference"


class HeldElsewhere(Failure):
    field = "reference"

    def __init__(self, reference: str) -> None:
        super().__init__(
            Worded(
                "These coins are held for payment {reference}; accept them there",
                reference=reference,
            )
        )


class SenderUnknown(Failure):
    """A contract, a mint, or somebody who has shown no key (apps.chain.payers)."""

    field = "destination_address"
    message = (
        "Nothing shows that somebody can use coins at the sending address. Ask your customer for an"
        " address"
    )


class InOwnWallet(Failure):
    message = (
        "These coins are in your own wallet, so nothing is booked or returned here. Send them back"
        " from your wallet"
    )


@dataclass(frozen=True)
class Claim:
    """A transfer, the deposit that it is, and the payment whose address it came to."""

    transfer: UnmatchedTransfer
    deposit: Deposit
    payment: Payment


def transfer_of(access: Access, transfer_id: str) -> UnmatchedTransfer:
    """A transfer of the store, whether or not the store may act upon it. Raises NotFound."""
    rows = UnmatchedTransfer.objects.filter(
        store_id=access.store_id, chain__mode=access.mode
    ).select_related("chain", "asset")
    transfer = (
        rows.filter(pk=int(transfer_id)).first()
        if transfer_id.isdecimal() and len(transfer_id) < 19
        else None
    )
    if transfer is None:
        raise NotFound
    return transfer


_AT_PAYMENT = Query(
    lambda: UnmatchedTransfer.objects.filter(
        store=BlankParameter("store_id", UUIDField()),
        address__in=PaymentAddress.objects.filter(
            payment=BlankParameter("payment_id", UUIDField())
        ).values("address_id"),
        resolved_at=None,
        asset__isnull=False,
    ).order_by("detected_at"),
    "asset",
)


def transfers_at(payment: Payment) -> list[UnmatchedTransfer]:
    """Transfers that wait at the payment's addresses in another coin, oldest first."""
    return _AT_PAYMENT.read(store_id=payment.store_id, payment_id=payment.pk)


def claim_of(access: Access, transfer: UnmatchedTransfer) -> Claim:
    """Claim of the store to the transfer. Raises ForSupport."""
    address = (
        PaymentAddress.objects.filter(address=transfer.address_id)
        .select_related("payment__store")
        .first()
    )
    arrival = Deposit.objects.filter(
        chain=transfer.chain_id, tx_hash=transfer.tx_hash, log_index=transfer.log_index
    )
    deposit = arrival.select_related("asset__chain").first()
    if address is None or deposit is None:
        raise ForSupport
    if address.own_wallet_id is not None:
        raise InOwnWallet
    payment = address.payment
    is_theirs = (payment.store_id, payment.mode) == (
        access.store_id,
        access.mode,
    ) and deposit.asset.mode == access.mode
    is_the_same = (deposit.address_id, deposit.asset_id, deposit.amount_atomic) == (
        transfer.address_id,
        transfer.asset_id,
        transfer.amount_atomic,
    )
    if not (is_theirs and is_the_same and _came_after(payment, deposit)):
        raise ForSupport
    return Claim(transfer, deposit, payment)


def _came_after(payment: Payment, deposit: Deposit) -> bool:
    """Nobody paid the store at an address before it was the store's. A simulated deposit is as old
    as its record."""
    if deposit.is_simulated:
        return deposit.detected_at >= payment.created_at
    if deposit.mined_at is None:
        return False
    ahead = payment.store.test_offset_seconds if payment.mode == "test" else 0
    return deposit.mined_at + timedelta(seconds=ahead) >= payment.created_at


def accept_transfer(access: Access, transfer_id: str, reference: str) -> Payment:
    """Book it as a late deposit that is accepted, on the payment with this reference; its fees are
    that payment's. On an open one it counts at the rate that is locked for its coin, and for
    nothing where there is none."""
    operations.check(access, operations.TRANSFER_ACCEPT)
    claim = claim_of(access, transfer_of(access, transfer_id))
    rows = Payment.objects.visible_to(access).filter(reference=reference.strip().upper())
    with transaction.atomic():
        payment: Payment | None = (
            rows.select_for_update(of=("self",)).select_related("store").first()
        )
        if payment is None:
            raise UnknownPayment
        at = clock.now(payment.store, payment.mode)
        _take_in(claim, payment, UnmatchedTransfer.Outcome.CREDITED, at)
        of_payment = {"payment": payment, "store_id": payment.store_id, "mode": payment.mode}
        LateDeposit.objects.create(
            deposit=claim.deposit,
            **of_payment,
            created_at=at,
            accepted_at=at,
            is_late=not is_on_time(payment, claim.deposit),
            is_counted=payment.status not in states.TERMINAL,
        )
        details = shares(payment, claim.deposit.asset_id, claim.deposit.amount_atomic, is_own=False)
        movements.late_deposit_accepted(deposit_id=claim.deposit.pk, **details, at=at)
        note_accepted(payment, claim.deposit, at)
        _record("unmatched_transfer.accepted", claim, payment)
    return payment


def look_at_sender(access: Access, transfer_id: str) -> None:
    """Learn who sent it. Asks a node: not inside a transaction. Without an answer the sender stays
    unknown."""
    claim = claim_of(access, transfer_of(access, transfer_id))
    with contextlib.suppress(RpcError):
        check_payers([claim.deposit], clock.real_now(), patience_seconds=PATIENCE_SECONDS)


def send_transfer_back(access: Access, transfer_id: str, address: str = "") -> TransferReturn:
    """To the address that it came from, if it is known that somebody can use coins there
    (`look_at_sender`), or to one that the merchant enters; with a record of its own that
    services.transfer_returns brings to its end.

    Raises SenderUnknown, RefundsToPayers while payouts are suspended, and what check_recipient
    refuses with.
    """
    operations.check(access, operations.TRANSFER_RETURN)
    claim = claim_of(access, transfer_of(access, transfer_id))
    with transaction.atomic():
        payment = locked_payment(claim.payment.pk)
        at = clock.now(payment.store, payment.mode)
        _take_in(claim, payment, UnmatchedTransfer.Outcome.RETURNED, at)
        destination = (
            check_recipient(address.strip(), claim.deposit.asset)
            if address.strip()
            else _sender_of(claim.deposit)
        )
        is_elsewhere = destination != stored(claim.deposit.from_address)
        if is_elsewhere and is_suspended(payment.store, Suspension.PAYOUTS):
            raise RefundsToPayers
        transfer = TransferReturn.objects.create(
            store_id=payment.store_id,
            mode=payment.mode,
            created_at=at,
            updated_at=at,
            transfer=claim.transfer,
            payment=payment,
            asset=claim.deposit.asset,
            destination_address=destination,
            is_elsewhere=is_elsewhere,
            amount_atomic=claim.deposit.amount_atomic,
            is_simulated=claim.deposit.is_simulated,
        )
        movements.transfer_return_created(**booking_of(transfer, at))
        _record("unmatched_transfer.returned", claim, payment, destination)
        jobs.enqueue("payments.advance_refunds", mode=payment.mode)
    return transfer


def _sender_of(deposit: Deposit) -> Address:
    sender = standing_of(deposit).address
    if sender is None:
        raise SenderUnknown
    return sender


def _take_in(claim: Claim, payment: Payment, outcome: str, at: datetime) -> None:
    """Into custody and held for the payment, unless a return that failed has left it there."""
    deposit = claim.deposit
    claim_unmatched(claim.transfer, deposit, outcome, at)
    if TransferReturn.objects.filter(transfer=claim.transfer).exists():
        if payment.pk != claim.payment.pk:
            raise HeldElsewhere(claim.payment.reference)
        return
    take_in(payment, deposit, at, is_own=False)


def _record(action: str, claim: Claim, payment: Payment, destination: str = "") -> None:
    deposit = claim.deposit
    details = {
        "asset": deposit.asset_id,
        "amount_atomic": str(deposit.amount_atomic),
        "tx_hash": deposit.tx_hash,
    }
    if destination:
        details["to"] = destination
    audit.record(
        action,
        store=payment.store_id,
        mode=payment.mode,
        target=payment,
        name=payment.reference,
        details=details,
    )
