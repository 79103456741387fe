"""Carrying a signed payment out: the row first, then the sender's request, then a wait for a block.
Never a second transfer.

One authorization has one row for ever. Success is shown once; before it is known, the answer says
that it isn't.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction

from apps.access.access import Access
from apps.agents.models import PaymentOffer, SignedPayment, SignedPaymentStep
from apps.agents.requests.x402 import SignedPaymentRequest
from apps.agents.services import x402_verify
from apps.agents.services.checkout_surcharges import Surcharge
from apps.agents.services.x402_progress import (
    ELSEWHERE,
    PURPOSE,
    advance,
    authorization_of,
    move,
    patience,
)
from apps.agents.services.x402_records import is_taken, record
from apps.agents.services.x402_tokens import is_simulated
from apps.agents.services.x402_verify import CheckedPayment, X402Refused
from apps.agents.states import SIGNED_OPEN
from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.sending import authorizations, carried_out
from apps.chain.sending.authorizations import Authorization
from apps.chain.states import ENDED, IN_FLIGHT
from apps.core import clock, jobs
from apps.core.db.constraints import constraint_of
from apps.core.errors import Failure
from apps.core.idempotency import make_once
from apps.core.process.failpoints import failpoint
from apps.payments.models import Payment
from apps.payments.services.hold import expect_on_top, keep_pending
from apps.payments.services.simulate import simulate_transfer
from apps.payments.states import CLOSED

PENDING = "settlement_pending"
FAILED = "transaction_failed"
CHAIN_NOT_ASKED = "unexpected_settle_error"
SIMULATED = "Simulated: no chain knows it"
HELD_SECONDS_MAX = 3600
WATCHED = timedelta(minutes=10)
_LOOK_SECONDS = 0.25
# Anyone who waits holds a thread of the web server: so many of a process do, and one is always left
# for everybody else.
_seats = threading.BoundedSemaphore(settings.X402_WAITING_MAX)
_Status = SignedPayment.Status
_ONE_PER_OFFER = "signed_payment_one_per_offer"


# What is sold is claimed before the payment is made, in its transaction: by a function that may
# refuse, and answers with one that is given the payment.
Claim = Callable[[], Callable[[Payment], None]]


@dataclass(frozen=True)
class SettleOutcome:
    """The caller's answer: a success has no reason."""

    signed: SignedPayment | None
    payer: str
    reason: str = ""
    text: str = ""


def settle(
    access: Access, request: SignedPaymentRequest, claim: Claim | None = None
) -> SettleOutcome:
    """Carry it out and wait for a block. Not inside a transaction: it asks the chain, and waits."""
    try:
        checked = x402_verify.check(access, request)
        signed, is_new = _begun(checked, claim, is_of_checkout=False)
    except X402Refused as refusal:
        reason = (
            CHAIN_NOT_ASKED if refusal.reason == x402_verify.CHAIN_NOT_ASKED else refusal.reason
        )
        return SettleOutcome(None, refusal.payer, reason, refusal.text)
    if not is_new:
        return _again(checked, signed)
    failpoint("x402.K1")
    if signed.status != _Status.SETTLED:
        _go_on(signed)
    return _succeeded(signed) if signed.is_elsewhere else _wait(signed, checked.asset)


def begin(
    access: Access, request: SignedPaymentRequest, surcharge: Surcharge | None = None
) -> SignedPayment:
    """The signed payment of somebody at the checkout, who waits on the page: it is recorded and
    carried out, once however often it is sent; the surcharge was sealed when the wallet was asked.
    Not inside a transaction. Raises X402Refused."""
    checked = x402_verify.check(access, request, surcharge)
    signed, is_new = _begun(checked, None, is_of_checkout=True)
    if signed.offer.payment_id != checked.offer.payment_id:
        raise X402Refused(x402_verify.NONCE_USED, "The authorization was used before", signed.payer)
    if is_new and signed.status != _Status.SETTLED:
        _go_on(signed)
    elif signed.status == _Status.FAILED:
        _was_carried_out(checked, signed)
    signed.refresh_from_db()
    return signed


def _begun(
    checked: CheckedPayment, claim: Claim | None, *, is_of_checkout: bool
) -> tuple[SignedPayment, bool]:
    """The row of the authorization, and whether this call made it. Raises X402Refused."""
    signed = x402_verify.known(checked)
    if signed is not None:
        return signed, False
    return _record(checked, _refuse(checked), claim, is_of_checkout=is_of_checkout)


def _refuse(checked: CheckedPayment) -> str:
    """Raises X402Refused when it can't be carried out, unless somebody else has done so: the hash
    of that transaction."""
    try:
        x402_verify.refuse_used(checked)
        x402_verify.check_now(checked)
    except X402Refused as refusal:
        tx_hash = x402_verify.paid_elsewhere(checked, refusal)
        if not tx_hash:
            raise
        return tx_hash
    return ""


