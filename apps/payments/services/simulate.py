"""Deposits without a chain, for test mode: what a scenario sends is counted from what is still outstanding."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.access.access import Access
from apps.chain import simulated
from apps.chain.models import Deposit
from apps.core import clock, money
from apps.core.errors import Coded, RefusalKind
from apps.core.literal import AtomicAmount, FiatAmount, Invalid, Pattern, check_storable
from apps.ledger import movements
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.selectors import Received, received_by
from apps.payments.services.settle import settle_locked

SCENARIOS = ("exact", "underpaid", "overpaid", "unconfirmed", "failed")
_AMOUNTS = ("settlement_amount", "amount", "amount_atomic")
_COIN_AMOUNT = Pattern(r"[0-9]{1,40}(\.[0-9]{1,18})?", "decimal")
ATOMIC_MAX = 10**60


class LiveMode(Coded):
    kind = RefusalKind.FORBIDDEN
    code = "simulated_payment_live_mode"
    message = "Payments can only be simulated in test mode"


class AmbiguousAmount(Coded):
    code, message = "simulated_payment_ambiguous_amount", "Give one of settlement_amount, amount and amount_atomic"


class InvalidAmount(Coded):
    code, message = "simulated_payment_invalid_amount", "The amount is not a positive amount"


class UnknownScenario(Coded):
    code, message = "simulated_payment_unknown_scenario", "scenario must be one of exact, underpaid, overpaid, unconfirmed, failed"


class AlreadyFinalized(Coded):
    code, message = "simulated_payment_already_finalized", "The payment is already finalized"


class NoAddress(Coded):
    code, message = "simulated_payment_no_address", "The payment has no deposit address for this asset"


class NoExpectedAmount(Coded):
    code, message = "simulated_payment_no_expected_amount", "Nothing is outstanding on this payment; give an amount"


class TooSmallToUnderpay(Coded):
    code, message = "simulated_payment_amount_too_small_to_underpay", "What is outstanding is too small to underpay"


@dataclass(frozen=True)
class Wish:
    """What the caller asked for."""

    scenario: str
    amounts: dict[str, str]
    reference: str
    confirmations: int
    asset_id: str | None
    is_late: bool


def wish_from(body: dict[str, Any]) -> Wish:
    """Read a request literally. Raises one of the codes, or Invalid for a field that has none."""
    scenario = body.get("scenario")
    if scenario is not None and scenario not in SCENARIOS:
        raise UnknownScenario
    amounts = {name: body[name] for name in _AMOUNTS if body.get(name) is not None}
    if len(amounts) > 1:
        raise AmbiguousAmount
    confirmations, is_late = body.get("confirmations"), body.get("late")
    if confirmations is not None and (not isinstance(confirmations, int) or isinstance(confirmations, bool)):
        raise Invalid("confirmations", "integer")
    if is_late is not None and not isinstance(is_late, bool):
        raise Invalid("late", "boolean")
    asset_id = body.get("asset_id")
    if asset_id is not None and not isinstance(asset_id, str):
        raise NoAddress
    return Wish(scenario or "exact", amounts, _reference(body), max(0, confirmations or 0), asset_id, bool(is_late))


def _reference(body: dict[str, Any]) -> str:
    reference = body.get("reference")
    if reference is None:
        return uuid.uuid4().hex
    if not isinstance(reference, str) or not 0 < len(reference) <= 255:
        raise Invalid("reference", "reference")
    check_storable(reference, "reference")
    return reference


def simulate_deposit(access: Access, payment: Payment, body: dict[str, Any]) -> tuple[Payment, Deposit]:
    """Credit a deposit to an intent and settle it; the intent re-evaluated and the deposit."""
    if access.is_live:
        raise LiveMode
    wish = wish_from(body)
    with transaction.atomic():
        locked = Payment.objects.select_for_update(of=("self",)).select_related("store").get(pk=payment.pk)
        if locked.status == states.REFUNDED or (locked.status in states.TERMINAL and not wish.is_late):
            raise AlreadyFinalized
        at = clock.now(locked.store, locked.mode)
        one = _target(locked, wish)
        deposit = _put(locked, one, wish, at)
        return settle_locked(locked, at), deposit


def _target(payment: Payment, wish: Wish) -> Received:
    received = received_by(payment)
    found = next((one for one in received if wish.asset_id in (None, one.address.asset_id)), None)
    if found is None:
        raise NoAddress
    return found


def _put(payment: Payment, one: Received, wish: Wish, at: datetime) -> Deposit:
    entry, needed = one.address, one.address.required_confirmations
    status = {"unconfirmed": Deposit.Status.CONFIRMING, "failed": Deposit.Status.FAILED}.get(wish.scenario, Deposit.Status.CONFIRMED)
    confirmations = min(wish.confirmations, needed - 1) if wish.scenario == "unconfirmed" else needed
    deposit, grown_atomic = simulated.put(
        entry.address,
        entry.asset,
        wish.reference,
        amount_atomic=_amount(payment, one, wish),
        confirmations=0 if wish.scenario == "failed" else confirmations,
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
            at=at,
        )
    return deposit


def _amount(payment: Payment, one: Received, wish: Wish) -> int:
    if wish.amounts:
        return _given_amount(one, wish)
    outstanding = _outstanding(one, wish)
    if wish.scenario == "overpaid":
        return outstanding + _clear_of_tolerance(payment, one)
    if outstanding <= 0:
        raise NoExpectedAmount
    if wish.scenario == "underpaid":
        if outstanding // 2 == 0:
            raise TooSmallToUnderpay
        return outstanding // 2
    return outstanding


def _outstanding(one: Received, wish: Wish) -> int:
    """What is still to pay, leaving out the deposit whose reference is sent again."""
    others = [d for d in one.counted if d.status != Deposit.Status.FAILED and d.simulated_reference != wish.reference]
    return max(0, one.address.required_atomic - sum(deposit.amount_atomic for deposit in others))


def _clear_of_tolerance(payment: Payment, one: Received) -> int:
    """Twice the overpayment tolerance, or one unit at display precision when that is more."""
    asset = one.address.asset
    twice = 2 * money.share(one.address.required_atomic, payment.store.overpayment_tolerance_bps)
    return max(twice, int(10 ** (asset.atomic_decimals - asset.display_decimals)))


def _given_amount(one: Received, wish: Wish) -> int:
    (name, value) = next(iter(wish.amounts.items()))
    asset = one.address.asset
    try:
        if name == "amount_atomic":
            amount: int | None = int(AtomicAmount().check(value, name))
        elif name == "amount":
            amount = money.atomic_from_decimal(_COIN_AMOUNT.check(value, name), asset.atomic_decimals)
        else:
            cents = money.cents_from_text(FiatAmount().check(value, name))
            amount = money.atomic_for_cents(cents, one.address.exchange_rate, asset.atomic_decimals, asset.display_decimals)
    except Invalid:
        raise InvalidAmount from None
    if not amount or amount > ATOMIC_MAX:
        raise InvalidAmount
    return amount
