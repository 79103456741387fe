"""Deposits without a chain, for test mode: what a scenario sends is counted from what is still
outstanding."""

import math
import uuid
from datetime import datetime

from django.db import transaction

from apps.access.access import Access
from apps.assets.models import Asset
from apps.chain import simulated
from apps.chain.models import Deposit
from apps.core import clock, money
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import Invalid
from apps.ledger import movements
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.requests import SimulationRequest
from apps.payments.selectors import Received, display_step, received_by
from apps.payments.services.change_status import locked_payment
from apps.payments.services.settle import settle_locked

ATOMIC_MAX = 10**60


class LiveMode(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "simulated_payment_live_mode"
    message = "Payments can only be simulated in test mode"


class AmbiguousAmount(Failure):
    code = "simulated_payment_ambiguous_amount"
    message = "Give one of settlement_amount, amount and amount_atomic"


class InvalidAmount(Failure):
    code = "simulated_payment_invalid_amount"
    message = "The amount is not a positive amount"


class UnknownScenario(Failure):
    code = "simulated_payment_unknown_scenario"
    message = "scenario must be one of exact, underpaid, overpaid, unconfirmed, failed"


class AlreadyFinalized(Failure):
    code = "simulated_payment_already_finalized"
    message = "The payment is already finalized"


class NoAddress(Failure):
    code = "simulated_payment_no_address"
    message = "The payment has no deposit address for this asset"


class NoExpectedAmount(Failure):
    code = "simulated_payment_no_expected_amount"
    message = "Nothing is outstanding on this payment; give an amount"


class TooSmallToUnderpay(Failure):
    code = "simulated_payment_amount_too_small_to_underpay"
    message = "What is outstanding is too small to underpay"


# Broken field of a request -> what it is refused with; a field that isn't here has no code.
_CODES: dict[str, type[Failure]] = {
    "amounts": AmbiguousAmount,
    "scenario": UnknownScenario,
    "asset_id": NoAddress,
    "settlement_amount": InvalidAmount,
    "amount": InvalidAmount,
    "amount_atomic": InvalidAmount,
}


def refusal_of(refusal: Invalid) -> Failure:
    """Refusal of an unreadable request."""
    refused = _CODES.get(refusal.field)
    return Failure(refusal.text) if refused is None else refused()


def simulate_deposit(
    access: Access, payment: Payment, request: SimulationRequest
) -> tuple[Payment, Deposit]:
    """Credit a deposit to an intent and settle it; the intent re-evaluated and the deposit."""
    if access.is_live:
        raise LiveMode
    with transaction.atomic():
        locked = locked_payment(payment.pk)
        if locked.status == states.REFUNDED or (
            locked.status in states.TERMINAL and not request.late
        ):
            raise AlreadyFinalized
        at = clock.now(locked.store, locked.mode)
        intake = _target(locked, request)
        deposit = _put(locked, intake, request, at)
        return settle_locked(locked, at), deposit


def simulate_transfer(
    payment_id: uuid.UUID,
    asset: Asset,
    address: str,
    amount_atomic: int,
    payer: str,
    reference: str,
) -> str:
    """Credit what a payer has signed to an open intent and settle it, in the caller's transaction;
    the hash of the transfer that no chain has."""
    payment = locked_payment(payment_id)
    if payment.is_live:
        raise LiveMode
    if payment.status in states.TERMINAL:
        raise AlreadyFinalized
    at = clock.now(payment.store, payment.mode)
    deposit, _ = simulated.put(
        address,
        asset,
        reference,
        amount_atomic=amount_atomic,
        confirmations=asset.chain.required_confirmations,
        status=Deposit.Status.CONFIRMED,
        at=at,
        payer=payer,
    )
    settle_locked(payment, at)
    return deposit.tx_hash


def _target(payment: Payment, request: SimulationRequest) -> Received:
    received = received_by(payment)
    intake = next(
        (intake for intake in received if request.asset_id in (None, intake.address.asset_id)), None
    )
    if intake is None:
        raise NoAddress
    return intake


def _put(payment: Payment, intake: Received, request: SimulationRequest, at: datetime) -> Deposit:
    entry = intake.address
    needed = intake.address.required_confirmations
    status = {"unconfirmed": Deposit.Status.CONFIRMING, "failed": Deposit.Status.FAILED}.get(
        request.scenario, Deposit.Status.CONFIRMED
    )
    confirmations = (
        min(max(0, request.confirmations), needed - 1)
        if request.scenario == "unconfirmed"
        else needed
    )
    deposit, grown_atomic = simulated.put(
        entry.address_id,
        entry.asset,
        request.reference,
        amount_atomic=_amount(payment, intake, request),
        confirmations=0 if request.scenario == "failed" else confirmations,
        status=status,
        at=at,
    )
    if grown_atomic and payment.status in states.TERMINAL:
        raise AlreadyFinalized  # it has been settled, refunded or accepted for what it was
    if grown_atomic:
        movements.simulated_deposit_changed(
            store_id=payment.store_id,
            mode=payment.mode,
            asset_id=entry.asset_id,
            deposit_id=deposit.pk,
            payment_id=payment.pk,
            grown_atomic=grown_atomic,
            is_own=intake.is_own,
            at=at,
        )
    return deposit


def _amount(payment: Payment, intake: Received, request: SimulationRequest) -> int:
    amount_atomic = _requested_amount(intake, request)
    if amount_atomic is not None:
        return amount_atomic
    outstanding = _outstanding(intake, request)
    if request.scenario == "overpaid":
        return outstanding + _clear_of_tolerance(payment, intake)
    if outstanding <= 0:
        raise NoExpectedAmount
    if request.scenario == "underpaid":
        if outstanding // 2 == 0:
            raise TooSmallToUnderpay
        return outstanding // 2
    return outstanding


def _outstanding(intake: Received, request: SimulationRequest) -> int:
    """Outstanding amount, without the deposit whose reference is sent again."""
    amounts = [
        deposit
        for deposit in intake.on_time
        if deposit.status != Deposit.Status.FAILED
        and deposit.simulated_reference != request.reference
    ]
    return max(
        0, intake.address.required_atomic - sum(deposit.amount_atomic for deposit in amounts)
    )


def _clear_of_tolerance(payment: Payment, intake: Received) -> int:
    """Twice the overpayment tolerance, or one unit at display precision of each coin paid with when
    that is more."""
    elsewhere = [item for item in received_by(payment) if item.address.pk != intake.address.pk]
    steps = display_step(elsewhere) * intake.address.required_atomic
    twice = 2 * money.share(
        intake.address.required_atomic, money.Bps(payment.store.overpayment_tolerance_bps)
    )
    return max(twice, intake.display_step_atomic + math.ceil(steps))


def _requested_amount(intake: Received, request: SimulationRequest) -> int | None:
    """The one amount that was named, in atomic units; None without any."""
    asset = intake.address.asset
    if request.amount_atomic is not None:
        amount: int | None = int(request.amount_atomic)
    elif request.amount is not None:
        amount = money.atomic_from_decimal(request.amount, asset.atomic_decimals)
    elif request.settlement_amount is not None:
        cents = money.cents_from_text(request.settlement_amount)
        amount = money.atomic_for_cents(
            cents, intake.address.exchange_rate, asset.atomic_decimals, asset.display_decimals
        )
    else:
        return None
    if not amount or amount > ATOMIC_MAX:
        raise InvalidAmount
    return amount
