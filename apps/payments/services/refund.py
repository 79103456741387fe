"""Asking for a refund: the records, with their coins reserved. Money leaves in
services.refund_progress.

The intent's row is locked, so two requests see each other; a request while one is under way answers
with that one.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from apps.access import operations
from apps.access.access import Access
from apps.chain.sending import costs
from apps.core import clock, jobs
from apps.core.errors import Flat
from apps.core.idempotency import make_once
from apps.ledger import movements
from apps.ledger.posting import InsufficientBalance
from apps.payments import states
from apps.payments.models import Payment, Refund
from apps.payments.requests import RefundRequest
from apps.payments.selectors import received_by
from apps.payments.services import hold
from apps.payments.services.change_status import locked_payment
from apps.payments.services.refund_again import is_other
from apps.payments.services.refund_shares import Share, shares_to_send, to_payers
from apps.stores import audit


class InsufficientForRefund(Flat):
    message = "Insufficient balance to refund"


class FiguresChanged(Flat):
    message = "The refundable amount has changed; review the new figures and confirm again"


def plan_digest(shares: Sequence[Share | Refund]) -> str:
    """What would be sent, as a short text that a person agrees to."""
    figures = [
        (share.asset.pk, share.to_address.lower(), share.amount_atomic)
        if isinstance(share, Share)
        else ("under way", share.pk)
        for share in shares
    ]
    return hashlib.sha256(repr(sorted(map(str, figures))).encode()).hexdigest()


class Requested(NamedTuple):
    """What a request is answered with.

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
    of the plan that a person has seen: nothing else is sent then. Raises a Flat sentence, or what
    operations.check refuses with.
    """
    operations.check(access, operations.REFUND)
    try:
        return make_once(
            lambda: _earlier(access, payment, key),
            lambda: _request(access, payment, request, key, agreed),
        )[0]
    except InsufficientBalance:
        raise InsufficientForRefund from None


def _earlier(access: Access, payment: Payment, key: str) -> Requested | None:
    """What the key has made, of whichever intent."""
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
    """The same under the intent's lock, where no other request for it changes what is left."""
    locked = locked_payment(payment.pk)
    earlier = _earlier(access, locked, key)
    if earlier is not None:
        return earlier
    at = clock.now(locked.store, locked.mode)
    shares = shares_to_send(locked, request)
    if agreed is not None and plan_digest(shares) != agreed:
        raise FiguresChanged
    under_way = [share for share in shares if isinstance(share, Refund)]
    if under_way:
        other = is_other(locked, request, under_way)
        return Requested(_answer(locked, under_way), is_new=False, is_other=other)
    new = [share for share in shares if isinstance(share, Share)]
    refunds = _make(
        locked, new, Refund.Reason.MERCHANT_REQUESTED, at, caller=access.caller, key=key
    )
    hold.settle_card_refund(locked, is_sent=bool(refunds))
    _note(locked, refunds)
    return Requested(_answer(locked, refunds), is_new=True)


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
    """What a rejected payment owes its payers, each their own share. The caller has locked the
    intent."""
    reason = (
        Refund.Reason.FAILED_OVERPAID
        if payment.state_reason == states.FAILED_OVERPAID
        else Refund.Reason.FAILED_UNDERPAID
    )
    shares = [
        share
        for intake in received_by(payment)
        for share in to_payers(intake, intake.on_time, is_from_held=True)
    ]
    worth_it = [share for share in shares if not _is_dust(payment, share)]
    if len(worth_it) < len(shares):
        hold.flag_dust_refund(payment)
    return _make(payment, worth_it, reason, at)


def _is_dust(payment: Payment, share: Share) -> bool:
    """Whether sending it costs more than it is worth, as far as anybody knows what it costs."""
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


def _make(
    payment: Payment,
    shares: Sequence[Share],
    reason: str,
    at: datetime,
    *,
    caller: str = "",
    key: str | None = None,
) -> list[Refund]:
    """The records, each with its coins reserved; asset by asset in one order, so that requests
    never wait for each other in a ring."""
    refunds: list[Refund] = []
    for part, share in enumerate(sorted(shares, key=lambda share: share.asset.pk)):
        refund = Refund.objects.create(
            store_id=payment.store_id,
            mode=payment.mode,
            created_at=at,
            updated_at=at,
            payment=payment,
            asset=share.asset,
            reason=reason,
            destination_address=share.to_address.lower(),
            amount_atomic=share.amount_atomic,
            is_from_held=share.is_from_held,
            is_simulated=share.is_simulated,
            idempotency_caller=caller,
            idempotency_key=key,
            part=part,
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
    jobs.enqueue("payments.advance_refunds", mode=payment.mode)
    return refunds
