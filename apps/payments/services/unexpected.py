"""Coins at an address of an intent that is for another coin: set aside, never credited by
themselves, and reported like any deposit from the first block on."""

import uuid
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q

from apps.assets import reviews
from apps.chain.models import Deposit, Head
from apps.chain.selectors import is_final
from apps.chain.services import mark_unmatched
from apps.core import clock
from apps.core.rows import Job
from apps.payments.documents.deposits import arrival_of
from apps.payments.models import Payment, PaymentAddress
from apps.payments.selectors import Received, received_by
from apps.payments.services import attention, deposit_events
from apps.payments.services.change_status import locked_payment

JOB = Job("payments.confirm_unexpected", limit=200)
_UNMATCHED = Deposit.Status.UNMATCHED


def set_aside(payment: Payment, received: list[Received], at: datetime) -> None:
    """Another asset than the address was made for waits for a person. What a person has claimed
    stays theirs; what never was mined, or isn't any more, is nobody's."""
    for intake in received:
        for stray in intake.unexpected:
            if stray.status == _UNMATCHED:
                continue
            if stray.handled_status == Deposit.Status.CONFIRMED or stray.is_lost:
                _note_lost_claim(payment, stray, at)
            elif stray.status == Deposit.Status.FAILED:
                _note_gone(payment, intake, stray, at)
            else:
                _set_aside(payment, intake, stray, at)


def _set_aside(payment: Payment, intake: Received, stray: Deposit, at: datetime) -> None:
    reason = f"{stray.asset_id} sent to an address for {intake.address.asset_id}"
    transfer = mark_unmatched(stray, reason, at, store_id=payment.store_id)
    attention.transfer_unmatched(payment, transfer, stray.asset)
    stray.refresh_from_db(fields=["status", "confirmed_at"])
    arrival = arrival_of(payment, intake, stray)
    deposit_events.tell_unchanged(payment, arrival, [deposit_events.CONFIRMING], at)


def _note_gone(payment: Payment, intake: Received, stray: Deposit, at: datetime) -> None:
    """A reorg took it away, which is reported of one that was reported."""
    if stray.handled_status == _UNMATCHED:
        arrival = arrival_of(payment, intake, stray)
        deposit_events.tell_unchanged(payment, arrival, [deposit_events.FAILED], at)
    _handled(stray)


def _note_lost_claim(payment: Payment, stray: Deposit, at: datetime) -> None:
    """A reorg took away what had been credited."""
    if stray.is_lost and stray.status != stray.handled_status:
        stop_for_review(payment, stray, at)
        _handled(stray)


def _handled(stray: Deposit) -> None:
    Deposit.objects.filter(pk=stray.pk, status=stray.status).update(handled_status=stray.status)


def stop_for_review(payment: Payment, deposit: Deposit, at: datetime) -> None:
    """A credited deposit was lost: nothing more of that asset completes for the store until it
    confirms again, or staff have looked."""
    if reviews.stop(payment.store_id, payment.mode, deposit.asset_id, deposit.pk, at):
        attention.asset_stopped(payment, deposit, deposit.asset)


def confirm_set_aside() -> int:
    """The sweep: tell of what is set aside and has its confirmations by now; how many there
    were."""
    last = F("block_number") + F("required_confirmations") - 1
    rows = Deposit.objects.filter(status=_UNMATCHED, confirmed_at=None).alias(last_number=last)
    head = Head.objects.filter(chain=OuterRef("chain"), number__gte=OuterRef("last_number"))
    is_ready = Exists(head) | Q(
        is_simulated=True, simulated_confirmations__gte=F("required_confirmations")
    )
    ready = rows.filter(is_ready).order_by("detected_at")
    return JOB.walk(ready.values_list("pk", flat=True), _confirm)


def _confirm(deposit_id: uuid.UUID) -> None:
    address = Deposit.objects.values("address_id").filter(pk=deposit_id)
    entry = PaymentAddress.objects.filter(address__in=address).first()
    if entry is None:
        Deposit.objects.filter(pk=deposit_id).update(confirmed_at=clock.real_now())
        return
    payment = locked_payment(entry.payment_id)
    at = clock.now(payment.store, payment.mode)
    for intake in received_by(payment, is_locking=True):
        for stray in intake.unexpected:
            if stray.pk != deposit_id or stray.status != _UNMATCHED or not is_final(stray):
                continue
            Deposit.objects.filter(pk=stray.pk).update(confirmed_at=at)
            stray.confirmed_at = at
            # What was set aside before anybody heard of it stays so.
            if deposit_events.announced(payment, stray):
                arrival = arrival_of(payment, intake, stray)
                deposit_events.tell_unchanged(payment, arrival, [deposit_events.CONFIRMED], at)
