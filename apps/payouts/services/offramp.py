"""Bank payouts: handed to an off-ramp under our own reference, followed until the bank has paid,
and what each step books.

A call whose outcome isn't clear is made again with the same reference; a new reference only follows
a definite failure.
"""

import uuid
from datetime import datetime, timedelta
from typing import cast

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.chain.models import OutgoingTransaction
from apps.chain.sending import attempts, sender
from apps.chain.sending.following import TransferFollower, TransferOrder
from apps.core import clock
from apps.core.process.failpoints import failpoint
from apps.ledger import movements
from apps.ledger.selectors import reserved_for_payout
from apps.payouts import states
from apps.payouts.models import Destination, Payout
from apps.payouts.models import OfframpOrder as OfframpOrderRow
from apps.payouts.providers.base import (
    FAILED,
    SETTLED,
    Offramp,
    OfframpOrder,
    OfframpOutcome,
    ProviderError,
)
from apps.payouts.services import moves
from apps.payouts.services.destinations import account_of
from apps.stores.notices.kinds import PAYOUT_PROBLEM

log = structlog.get_logger(__name__)
# The least that an off-ramp takes, in atomic units, by coin.
OFFRAMP_MINIMUMS = {"USDT": 10_000_000, "USDC": 100_000}
PURPOSE = OutgoingTransaction.Purpose.PAYOUT
# An order is asked about again after a tenth of the time that it has taken.
PATIENCE = 10
NOT_RESERVED = "The books have not set its coins aside"
_Status = Payout.Status
_Funds = Payout.Funds
_Sent = OutgoingTransaction.Status


def offramp_of(mode: str, name: str | None = None) -> Offramp:
    """The adapter that a mode's new bank payouts go to, or the one that an earlier payout went
    to."""
    entries = settings.PROVIDERS["offramp"][mode]
    providers = (
        cast(Offramp, import_string(entry["BACKEND"])(**entry["OPTIONS"])) for entry in entries
    )
    return next(refund for refund in providers if name is None or refund.name == name)


def offramp_name(mode: str) -> str:
    return offramp_of(mode).name


def reference_of(payout: Payout) -> str:
    """Reference of the order at the off-ramp: the same until it has definitely failed."""
    return f"{payout.pk}-{payout.attempts}"


def order_of(payout: Payout) -> OfframpOrder:
    bank = cast(Destination, payout.destination)
    return OfframpOrder(
        reference_of(payout),
        payout.mode,
        payout.asset,
        payout.amount_atomic,
        bank.currency,
        bank.holder,
        account_of(bank),
        payout.attempts,
        payout.submitted_at,
        payout.submitted_real_at,
    )


def advance_bank_payout(payout: Payout) -> None:
    """Takes a step, according to the off-ramp's progress. The network is asked outside any
    transaction."""
    provider = offramp_of(payout.mode, payout.provider)
    at = clock.now(payout.store, payout.mode)
    if payout.status in states.WAITING:
        _hand_over(payout, provider, at)
    elif payout.status == _Status.SUBMITTED:
        _look(payout, provider, at)
        TRANSFERS.advance_transfer(payout, at)
    elif payout.status == _Status.CONFIRMED and payout.funds == _Funds.CLEARING:
        TRANSFERS.advance_transfer(payout, at)
        with transaction.atomic():
            _clear(_locked(payout.pk), at)


def _locked(payout_id: uuid.UUID) -> Payout:
    rows = Payout.objects.select_for_update(of=("self",)).select_related(
        "asset__chain", "store", "destination"
    )
    payout: Payout = rows.get(pk=payout_id)
    return payout


def _hand_over(payout: Payout, provider: Offramp, at: datetime) -> None:
    if not _write_order(payout, at):
        return
    failpoint("payout.K2")
    try:
        outcome = provider.create(order_of(payout), at)
    except ProviderError as error:
        log.warning(
            "offramp_not_reached", payout=str(payout.pk), provider=provider.name, error=str(error)
        )
        outcome = None
    failpoint("payout.K3")
    with transaction.atomic():
        fresh = _locked(payout.pk)
        if fresh.status not in states.WAITING or fresh.attempts != payout.attempts:
            return
        if outcome is None:
            moves.fail(
                fresh, "temporarily_unavailable", "The off-ramp did not answer", at, is_unclear=True
            )
        elif outcome.state == FAILED:
            end_order(fresh, at)
            moves.fail(fresh, outcome.code, outcome.reason, at)
        else:
            _accept(fresh, outcome, at)


def _write_order(payout: Payout, at: datetime) -> bool:
    """Before the off-ramp is asked, where the web can't write: until the order has failed nobody
    gives its coins back. Nothing is ordered that the books haven't set aside."""
    with transaction.atomic():
        fresh = _locked(payout.pk)
        if fresh.status not in states.WAITING or fresh.attempts != payout.attempts:
            return False
        if reserved_for_payout(fresh.pk) < fresh.amount_atomic:
            moves.hold_for_review(fresh, NOT_RESERVED, at)
            return False
        order, is_new = OfframpOrderRow.objects.get_or_create(
            payout=fresh, attempt=fresh.attempts, defaults={"asked_at": at}
        )
        return is_new or order.failed_at is None


def end_order(payout: Payout, at: datetime) -> None:
    """The off-ramp has said that it will never pay this attempt, or a person has."""
    OfframpOrderRow.objects.filter(payout=payout, failed_at=None).update(failed_at=at)


