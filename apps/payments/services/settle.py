"""`settle_payment`: lock the intent, gather the facts, book what confirmed, decide, move, and tell,
in one transaction.

It is run after every change of a deposit and at the deadline; running it again changes nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from django.db import transaction

from apps.assets.models import AcceptedAsset
from apps.chain.models import Deposit
from apps.chain.sending import costs
from apps.core import clock, jobs, money
from apps.core.money import BASIS_POINTS
from apps.core.rows import Job
from apps.ledger import movements
from apps.payments import states
from apps.payments.documents.deposits import arrival_of
from apps.payments.models import LateDeposit, Payment, PaymentEvent
from apps.payments.moments import is_on_time
from apps.payments.selectors import LateMark, Received, display_step, of_deposits, received_by
from apps.payments.services import attention, auto_swap, deposit_events, hold, unexpected
from apps.payments.services.change_status import change_status, locked_payment
from apps.payments.services.looks import is_known, look_due
from apps.payments.services.refund import refund_automatically
from apps.payments.services.refund_shares import has_held

JOB = Job("payments.settle_deposits", limit=200)
STEPS_MAX = 6


def settle_deposits(deposit_ids: Iterable[object] | None = None) -> int:
    """Settle the intents of these deposits, or of every deposit nobody has acted upon; how many
    there were."""
    costs.remember("live")

    def find() -> list[object]:
        payment_ids = of_deposits(deposit_ids, JOB.limit, JOB.paused(Payment))
        if payment_ids:
            look_due(payment_ids)  # what has come too late may be the last news of one
        return payment_ids

    done = JOB.each(find, settle_payment)
    if deposit_ids is None:
        unexpected.confirm_set_aside()
    return done


def settle_payment(payment_id: object) -> Payment:
    """Bring an intent to the status that its deposits and the time give it."""
    with transaction.atomic():
        payment = locked_payment(payment_id)
        return settle_locked(payment, clock.now(payment.store, payment.mode))


def settle_locked(payment: Payment, at: datetime) -> Payment:
    """Settles an intent whose row the caller has locked:

    1. What arrived is read and locked; another asset than its address is for is set aside for
    staff.
    2. What is news is picked out; of it, what came too late is kept apart and counts for nothing
    below.
    3. What has newly confirmed is booked, and on an intent that was completed before settled at
    once.
    4. `decide` says step by step where the intent goes from its status.
    5. The events of the deposits are recorded, with the status that the intent comes to.
    6. The status changes, with the history and the event of each step.
    7. What an intent has received that is completed now is settled in its shares.
    8. Who waits for a completed one is woken; a rejected one is given back.
    """
    received = received_by(payment, is_locking=True)
    unexpected.set_aside(payment, received, at)

    received, news = _part_late(payment, received, _news(received), at)

    before = payment.status
    was_completed = before == states.COMPLETED
    _book(payment, received, news, at, is_settled_at_once=was_completed)

    steps = _steps(payment, received, at)
    after = steps[-1] if steps else states.PaymentDecision(before, payment.state_reason)

    _tell_of_deposits(payment, news, before, after, at)

    if steps:
        change_status(payment, *steps, at=at, **_columns_after(payment, received, after, at))
    elif news:
        _note_news(payment, received, after, at)

    reached = {step.status for step in steps}
    if states.COMPLETED in reached and not was_completed:
        _post_settlement(payment, received, at)

    if states.COMPLETED in reached:
        _wake_for(payment)
    if states.FAILED in reached:
        _give_back(payment, at)
    return payment


def _give_back(payment: Payment, at: datetime) -> None:
    """A rejected payment goes back to its payers. What came from a card provider waits for the
    merchant, and what came from a sender who can't be known for an address."""
    if payment.is_card_funded:
        hold.flag_card_refund(payment)
        attention.payment_failed(payment, "Nothing is refunded automatically.")
        return
    refunds = refund_automatically(payment, at)
    attention.payment_failed(payment, _outcome(payment, is_refunded=bool(refunds)))


def _outcome(payment: Payment, *, is_refunded: bool) -> str:
    """Say to the merchant where the coins go: nothing that isn't so yet."""
    if has_held(payment):
        return (
            "A part is being refunded; who sent the rest is being checked."
            if is_refunded
            else "It is refunded once the sender is checked."
        )
    if payment.needs_attention:
        return (
            "A part is being refunded; the rest needs you."
            if is_refunded
            else "Nothing is refunded automatically."
        )
    return "It is being refunded." if is_refunded else "Nothing is refunded automatically."