def _record(
    checked: CheckedPayment, tx_hash: str, claim: Claim | None, *, is_of_checkout: bool
) -> tuple[SignedPayment, bool]:
    """The row of the authorization, and whether this call made it; `tx_hash` is the transaction of
    somebody else that has carried it out. Raises X402Refused when another authorization pays the
    offer."""
    authorization = checked.authorization
    asset = checked.asset
    at = checked.access.now()

    def make() -> SignedPayment:
        offer = _offer_of(checked, claim)
        is_pending = keep_pending(offer.payment_id, at + _longest(authorization), asset.pk)
        if not is_pending and not (tx_hash and _is_open_or_completed(offer)):
            raise X402Refused(
                x402_verify.INVALID_STATE,
                "The payment can not be paid any more",
                authorization.payer,
            )
        if is_of_checkout:
            expect_on_top(offer.payment_id, asset.pk, checked.offer.surcharge_atomic)
        signed = SignedPayment.objects.create(
            store_id=offer.store_id,
            mode=offer.mode,
            created_at=at,
            updated_at=at,
            offer=offer,
            chain_id=asset.chain_id,
            contract_address=authorizations.contract_of(asset, authorization),
            payer=authorization.payer,
            nonce=authorization.nonce,
            amount_atomic=authorization.amount_atomic,
            valid_after=authorization.valid_after,
            valid_before=authorization.valid_before,
            signature=authorization.signature,
            tx_hash=tx_hash,
            is_elsewhere=bool(tx_hash),
            is_of_checkout=is_of_checkout,
        )
        SignedPaymentStep.objects.create(signed=signed, to_status=signed.status, at=at)
        if tx_hash:
            move(signed, _Status.SUBMITTED, at, note=ELSEWHERE)
        elif is_simulated(asset):
            _simulate(signed, asset, at)
        return signed

    try:
        return make_once(lambda: x402_verify.known(checked), make)
    except IntegrityError as error:
        if constraint_of(error) != _ONE_PER_OFFER and not is_taken(error):
            raise
        raise X402Refused(
            x402_verify.DUPLICATE, "Another authorization pays this already", authorization.payer
        ) from None


def _offer_of(checked: CheckedPayment, claim: Claim | None) -> PaymentOffer:
    """The row of what is paid; before there is one, what is sold is claimed. Raises X402Refused."""
    payer = checked.authorization.payer
    if claim is None or checked.offer.recorded is not None:
        return record(checked.access, checked.offer, payer)
    try:
        sold = claim()
        offer = record(checked.access, checked.offer, payer)
        sold(offer.payment)
    except Failure as refusal:
        raise X402Refused(x402_verify.INVALID_STATE, str(refusal), payer) from refusal
    return offer


def _simulate(signed: SignedPayment, asset: Asset, at: datetime) -> None:
    """Settle what no chain knows, at once."""
    tx_hash = simulate_transfer(
        signed.offer.payment_id,
        asset,
        signed.offer.pay_to_id,
        signed.amount_atomic,
        signed.payer,
        f"x402:{signed.pk}",
    )
    move(signed, _Status.SUBMITTED, at, note=SIMULATED, tx_hash=tx_hash, is_elsewhere=True)
    move(signed, _Status.SETTLED, at, note=SIMULATED)


def _is_open_or_completed(offer: PaymentOffer) -> bool:
    """A deposit still counts for the offer's payment."""
    return Payment.objects.filter(pk=offer.payment_id).exclude(status__in=CLOSED).exists()


def _go_on(signed: SignedPayment) -> None:
    """The worker asks for the transaction and reads its end: who serves people can't approve
    one."""
    if settings.WORK_INLINE:
        advance(signed.pk)
    else:
        jobs.nudge("agents.advance_x402", [str(signed.pk)])


def _longest(authorization: Authorization) -> timedelta:
    """Longest wait of the intent: until the token would refuse it, plus the watcher's time."""
    remaining = authorization.valid_before - int(clock.real_now().timestamp())
    return timedelta(seconds=min(max(remaining, 0), HELD_SECONDS_MAX)) + WATCHED


def _again(checked: CheckedPayment, signed: SignedPayment) -> SettleOutcome:
    """Answer to a repeated authorization: the state of its row."""
    if signed.offer.payment_id != checked.offer.payment_id:
        return SettleOutcome(
            None, signed.payer, x402_verify.NONCE_USED, "The authorization was used before"
        )
    if signed.status == _Status.FAILED and not _was_carried_out(checked, signed):
        return _failed(signed)
    if signed.status == _Status.SETTLED or signed.answered_at or signed.is_elsewhere:
        return _succeeded(signed)
    if signed.status == _Status.UNKNOWN:
        return _wait(signed, checked.asset)
    return SettleOutcome(
        signed, signed.payer, x402_verify.DUPLICATE, "The authorization is being carried out"
    )