def _accept(payout: Payout, outcome: OfframpOutcome, at: datetime) -> None:
    """The off-ramp has the order: the books say so, and the coins set out for where it wants
    them."""
    is_simulated = payout.mode == "test"
    moves.move(
        payout,
        _Status.SUBMITTED,
        at,
        provider_tx_id=outcome.provider_id or None,
        submitted_at=at,
        submitted_real_at=clock.real_now(),
        funds=_Funds.CLEARING,
        is_simulated=is_simulated,
        is_outcome_unknown=False,
    )
    movements.payout_handed_over(**moves.booking(payout, at), attempt=payout.attempts)
    if outcome.deposit_address and not is_simulated:
        TRANSFERS.send(payout, outcome.deposit_address, reference_of(payout))


class OfframpTransfers(TransferFollower[Payout]):
    """The coins of a bank payout on their way to the off-ramp, which its order waits for."""

    purpose = PURPOSE
    noun = "Payout"
    notification = PAYOUT_PROBLEM
    page = "payouts"
    model = Payout

    def send(self, row: Payout, to: str, reference: str) -> None:
        self.request(row, TransferOrder(row.asset, to, row.amount_atomic), reference)

    def advance_transfer(self, row: Payout, at: datetime) -> None:
        """Coins that a stopped token kept from the off-ramp set out once more; a
        review is reported once."""
        if not _is_news(row, transfer_of(row)):
            return
        with transaction.atomic():
            fresh = _locked(row.pk)
            transfer = transfer_of(fresh)
            if transfer is None or not _is_news(fresh, transfer) or fresh.funds != _Funds.CLEARING:
                return
            if transfer.status == _Sent.REVIEW:
                self.follow(fresh, transfer, at)
            elif (reference := _next_reference(fresh, transfer)) is not None:
                moves.book_gas(fresh, transfer, at)
                sender.mark_handled(transfer)
                self.send(fresh, transfer.to_address, reference)


TRANSFERS = OfframpTransfers()


def _is_news(row: Payout, transfer: OutgoingTransaction | None) -> bool:
    if transfer is None:
        return False
    is_new_review = transfer.status == _Sent.REVIEW and not transfer.handled_status
    return is_new_review or _next_reference(row, transfer) is not None


def _next_reference(row: Payout, transfer: OutgoingTransaction) -> str | None:
    """That of the attempt after this one."""
    return attempts.following(transfer, attempts.references(reference_of(row)))


def _is_polled_too_soon(payout: Payout, provider: Offramp, real: datetime) -> bool:
    """The longer an order takes, the more rarely it is asked about; a callback asks at once."""
    if payout.asked_at is None or payout.submitted_real_at is None:
        return False
    pause = max(
        timedelta(seconds=provider.poll_seconds),
        (payout.asked_at - payout.submitted_real_at) / PATIENCE,
    )
    return provider.poll_seconds > 0 and real - payout.asked_at < pause


def _look(payout: Payout, provider: Offramp, at: datetime) -> None:
    real = clock.real_now()
    if _is_polled_too_soon(payout, provider, real):
        return
    moves.set_columns(payout, asked_at=real)
    try:
        outcome = provider.look(order_of(payout), at, real)
    except ProviderError as error:
        log.warning(
            "offramp_not_reached", payout=str(payout.pk), provider=provider.name, error=str(error)
        )
        return
    if outcome.state not in (SETTLED, FAILED):
        return
    with transaction.atomic():
        fresh = _locked(payout.pk)
        if fresh.status != _Status.SUBMITTED or fresh.attempts != payout.attempts:
            return
        if outcome.state == SETTLED:
            _confirm(fresh, outcome, at)
        else:
            _hand_back(fresh, outcome, at)


def _confirm(payout: Payout, outcome: OfframpOutcome, at: datetime) -> None:
    failpoint("payout.K7")
    moved = moves.move(
        payout,
        _Status.CONFIRMED,
        at,
        paid_fiat_amount_cents=outcome.fiat_cents,
        paid_fee_cents=outcome.fee_cents,
        paid_fx_rate=outcome.rate,
        paid_external_reference=outcome.bank_reference or None,
        paid_at=at,
    )
    if moved:
        _clear(payout, at)


def transfer_of(payout: Payout) -> OutgoingTransaction | None:
    """The newest transaction of its present attempt."""
    every = attempts.references(reference_of(payout))
    rows = OutgoingTransaction.objects.filter(purpose=PURPOSE, reference__in=every)
    return max(rows, key=lambda row: every.index(row.reference), default=None)


def _clear(payout: Payout, at: datetime) -> None:
    """The clearing is even once the coins have left, or when none had to."""
    if payout.funds != _Funds.CLEARING:
        return
    transfer = transfer_of(payout)
    if transfer is not None and transfer.status != _Sent.CONFIRMED:
        return
    movements.payout_settled(
        mode=payout.mode,
        asset_id=payout.asset_id,
        payout_id=payout.pk,
        amount_atomic=payout.amount_atomic,
        is_simulated=bool(payout.is_simulated),
        at=at,
    )
    moves.set_columns(payout, funds=_Funds.PAID)
    if transfer is not None:
        moves.book_gas(payout, transfer, at)
        sender.mark_handled(transfer)


def _hand_back(payout: Payout, outcome: OfframpOutcome, at: datetime) -> None:
    """The off-ramp gives the order up. When coins have set out to it, only a person can say where
    they are."""
    transfer = transfer_of(payout)
    if transfer is not None and transfer.status != _Sent.FAILED:
        reason = f"The off-ramp failed it after the coins had set out: {outcome.reason}"[
            : moves.TEXT_MAX
        ]
        moves.hold_for_review(payout, reason, at)
        return
    movements.payout_handed_back(**moves.booking(payout, at), attempt=payout.attempts)
    end_order(payout, at)
    moves.set_columns(payout, funds=_Funds.RESERVED)
    moves.fail(payout, outcome.code, outcome.reason, at)