def complete_short(payment: Payment, received: list[Received], at: datetime) -> None:
    """With what has confirmed, which is less than was due: a person has decided so. The caller has
    locked the row and what was received."""
    step = states.PaymentDecision(
        states.COMPLETED, states.COMPLETED_UNDERPAID, states.EVENTS[states.COMPLETED]
    )
    change_status(payment, step, at=at, **_columns_after(payment, received, step, at))
    _post_settlement(payment, received, at)
    _wake_for(payment)


def _wake_for(payment: Payment) -> None:
    """Wakes the jobs that wait for a completed payment."""
    jobs.announce("payments.received_changed", payment.pk)
    if payment.is_live:
        jobs.enqueue("documents.prepare_payments", payment.pk)


def _news(received: list[Received]) -> list[tuple[Received, Deposit]]:
    return [
        (intake, deposit)
        for intake in received
        for deposit in intake.deposits
        if deposit.status != deposit.handled_status
    ]


def _part_late(
    payment: Payment, received: list[Received], news: list[tuple[Received, Deposit]], at: datetime
) -> tuple[list[Received], list[tuple[Received, Deposit]]]:
    """A deposit that is new on a closed intent, or was mined after an open one's deadline, is late:
    it is held and changes no status."""
    is_closed = payment.status in states.CLOSED
    is_open = payment.status not in states.TERMINAL
    new = [
        deposit for intake, deposit in news if _is_new(deposit) and deposit.pk not in intake.late
    ]
    late = [
        deposit for deposit in new if is_closed or (is_open and not is_on_time(payment, deposit))
    ]
    if not late:
        return received, news
    of_payment = {
        "payment": payment,
        "store_id": payment.store_id,
        "mode": payment.mode,
        "created_at": at,
    }
    LateDeposit.objects.bulk_create(
        [LateDeposit(deposit=deposit, **of_payment) for deposit in late], ignore_conflicts=True
    )
    attention.came_late(payment, late)
    marks: dict[object, LateMark] = {deposit.pk: LateMark() for deposit in late}
    parted = [replace(intake, late={**intake.late, **marks}) for intake in received]
    return parted, _news(parted)


def _is_new(deposit: Deposit) -> bool:
    """Never acted upon, or off the chain when it was; one that failed is nobody's money."""
    is_back = deposit.handled_status == Deposit.Status.FAILED
    return not deposit.handled_status or (is_back and deposit.status != Deposit.Status.FAILED)


def _book(
    payment: Payment,
    received: list[Received],
    news: list[tuple[Received, Deposit]],
    at: datetime,
    *,
    is_settled_at_once: bool,
) -> None:
    """Post every newly confirmed deposit; one that is settled at once is in its three shares
    too."""
    late = {pk for intake in received for pk in intake.late}
    for intake, deposit in news:
        if deposit.status != Deposit.Status.CONFIRMED:
            continue
        take_in(payment, deposit, at, is_own=intake.is_own)
        if is_settled_at_once and deposit.pk not in late:
            movements.overpayment_settled(
                deposit_id=deposit.pk,
                **shares(payment, deposit.asset_id, deposit.amount_atomic, is_own=intake.is_own),
                at=at,
            )


def take_in(payment: Payment, deposit: Deposit, at: datetime, *, is_own: bool) -> None:
    """Post a confirmed deposit: into custody and held for the payment, or as received in the
    merchant's own wallet."""
    movements.deposit_confirmed(
        store_id=payment.store_id,
        mode=payment.mode,
        asset_id=deposit.asset_id,
        deposit_id=deposit.pk,
        payment_id=payment.pk,
        amount_atomic=deposit.amount_atomic,
        is_simulated=deposit.is_simulated,
        is_own=is_own,
        at=at,
    )


def _post_settlement(payment: Payment, received: list[Received], at: datetime) -> None:
    """Book what a completed intent received, asset by asset, in three shares."""
    for intake in sorted(received, key=lambda intake: intake.address.asset_id):
        if intake.on_time_atomic:
            movements.payment_settled(
                **shares(
                    payment,
                    intake.address.asset_id,
                    intake.on_time_atomic,
                    is_own=intake.is_own,
                ),
                at=at,
            )


def shares(
    payment: Payment, asset_id: str, gross_atomic: int, *, is_own: bool
) -> movements.Settled:
    """A gross amount in its three shares at the locked fees, as the movements take them."""
    platform_fraction = (
        payment.platform_fee_fraction
        if payment.platform_id and payment.platform_fee_fraction
        else None
    )
    service, platform, _ = money.split(
        gross_atomic, payment.fee_fraction, platform_fraction or type(payment.fee_fraction)(0)
    )
    return {
        "store_id": payment.store_id,
        "mode": payment.mode,
        "asset_id": asset_id,
        "payment_id": payment.pk,
        "gross_atomic": gross_atomic,
        "service_fee_atomic": service,
        "platform_fee_atomic": platform,
        "platform_id": payment.platform_id if platform else None,
        "is_own": is_own,
    }