def _was_carried_out(checked: CheckedPayment, signed: SignedPayment) -> bool:
    """Ask the chain if somebody else has carried it out after ours failed, as it stays valid until
    its own time is over. A chain that can't be asked leaves it failed."""
    refusal = X402Refused(x402_verify.NONCE_USED, signed.failure_reason, signed.payer)
    try:
        tx_hash = x402_verify.paid_elsewhere(checked, refusal)
    except X402Refused:
        return False
    if not tx_hash:
        return False
    at = clock.now(signed.store, signed.mode)
    with contextlib.suppress(IntegrityError), transaction.atomic():  # another one pays the offer
        if signed.is_of_checkout:
            on_top = signed.amount_atomic - signed.offer.amount_atomic
            expect_on_top(signed.offer.payment_id, signed.offer.asset_id, on_top)
        changes = {"is_elsewhere": True, "tx_hash": tx_hash, "failure_reason": ""}
        move(signed, _Status.SUBMITTED, at, note=ELSEWHERE, **changes)
    signed.refresh_from_db()
    return signed.is_elsewhere


def _wait(signed: SignedPayment, asset: Asset) -> SettleOutcome:
    """Until a block has it, it has failed, or the time is over. When too many wait already, one
    look."""
    is_seated = _seats.acquire(blocking=False)
    try:
        return _look(
            signed, asset, time.monotonic() + (patience().total_seconds() if is_seated else 0)
        )
    finally:
        if is_seated:
            _seats.release()


def _look(signed: SignedPayment, asset: Asset, deadline: float) -> SettleOutcome:
    status: str | None = None
    with closing(nodes_of(asset.chain)) as nodes:
        while True:
            signed.refresh_from_db()
            if signed.status == _Status.FAILED:
                return _failed(signed)
            transfer = OutgoingTransaction.objects.filter(
                purpose=PURPOSE, reference=str(signed.pk)
            ).first()
            is_done = signed.status == _Status.SETTLED or signed.is_elsewhere
            if is_done or (transfer is not None and _is_mined(signed, transfer, asset, nodes)):
                return _succeeded(signed)
            if time.monotonic() >= deadline:
                return _unknown(signed, transfer)
            if transfer is not None and transfer.status in ENDED and transfer.status != status:
                status = transfer.status
                _go_on(signed)
            time.sleep(_LOOK_SECONDS)


def _is_mined(
    signed: SignedPayment, transfer: OutgoingTransaction, asset: Asset, nodes: Nodes
) -> bool:
    """A block has it, by our transaction or, when that was reverted, by another. One block is
    enough to answer; the intent waits for its confirmations as always."""
    if transfer.status not in IN_FLIGHT:
        return False
    try:
        tx_hash, is_reverted = authorizations.mined(transfer, nodes)
        is_elsewhere = is_reverted and not tx_hash
        if is_elsewhere:
            tx_hash = carried_out.transaction_of(asset, authorization_of(signed), nodes)
    except RpcError:
        return False
    if tx_hash:
        signed.tx_hash = tx_hash
        signed.is_elsewhere = is_elsewhere
        open_rows = SignedPayment.objects.filter(pk=signed.pk, status__in=SIGNED_OPEN)
        open_rows.update(tx_hash=tx_hash, is_elsewhere=is_elsewhere)
    return bool(tx_hash)


def _succeeded(signed: SignedPayment) -> SettleOutcome:
    """Success is reported to one caller; a replay hears that it was."""
    at = clock.now(signed.store, signed.mode)
    if SignedPayment.objects.filter(pk=signed.pk, answered_at=None).update(answered_at=at):
        return SettleOutcome(signed, signed.payer)
    return SettleOutcome(
        signed, signed.payer, x402_verify.NONCE_USED, "The authorization was used before"
    )


def _failed(signed: SignedPayment) -> SettleOutcome:
    return SettleOutcome(signed, signed.payer, FAILED, signed.failure_reason)


def _unknown(signed: SignedPayment, transfer: OutgoingTransaction | None) -> SettleOutcome:
    """The time is over: say so, and leave the row to the sweep and to anyone who asks again."""
    with transaction.atomic():
        row = SignedPayment.objects.select_for_update(no_key=True).get(pk=signed.pk)
        if row.status == _Status.SUBMITTED:
            tx_hash = transfer.tx_hash if transfer is not None else ""
            move(
                row,
                _Status.UNKNOWN,
                clock.now(signed.store, signed.mode),
                note="No block had it in time",
                tx_hash=tx_hash,
            )
    if row.status == _Status.SETTLED:
        return _succeeded(row)
    if row.status == _Status.FAILED:
        return _failed(row)
    return SettleOutcome(row, row.payer, PENDING, "Unknown: no block has the transaction yet")
