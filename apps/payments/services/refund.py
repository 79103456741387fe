"""Asking for a refund: the records, with their coins reserved. Money leaves in
services.refund_progress.

The intent's row is locked, so two requests see each other; a request while one is under way answers
with that one.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import structlog

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.chain.networks.families import stored
from apps.chain.payers import check_payers
from apps.chain.providers.base import RpcError
from apps.chain.sending import costs
from apps.core import clock, jobs
from apps.core.errors import Failure
from apps.core.idempotency import make_once
from apps.core.messages.invalid import Invalid
from apps.ledger import movements
from apps.ledger.posting import InsufficientBalance
from apps.payments import states
from apps.payments.models import HeldRefund, Payment, Refund
from apps.payments.requests import RefundRequest
from apps.payments.selectors import received_by
from apps.payments.services import held_refunds, hold
from apps.payments.services.change_status import locked_payment
from apps.payments.services.refund_again import is_other
from apps.payments.services.refund_payers import UnknownShare
from apps.payments.services.refund_shares import (
    RefundDivision,
    Share,
    divide,
    shares_to_send,
    unknown_shares,
)
from apps.stores.auditing import audit
from apps.stores.staff.suspensions import RefundsToPayers, Suspension, is_suspended

log = structlog.get_logger(__name__)
PATIENCE_SECONDS = 3.0  # somebody waits for the answer


class InsufficientForRefund(Failure):
    message = "Insufficient balance to refund"


class FiguresChanged(Failure):
    message = "The refundable amount has changed; review the new figures and confirm again"


def plan_digest(shares: Sequence[Share | Refund]) -> str:
    """Digest of a plan, as a short text that a person agrees to."""
    figures = [
        (share.asset.pk, stored(share.to_address), share.amount_atomic)
        if isinstance(share, Share)
        else ("under way", share.pk)
        for share in shares
    ]
    return hashlib.sha256(repr(sorted(map(str, figures))).encode()).hexdigest()


class Requested(NamedTuple):
    """Result of a refund request.

    `is_new` is false when the records are an earlier call's; `is_other` is true when they are that
    and something else was asked for.
    """

    refunds: list[Refund]
    is_new: bool
    is_other: bool = False


def request_refund(
    access: Access, payment: Payment, request: RefundRequest, key: str, *, agreed: str | None = None
) -> Requested:
    """The records of this request, made now, or by an earlier call and still under way.

    On failed and expired intents the list holds every refund of the intent. `agreed` is the digest
    of the plan that a person has seen: nothing else is sent then. Raises a Failure, or what
    operations.check refuses with.
    """
    operations.check(access, operations.REFUND)
    look_at_payers(payment, request)
    try:
        return make_once(
            lambda: _earlier(access, payment, key),
            lambda: _request(access, payment, request, key, agreed),
        )[0]
    except InsufficientBalance:
        raise InsufficientForRefund from None


def answer_unread(access: Access, payment: Payment, refusal: Invalid, key: str) -> Requested:
    """Answer to a body that isn't a RefundRequest: permission, then the refunds of a used key.
    Raises what request_refund does, or the refusal."""
    earlier = earlier_refunds(access, payment, key)
    if earlier is None:
        raise refusal
    return earlier


def earlier_refunds(access: Access, payment: Payment, key: str) -> Requested | None:
    """Refunds made with the key. Raises what operations.check refuses with."""
    operations.check(access, operations.REFUND)
    return _earlier(access, payment, key)


def look_at_payers(payment: Payment, request: RefundRequest) -> None:
    """Learn who paid, so that a refund without a destination finds whom it may go back to. Asks
    nodes: not inside a transaction. Whom no node tells of stays unknown."""
    if request.destination_address is not None or payment.is_card_funded:
        return
    deposits = [deposit for intake in received_by(payment) for deposit in intake.deposits]
    confirmed = [deposit for deposit in deposits if deposit.status == "confirmed"]
    try:
        check_payers(confirmed, clock.real_now(), patience_seconds=PATIENCE_SECONDS)
    except RpcError as error:
        log.warning("payers_not_checked", payment=payment.reference, error=str(error))


def _earlier(access: Access, payment: Payment, key: str) -> Requested | None:
    """Refunds made with the key, of any intent."""
    identity = {
        "store_id": access.store_id,
        "mode": access.mode,
        "idempotency_caller": access.caller,
        "idempotency_key": key,
    }
    refunds = list(
        Refund.objects.filter(**identity)
        .select_related("asset__chain")
        .order_by("created_at", "part")
    )
    return Requested(_answer(payment, refunds), is_new=False) if refunds else None


def _request(
    access: Access, payment: Payment, request: RefundRequest, key: str, agreed: str | None
) -> Requested:
    """Requests refunds under the intent's lock, where no other request for it changes the rest."""
    locked = locked_payment(payment.pk)
    earlier = _earlier(access, locked, key)
    if earlier is not None:
        return earlier
    _check_destination(access, locked, request)
    at = clock.now(locked.store, locked.mode)
    shares = shares_to_send(locked, request)
    if agreed is not None and plan_digest(shares) != agreed:
        raise FiguresChanged
    under_way = [share for share in shares if isinstance(share, Refund)]
    if under_way:
        other = is_other(locked, request, under_way)
        return Requested(_answer(locked, under_way), is_new=False, is_other=other)
    new = [share for share in shares if isinstance(share, Share)]
    reason = Refund.Reason.MERCHANT_REQUESTED
    refunds = make_refunds(locked, new, reason, at, caller=access.caller, key=key)
    held_refunds.take_over(locked, at)
    if request.destination_address is None and locked.status in states.CLOSED:
        held_refunds.hold_back(locked, unknown_shares(locked), reason, at)
    hold.settle_card_refund(locked, is_sent=bool(refunds))
    _note(locked, refunds)
    return Requested(_answer(locked, refunds), is_new=True)


