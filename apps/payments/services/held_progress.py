"""Moves held refunds on: senders are looked at by a job; an address that a link or a signature
proves gets its refund at once.

Every step happens under the lock of the payment, so that two of them make one refund.
"""

import uuid
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from apps.chain.models import Deposit
from apps.chain.networks.base import Address
from apps.chain.networks.families import stored
from apps.chain.payers import check_payers
from apps.core import clock
from apps.core.rows import Job
from apps.payments.models import HeldRefund, Payment, Refund, RefundLink
from apps.payments.selectors import received_by
from apps.payments.services import held_refunds, refund_links
from apps.payments.services.change_status import locked_payment
from apps.payments.services.refund import make_refunds
from apps.payments.services.refund_payers import standings
from apps.payments.services.refund_shares import Share, owed_from_held
from apps.stores.auditing import audit

LOOKS_AT = (HeldRefund,)
# A node that doesn't answer now does later: a share is never given up.
JOB = Job("payments.check_payers", in_transaction=False, is_vital=True)


def check_due(mode: str = "") -> int:
    """The sweep (of a mode): look at the senders of what is held; how many there were."""
    rows = HeldRefund.objects.filter(status=HeldRefund.Status.CHECKING).order_by("created_at")
    rows = rows.filter(mode=mode) if mode else rows
    return JOB.walk(rows.values_list("pk", flat=True), check_sender, mode=mode)


def check_sender(held_id: uuid.UUID) -> None:
    """Ask the chain, then act. Raises RpcError when no node answers."""
    row = HeldRefund.objects.select_related("payment").get(pk=held_id)
    deposits = _deposits_of(row.payment, row)
    check_payers(deposits, clock.real_now())
    with transaction.atomic():
        payment = locked_payment(row.payment_id)
        at = clock.now(payment.store, payment.mode)
        locked = next(
            (item for item in held_refunds.open_rows(payment) if item.pk == held_id), None
        )
        if locked is None or locked.status != HeldRefund.Status.CHECKING:
            return
        standing = standings(deposits).get(locked.payer_address)
        if standing is None:
            return
        if standing.address is not None:
            _refund(payment, locked, standing.address, HeldRefund.Proof.PAYER, at)
        elif standing.why is not None:
            held_refunds.wait_for_address(locked, standing.why, at)
            held_refunds.ask(payment, [locked])


def _deposits_of(payment: Payment, row: HeldRefund) -> list[Deposit]:
    """Confirmed deposits of its sender in its asset."""
    return [
        deposit
        for intake in received_by(payment)
        if intake.address.asset_id == row.asset_id
        for deposit in intake.deposits
        if deposit.status == Deposit.Status.CONFIRMED
        and stored(deposit.from_address) == row.payer_address
    ]


def send_held(
    payment_id: object,
    address: str,
    proof: HeldRefund.Proof,
    *,
    payer: str | None = None,
    link: RefundLink | None = None,
) -> list[Refund]:
    """Refund to a proven address what waits for one: everything, or what one sender paid. The
    address was checked. Nothing when somebody was faster, or the link was used."""
    with transaction.atomic():
        payment = locked_payment(payment_id)
        at = clock.now(payment.store, payment.mode)
        if link is not None and not refund_links.use(link):
            return []
        rows = [
            row
            for row in held_refunds.open_rows(payment)
            if row.status == HeldRefund.Status.WAITING and payer in (None, row.payer_address)
        ]
        refunds = [refund for row in rows for refund in _refund(payment, row, address, proof, at)]
        held_refunds.lower_flag(payment)
        if refunds:
            _record(payment, refunds, address, proof)
        return refunds


def _record(payment: Payment, refunds: list[Refund], address: str, proof: str) -> None:
    details = {"refunds": [str(refund.pk) for refund in refunds], "to": address, "proof": proof}
    audit.record(
        "refund.address_confirmed",
        store=payment.store_id,
        mode=payment.mode,
        target=payment,
        name=payment.reference,
        details=details,
    )


def _refund(
    payment: Payment, row: HeldRefund, address: str, proof: HeldRefund.Proof, at: datetime
) -> Iterable[Refund]:
    """Never more than what is still held for this sender."""
    owed = owed_from_held(payment).get((row.asset_id, row.payer_address), 0)
    if owed < row.amount_atomic:
        held_refunds.take_over(payment, at)
        return []
    held_refunds.send_to(row, address, proof, at)
    share = Share(
        asset=row.asset,
        to_address=Address(address),
        amount_atomic=row.amount_atomic,
        is_from_held=True,
        is_simulated=all(deposit.is_simulated for deposit in _deposits_of(payment, row)),
    )
    return make_refunds(payment, [share], row.reason, at, held=row)
