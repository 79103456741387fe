"""Paying a test intent from the service's own wallet on the test chain, within a cap per payment
and daily allowances: of the store, and of all stores of each of its owners.

A day is the machine's. A store moves its test clock as it likes, and the coins are on a chain.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, Sum

from apps.access.access import Access
from apps.assets.models import TokenStandard
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import sender
from apps.chain.sending.following import Booking, TransferOrder
from apps.core import clock, jobs
from apps.core.db import tenancy
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.documents import Digits, Document
from apps.core.rows import Job
from apps.ledger import movements
from apps.payments import states
from apps.payments.models import Payment, PaymentAddress, TestPayment
from apps.payments.requests import WalletPaymentRequest
from apps.payments.selectors import addresses_of
from apps.stores.models import Store
from apps.stores.notices.kinds import PAYMENT_ATTENTION
from apps.stores.selectors import owned_together

PER_PAYMENT_ATOMIC = 50_000_000_000_000_000
DAILY_ATOMIC = 250_000_000_000_000_000
# Of all stores that a person owns, and of a platform with its sub-merchants.
DAILY_TOGETHER_ATOMIC = 2 * DAILY_ATOMIC
WINDOW = timedelta(hours=24)
REQUESTING = Job("payments.request_test_payments", limit=100)


class NotInLiveMode(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "test_payment_live_mode"
    message = "The test wallet pays test payments only"


class TooLarge(Failure):
    code = "test_payment_amount_too_large"
    message = "The test wallet pays at most 0.05 ETH per payment"


class InvalidTestAmount(Failure):
    code = "test_payment_invalid_amount"
    message = "amount_atomic must be a positive string of digits"


class TestPaymentFinalized(Failure):
    code = "test_payment_already_finalized"
    message = "The payment is already finalized"


class NoTestChainAddress(Failure):
    code = "test_payment_no_address"
    message = "The payment has no address for the test chain's coin"


class AllowanceExhausted(Failure):
    kind = RefusalKind.TOO_MANY
    code = "test_payment_allowance_exhausted"
    message = "The store's daily allowance of the test wallet is used up"


class Unfunded(Failure):
    kind = RefusalKind.UNAVAILABLE
    code = "test_payment_faucet_unfunded"
    message = "The test wallet is empty"


class WalletPaymentDocument(Document, frozen=True, kw_only=True):
    """The sent amount, the intent's amount, and the rest of the allowance."""

    amount_atomic: Digits
    required_atomic: Digits
    remaining_daily_atomic: Digits


def send_test_payment(
    access: Access, payment: Payment, request: WalletPaymentRequest
) -> WalletPaymentDocument:
    """Have the test wallet pay an intent; what is sent, what the intent asks for and what is left
    for today.

    Raises one of the codes above. The worker sends it; the intent is still as it was when this
    returns.
    """
    if access.is_live:
        raise NotInLiveMode
    if payment.status in states.TERMINAL:
        raise TestPaymentFinalized
    entry = _entry(payment)
    if entry is None:
        raise NoTestChainAddress
    amount = _amount(request, entry.required_atomic)
    if amount > PER_PAYMENT_ATOMIC:
        raise TooLarge
    if not sender.can_afford(entry.asset.chain_id, entry.asset_id, amount):
        raise Unfunded(retry_after=60)
    remaining = _take(access, payment, amount)
    if settings.WORK_INLINE:
        request_test_payments()
    return WalletPaymentDocument(
        amount_atomic=str(amount),
        required_atomic=str(entry.required_atomic),
        remaining_daily_atomic=str(remaining),
    )


def _entry(payment: Payment) -> PaymentAddress | None:
    """The intent's address for the chain's own coin."""
    return next(
        (
            entry
            for entry in addresses_of(payment)
            if entry.asset.token_standard == TokenStandard.NATIVE
        ),
        None,
    )


def _amount(request: WalletPaymentRequest, required_atomic: int) -> int:
    if request.amount_atomic is None:
        return required_atomic
    amount = int(request.amount_atomic)
    if not amount:
        raise InvalidTestAmount
    return amount


@transaction.atomic
def _take(access: Access, payment: Payment, amount: int) -> int:
    """Count it against the allowances, and wake the worker; what is left of them."""
    at = clock.real_now()
    family = _family(access.store)
    # Always in one order, so that two requests at once are counted one after the other.
    stores = Store.objects.select_for_update(no_key=True).filter(pk__in=family).order_by("pk")
    with tenancy.also(stores, [access.mode]):
        remaining = min(
            _left([access.store_id], DAILY_ATOMIC, amount, at),
            _left(family, DAILY_TOGETHER_ATOMIC, amount, at),
        )
    TestPayment.objects.create(
        store=access.store, mode=access.mode, created_at=at, payment=payment, amount_atomic=amount
    )
    jobs.enqueue("payments.book_test_payments")
    return remaining


def _family(store: Store) -> list[uuid.UUID]:
    """The store, all others of its owners, closed ones too, and of a platform all its accounts."""
    _, owned = owned_together(store.platform_id or store.pk)
    top = {store.pk, *owned}
    return list(
        Store.objects.filter(Q(pk__in=top) | Q(platform__in=top)).values_list("pk", flat=True)
    )


def _left(stores: Sequence[uuid.UUID], daily_atomic: int, amount: int, at: datetime) -> int:
    """Rest of a day for these stores after this one. Raises AllowanceExhausted."""
    recent = TestPayment.objects.filter(store__in=stores, created_at__gt=at - WINDOW)
    remaining = (
        daily_atomic - int(recent.aggregate(total=Sum("amount_atomic"))["total"] or 0) - amount
    )
    if remaining < 0:
        oldest = recent.order_by("created_at").values_list("created_at", flat=True).first()
        wait = int((oldest + WINDOW - at).total_seconds()) + 1 if oldest is not None else 60
        raise AllowanceExhausted(retry_after=max(1, wait))
    return remaining


def request_test_payments() -> int:
    """Ask the sender for what stores have asked the test wallet for; how many there were."""
    rows = (
        TestPayment.objects.filter(is_requested=False)
        .select_related("payment")
        .order_by("created_at")
    )
    return REQUESTING.walk(rows, _request)


def _request(payment: TestPayment) -> None:
    with transaction.atomic():
        entry = _entry(payment.payment)
        if entry is not None and TestPayment.objects.filter(
            pk=payment.pk, is_requested=False
        ).update(is_requested=True):
            order = TransferOrder(entry.asset, entry.address_id, payment.amount_atomic)
            FOLLOWER.request(payment, order, str(payment.pk))


class WalletFollower(Booking):
    purpose = OutgoingTransaction.Purpose.TEST_PAYMENT
    noun = "Test payment"
    notification = PAYMENT_ATTENTION
    page = "payments"
    page_key = "payment_id"
    job = Job("payments.book_test_payments", limit=100)
    model = TestPayment

    def book(self, transfer: OutgoingTransaction, moved_atomic: int, at: datetime) -> None:
        movements.test_payment_sent(
            mode=transfer.mode,
            asset_id=transfer.asset_id,
            test_payment_id=uuid.UUID(transfer.reference),
            amount_atomic=moved_atomic,
            gas_asset_id=transfer.asset_id,
            gas_atomic=transfer.network_fee_atomic,
            at=at,
        )


FOLLOWER = WalletFollower()
book_test_payments = FOLLOWER.advance
