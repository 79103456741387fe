"""The rows of what a rejected payment can't give back yet: made, waiting, taken by the merchant, or
back after a refund that failed. The caller has locked the payment.

A payment with a share that waits is flagged, its merchant notified once a share, its customer asked
(services.refund_links).
"""

from collections.abc import Iterable
from datetime import datetime

from apps.core import jobs
from apps.payments.models import HeldRefund, Payment, Refund
from apps.payments.services import attention
from apps.payments.services.hold import HELD_REFUND, flag
from apps.payments.services.refund_links import ask_customer
from apps.payments.services.refund_payers import UnknownShare
from apps.payments.services.refund_shares import HELD_STATUSES, owed_from_held

_Status = HeldRefund.Status


def hold_back(
    payment: Payment, shares: Iterable[UnknownShare], reason: str, at: datetime
) -> list[HeldRefund]:
    """A row for each share. Who wasn't looked at yet is looked at by a job; for the others an
    address is asked for."""
    rows = [_row_of(payment, share, reason, at) for share in shares]
    if any(row.status == _Status.WAITING for row in rows):
        ask(payment, [row for row in rows if row.status == _Status.WAITING])
    if any(row.status == _Status.CHECKING for row in rows):
        jobs.enqueue("payments.advance_refunds", mode=payment.mode)
    return rows


def _row_of(payment: Payment, share: UnknownShare, reason: str, at: datetime) -> HeldRefund:
    """New, or the one of an earlier time, which has no refund that is under way or done."""
    columns: dict[str, object] = {
        "amount_atomic": share.amount_atomic,
        "reason": reason,
        "status": _Status.WAITING if share.why else _Status.CHECKING,
        "why": share.why or "",
        "updated_at": at,
    }
    row, is_new = HeldRefund.objects.get_or_create(
        payment=payment,
        asset=share.asset,
        payer_address=share.payer,
        defaults={
            **columns,
            "store_id": payment.store_id,
            "mode": payment.mode,
            "created_at": at,
        },
    )
    if not is_new and row.status == _Status.WAITING:
        _change(row, at, amount_atomic=share.amount_atomic)
    elif not is_new and row.status != _Status.SENT:
        del columns["reason"], columns["updated_at"]
        _change(row, at, **columns)
    return row


def wait_for_address(row: HeldRefund, why: HeldRefund.Why, at: datetime) -> None:
    """Nothing may go back to its sender, or nothing could."""
    _change(row, at, status=_Status.WAITING, why=why, destination_address=None, proof="")


def send_to(row: HeldRefund, address: str, proof: HeldRefund.Proof, at: datetime) -> None:
    """Keep where its refund is about to go, and what proves it."""
    _change(row, at, status=_Status.SENT, destination_address=address, proof=proof)


def _change(row: HeldRefund, at: datetime, **columns: object) -> None:
    for name, value in {**columns, "updated_at": at}.items():
        setattr(row, name, value)
    row.save(update_fields=[*columns, "updated_at"])


def ask(payment: Payment, rows: Iterable[HeldRefund]) -> None:
    """Flag the payment, tell the merchant of each share, and write to the customer."""
    for row in rows:
        attention.refund_held(payment, row)
    flag(payment, HELD_REFUND)
    ask_customer(payment)


def open_rows(payment: Payment) -> list[HeldRefund]:
    """Rows that aren't dealt with, locked."""
    rows = HeldRefund.objects.select_for_update(of=("self",)).select_related("asset__chain")
    rows = rows.filter(payment=payment, status__in=HELD_STATUSES)
    return list(rows.order_by("asset_id", "payer_address"))


def take_over(payment: Payment, at: datetime) -> None:
    """The merchant has made refunds: rows of which nothing is left are closed, and of others the
    rest is kept."""
    rows = open_rows(payment)
    owed = owed_from_held(payment) if rows else {}
    for row in rows:
        rest = owed.get((row.asset_id, row.payer_address), 0)
        if not rest:
            _change(row, at, status=_Status.CLOSED)
        elif rest != row.amount_atomic:
            _change(row, at, amount_atomic=rest)
    lower_flag(payment)


def lower_flag(payment: Payment) -> None:
    """Nothing waits for an address any more."""
    if payment.needs_attention != HELD_REFUND:
        return
    waiting = HeldRefund.objects.filter(payment=payment, status=_Status.WAITING)
    if not waiting.exists():
        flag(payment, "")


def take_back(payment: Payment, refund: Refund, at: datetime) -> None:
    """An automatic refund has failed for good: its share waits for another address."""
    is_by_hand = refund.held is None and refund.reason == Refund.Reason.MERCHANT_REQUESTED
    if refund.is_simulated or is_by_hand:
        return
    refused = HeldRefund.Why.REFUSED
    share = UnknownShare(refund.asset, refund.destination_address, refund.amount_atomic, refused)
    row = refund.held or _row_of(payment, share, refund.reason, at)
    wait_for_address(row, refused, at)
    flag(payment, HELD_REFUND)
    ask_customer(payment)
