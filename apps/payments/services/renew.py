"""A new quote for an expired intent: another one of the same order, at the rates of now, for a
customer who came too late.

Each expired intent gets one at most, no matter who asks how often. Nothing is renewed once money
was seen for it.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from apps.access.access import Access
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.chain.selectors import are_looked_at
from apps.core import clock
from apps.core.errors import Failure
from apps.core.money import text_from_cents
from apps.payments import states
from apps.payments.models import Payment, PaymentEvent, Renewal
from apps.payments.requests import EXPIRES_IN_MAX, EXPIRES_IN_MIN, LineItem, PaymentRequest
from apps.payments.selectors import renewed_as
from apps.payments.services.change_status import locked_payment
from apps.payments.services.create import create_payment
from apps.payments.services.looks import Untold, is_judged_by_clock, look_now
from apps.stores.staff.suspensions import Suspension, is_suspended

# An older order is the merchant's to price again.
OFFERED_FOR = timedelta(days=7)


class NotRenewable(Failure):
    message = "This payment can't be renewed"


def renew_payment(payment: Payment) -> Payment:
    """The intent that takes its place, made by the first call. Raises NotRenewable, or what
    creating an intent raises. Not inside a transaction: the chains are asked."""
    if is_renewable(payment) and look_now(payment) == Untold.COINS:
        raise NotRenewable
    with transaction.atomic():
        locked = locked_payment(payment.pk)
        renewal = renewed_as(locked)
        if renewal is not None:
            return renewal
        if not is_renewable(locked):
            raise NotRenewable
        access = Access.for_public(locked.store, locked.mode)
        later, _ = create_payment(access, _request(locked), renews=locked)
        Renewal.objects.create(earlier=locked, later=later, created_at=later.created_at)
        return later


def is_renewable(payment: Payment) -> bool:
    """Its time ran out, nothing has come or is on its way, and the merchant leaves the price to us.
    Its store is loaded."""
    store = payment.store
    at = clock.now(payment.store, payment.mode)
    if (
        payment.status != states.EXPIRED
        or not store.offers_new_quotes
        or store.deleted_at is not None
        or is_suspended(store, Suspension.PAYMENTS)
    ):
        return False
    # An agent decides about the payments it asks for; a card that was charged sends its coins
    # later.
    if (
        payment.agent_credential_id is not None
        or payment.is_card_funded
        or payment.expires_at + OFFERED_FOR < at
    ):
        return False
    return not (_is_canceled(payment) or _has_come(payment)) and _was_looked_at(payment)


def _is_canceled(payment: Payment) -> bool:
    """True if the payment was ended before its time, so that it isn't wanted any more."""
    if payment.state_reason != states.EXPIRED_TIMEOUT:
        return True
    ends = PaymentEvent.objects.filter(payment=payment, event_type=states.EVENTS[states.EXPIRED])
    return ends.filter(created_at__lt=payment.expires_at).exists()


def _has_come(payment: Payment) -> bool:
    """A deposit at one of its addresses, in any coin, has come. What failed moved nothing."""
    addresses = payment.addresses.values("address_id")
    is_deposited = (
        Deposit.objects.filter(address_id__in=addresses)
        .exclude(status=Deposit.Status.FAILED)
        .exists()
    )
    return is_deposited or UnmatchedTransfer.objects.filter(address_id__in=addresses).exists()


def _was_looked_at(payment: Payment) -> bool:
    """Past its deadline, at each of its addresses on a chain that is read; before this version
    payments expired without."""
    if is_judged_by_clock(payment):
        return True
    chains = {chain for chain, urls in settings.CHAIN_URLS.items() if urls}
    addresses = payment.addresses.filter(asset__chain__in=chains)
    return are_looked_at(list(addresses.values_list("address_id", flat=True)), payment.deadline)


def _request(payment: Payment) -> PaymentRequest:
    """As the first one was asked for, to be paid in as much time."""
    return PaymentRequest(
        amount=text_from_cents(payment.settlement_amount_cents),
        currency=payment.settlement_currency,
        success_url=payment.success_url,
        failed_url=payment.failed_url,
        order_id=payment.order_id,
        title=payment.title,
        description=payment.description,
        image_url=payment.image_url,
        expires_in=lifetime_seconds(payment.created_at, payment.expires_at),
        metadata=payment.metadata,
        line_items=[LineItem(**item) for item in payment.line_items],
        customer_pays_fee=payment.customer_pays_fee,
    )


def lifetime_seconds(created_at: datetime, expires_at: datetime) -> int:
    return min(max(int((expires_at - created_at).total_seconds()), EXPIRES_IN_MIN), EXPIRES_IN_MAX)