def facts_of(payment: Payment, received: list[Received], at: datetime) -> states.PaymentProgress:
    """Arguments of `decide`."""
    store = payment.store
    confirmed = _paid(received, _confirmed)
    return states.PaymentProgress(
        confirmed=confirmed,
        unconfirmed=_paid(received, _seen) - confirmed,
        is_past_deadline=payment.deadline <= at
        and is_known(payment, [intake.address for intake in received], payment.deadline),
        # What a person has accepted is never too much.
        accepts_overpayments=store.accept_overpayments
        or any(mark.is_counted for intake in received for mark in intake.late.values()),
        accepts_underpayments=store.accept_underpayments,
        underpayment_tolerance=Fraction(
            max(store.underpayment_tolerance_bps, payment.card_shortfall_bps), BASIS_POINTS
        ),
        overpayment_tolerance=Fraction(store.overpayment_tolerance_bps, BASIS_POINTS),
        display_step=display_step(received),
        is_under_review=_is_under_review(payment, received),
    )


def _paid(received: list[Received], amount_of: Callable[[Received], int]) -> Fraction:
    """The part of the price."""
    parts = (
        Fraction(intake.of_price_atomic(amount_of(intake)), intake.address.required_atomic)
        for intake in received
    )
    return sum(parts, Fraction(0))


def _confirmed(intake: Received) -> int:
    return intake.confirmed_atomic


def _seen(intake: Received) -> int:
    return intake.received_atomic


def _is_under_review(payment: Payment, received: list[Received]) -> bool:
    assets = [intake.address.asset_id for intake in received if intake.received_atomic]
    if not assets:
        return False
    stopped = AcceptedAsset.objects.filter(
        store_id=payment.store_id, mode=payment.mode, suspended_at__isnull=False
    )
    return stopped.filter(asset_id__in=assets).exists()


def _steps(
    payment: Payment, received: list[Received], at: datetime
) -> list[states.PaymentDecision]:
    """The steps from the intent's status to the one where it stays."""
    facts = facts_of(payment, received, at)
    status = payment.status
    reason = payment.state_reason
    steps = []
    noted = (
        status == states.PROCESSING
        and PaymentEvent.objects.filter(payment=payment, event_type=states.UNDERPAID_EVENT).exists()
    )
    for _ in range(STEPS_MAX):
        step = states.decide(status, reason, facts, is_underpaid_noted=noted)
        if step is None:
            break
        status = step.status
        reason = step.reason
        noted = noted or step.event == states.UNDERPAID_EVENT
        steps.append(step)
    return steps


def _tell_of_deposits(
    payment: Payment,
    news: list[tuple[Received, Deposit]],
    before: str,
    after: states.PaymentDecision,
    at: datetime,
) -> None:
    """transaction.* for each deposit that was seen, confirmed or lost."""
    for intake, deposit in news:
        arrival = arrival_of(payment, intake, deposit)
        kinds = deposit_events.KINDS[Deposit.Status(deposit.status)]
        deposit_events.tell(payment, arrival, kinds, before, after, at)
        if deposit.is_lost:
            unexpected.stop_for_review(payment, deposit, at)
    for _, deposit in news:
        Deposit.objects.filter(pk=deposit.pk, status=deposit.status).update(
            handled_status=deposit.status
        )


def _columns_after(
    payment: Payment, received: list[Received], after: states.PaymentDecision, at: datetime
) -> dict[str, datetime | str | None]:
    """Columns that change with the intent's status."""
    is_completed_now = after.status == states.COMPLETED and payment.completed_at is None
    completed_at = at if is_completed_now else payment.completed_at
    return {
        "completed_at": completed_at,
        "settlement_status": _settlement_status(payment, received, after.status),
    }


def _note_news(
    payment: Payment, received: list[Received], after: states.PaymentDecision, at: datetime
) -> None:
    """Deposits have changed what is there, and nothing else."""
    payment.settlement_status = _settlement_status(payment, received, after.status)
    payment.updated_at = at
    payment.reconciliation_due = True
    payment.save(update_fields=["settlement_status", "updated_at", "reconciliation_due"])


def _settlement_status(payment: Payment, received: list[Received], status: str) -> str | None:
    has_funds = any(
        deposit.status != Deposit.Status.FAILED
        for intake in received
        for deposit in (*intake.deposits, *intake.taken)
    )
    match status:
        case states.COMPLETED:
            return "processing" if payment.auto_swap_status == auto_swap.PENDING else "completed"
        case states.FAILED:
            return "failed"
        case states.REFUNDED:
            return payment.settlement_status
    return "pending" if has_funds else None