def _check_destination(access: Access, payment: Payment, request: RefundRequest) -> None:
    """A new credential refunds only to the address that paid, and so does everybody while payouts
    are suspended. Of several none may be named: a few coins sent after a customer's would claim
    them all. Raises waiting_period.StillNew or RefundsToPayers."""
    until = access.new_until
    is_stopped = is_suspended(payment.store, Suspension.PAYOUTS)
    if request.destination_address is None or not (until or is_stopped):
        return
    payers = {
        stored(deposit.from_address)
        for intake in received_by(payment)
        for deposit in intake.deposits
    }
    if payers != {stored(request.destination_address)}:
        raise RefundsToPayers if until is None else waiting_period.StillNew(until)


def _note(payment: Payment, refunds: Sequence[Refund]) -> None:
    transfers = [
        f"{refund.amount_atomic} {refund.asset.pk} to {refund.destination_address}"
        for refund in refunds
    ]
    details = {"refunds": [str(refund.pk) for refund in refunds], "sent": transfers}
    audit.record(
        "refund.requested",
        store=payment.store_id,
        mode=payment.mode,
        target=payment,
        name=payment.reference,
        details=details,
    )


def refund_automatically(payment: Payment, at: datetime) -> list[Refund]:
    """Refund a rejected payment to its payers, each their own share; who has shown no key is looked
    at first, and may have to name an address. The caller has locked the intent."""
    reason = (
        Refund.Reason.FAILED_OVERPAID
        if payment.state_reason == states.FAILED_OVERPAID
        else Refund.Reason.FAILED_UNDERPAID
    )
    whole = [
        divide(intake, intake.on_time, is_from_held=True)
        for intake in received_by(payment)
        if intake.on_time and not intake.is_own
    ]
    division = _worth_it(payment, whole)
    refunds = make_refunds(payment, division.shares, reason, at)
    held_refunds.hold_back(payment, division.unknown, reason, at)
    if any(intake.is_own and intake.on_time for intake in received_by(payment)):
        hold.flag_own_refund(payment)
    return refunds


def _worth_it(payment: Payment, divisions: Sequence[RefundDivision]) -> RefundDivision:
    """Without what costs more to send than it is worth, which the merchant decides about."""
    shares = [share for part in divisions for share in part.shares]
    unknown = [share for part in divisions for share in part.unknown]
    division = RefundDivision(
        [share for share in shares if not _is_dust(payment, share)],
        [share for share in unknown if not _is_dust(payment, share)],
    )
    if len(division.shares) + len(division.unknown) < len(shares) + len(unknown):
        hold.flag_dust_refund(payment)
    return division


def _is_dust(payment: Payment, share: Share | UnknownShare) -> bool:
    """True if sending it costs more than it is worth, as far as anybody knows what it costs."""
    fee = costs.known_fee(share.asset) if payment.is_live else None
    return fee is not None and share.amount_atomic < fee


def _answer(payment: Payment, refunds: list[Refund]) -> list[Refund]:
    if payment.status in states.CLOSED:
        return list(
            Refund.objects.filter(payment=payment)
            .select_related("asset__chain")
            .order_by("-created_at", "-part")
        )
    return refunds


def make_refunds(
    payment: Payment,
    shares: Sequence[Share],
    reason: str,
    at: datetime,
    *,
    caller: str = "",
    key: str | None = None,
    held: HeldRefund | None = None,
) -> list[Refund]:
    """The records, each with its coins reserved; asset by asset in one order, so that requests
    never wait for each other in a ring. Parts go on after those that there are."""
    refunds: list[Refund] = []
    earlier = 0 if key is not None else Refund.objects.filter(payment=payment).count()
    for part, share in enumerate(sorted(shares, key=lambda share: share.asset.pk), earlier):
        refund = Refund.objects.create(
            store_id=payment.store_id,
            mode=payment.mode,
            created_at=at,
            updated_at=at,
            payment=payment,
            asset=share.asset,
            reason=reason,
            destination_address=stored(share.to_address),
            amount_atomic=share.amount_atomic,
            is_from_held=share.is_from_held,
            is_simulated=share.is_simulated,
            idempotency_caller=caller,
            idempotency_key=key,
            part=part,
            held=held,
        )
        movements.refund_created(
            store_id=payment.store_id,
            mode=payment.mode,
            asset_id=share.asset.pk,
            payment_id=payment.pk,
            refund_id=refund.pk,
            amount_atomic=share.amount_atomic,
            is_from_held=share.is_from_held,
            at=at,
        )
        refunds.append(refund)
    if refunds:
        jobs.enqueue("payments.advance_refunds", mode=payment.mode)
    return refunds
