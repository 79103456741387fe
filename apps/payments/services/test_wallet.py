"""Paying a test intent from the service's own wallet on the test chain, within a cap per payment and a daily allowance per store."""

import uuid
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Sum

from apps.access.access import Access
from apps.assets.models import TokenStandard
from apps.chain import sender
from apps.chain.models import OutgoingTransaction
from apps.core import clock
from apps.core.errors import Coded
from apps.core.literal import AtomicAmount, Invalid
from apps.core.rows import Job
from apps.ledger import movements
from apps.payments import states
from apps.payments.models import Payment, PaymentAddress, TestPayment
from apps.payments.selectors import addresses_of
from apps.stores.models import Store

PER_PAYMENT_ATOMIC = 50_000_000_000_000_000
DAILY_ATOMIC = 250_000_000_000_000_000
WINDOW = timedelta(hours=24)
JOB = Job("payments.book_test_payments", limit=100)


class LiveMode(Coded):
    status, code, message = 403, "test_payment_live_mode", "The test wallet pays test payments only"


class TooLarge(Coded):
    code, message = "test_payment_amount_too_large", "The test wallet pays at most 0.05 ETH per payment"


class InvalidAmount(Coded):
    code, message = "test_payment_invalid_amount", "amount_atomic must be a positive string of digits"


class AlreadyFinalized(Coded):
    code, message = "test_payment_already_finalized", "The payment is already finalized"


class NoAddress(Coded):
    code, message = "test_payment_no_address", "The payment has no address for the test chain's coin"


class AllowanceExhausted(Coded):
    status, code, message = 429, "test_payment_allowance_exhausted", "The store's daily allowance of the test wallet is used up"


class Unfunded(Coded):
    status, code, message = 503, "test_payment_faucet_unfunded", "The test wallet is empty"


def send_test_payment(access: Access, payment: Payment, body: dict[str, Any]) -> dict[str, str]:
    """Ask the test wallet to pay an intent; what is sent, what the intent asks for and what is left for today.

    Raises one of the codes above. The transaction is on its way when this returns, and the intent still as it was.
    """
    if access.is_live:
        raise LiveMode
    if payment.status in states.TERMINAL:
        raise AlreadyFinalized
    entry = next((one for one in addresses_of(payment) if one.asset.token_standard == TokenStandard.NATIVE), None)
    if entry is None:
        raise NoAddress
    amount = _amount(body, entry.required_atomic)
    if amount > PER_PAYMENT_ATOMIC:
        raise TooLarge
    if not sender.can_afford(entry.asset.chain_id, entry.asset_id, amount):
        raise Unfunded(headers={"Retry-After": "60"})
    left = _take(access, payment, entry, amount)
    return {"amount_atomic": str(amount), "required_atomic": str(entry.required_atomic), "remaining_daily_atomic": str(left)}


def _amount(body: dict[str, Any], required_atomic: int) -> int:
    given = body.get("amount_atomic")
    if given is None:
        return required_atomic
    try:
        amount = int(AtomicAmount().check(given, "amount_atomic"))
    except Invalid:
        raise InvalidAmount from None
    if not amount:
        raise InvalidAmount
    return amount


@transaction.atomic
def _take(access: Access, payment: Payment, entry: PaymentAddress, amount: int) -> int:
    """Count it against the allowance and ask the sender, under the store's lock; what is left of the allowance."""
    store = Store.objects.select_for_update(no_key=True).get(pk=access.store_id)
    at = clock.now(store, access.mode)
    recent = TestPayment.objects.filter(store=store, created_at__gt=at - WINDOW)
    left = DAILY_ATOMIC - int(recent.aggregate(total=Sum("amount_atomic"))["total"] or 0) - amount
    if left < 0:
        oldest = recent.order_by("created_at").values_list("created_at", flat=True).first()
        wait = int((oldest + WINDOW - at).total_seconds()) + 1 if oldest is not None else 60
        raise AllowanceExhausted(headers={"Retry-After": str(max(1, wait))})
    made = TestPayment.objects.create(store=store, mode=access.mode, created_at=at, payment=payment, amount_atomic=amount)
    sender.request(
        chain_id=entry.asset.chain_id,
        asset_id=entry.asset_id,
        to=entry.address_id,
        amount_atomic=amount,
        purpose=OutgoingTransaction.Purpose.TEST_PAYMENT,
        reference=made.pk,
        mode=access.mode,
        store_id=access.store_id,
        at=clock.real_now(),
    )
    return left


def book_test_payments() -> int:
    """The sweep: book what the test wallet has sent, or the gas of what was reverted; how many there were."""
    return JOB.walk(sender.unhandled(OutgoingTransaction.Purpose.TEST_PAYMENT), _book)


def _book(row: OutgoingTransaction) -> None:
    with transaction.atomic():
        is_confirmed = row.status == OutgoingTransaction.Status.CONFIRMED
        if is_confirmed or row.network_fee_atomic:
            movements.test_payment_sent(
                mode=row.mode,
                asset_id=row.asset_id,
                test_payment_id=uuid.UUID(row.reference),
                amount_atomic=row.amount_atomic if is_confirmed else 0,
                gas_asset_id=row.asset_id,
                gas_atomic=row.network_fee_atomic,
                at=clock.real_now(),
            )
        sender.mark_handled(row)
