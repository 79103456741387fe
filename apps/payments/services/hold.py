"""Effect of a payment under way elsewhere on its intent: the app above decides, the intent only
keeps it.

An intent is held open past its deadline for a while, and only for the coins that are on their way:
others are late after it. Coins of a card provider never go back to their sender by themselves.
"""

import uuid
from datetime import datetime

from django.db.models import F, Func, Value
from django.db.models.functions import Greatest

from apps.core import clock, jobs
from apps.payments import states
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services import attention

CARD_REFUND = "card_refund"
DUST_REFUND = "dust_refund"
OWN_REFUND = "own_refund"  # the coins are in the merchant's own wallet
HELD_REFUND = "held_refund"  # something waits for an address (services.held_refunds)


def begin_card_funding(payment: Payment, until: datetime, asset_id: str) -> None:
    """Somebody has started to pay by card: whatever comes counts as the provider's, and the intent
    waits for these coins of it."""
    assets_before = payment.held_open_assets if payment.held_open_until else []
    assets = sorted({*assets_before, asset_id})
    Payment.objects.filter(pk=payment.pk).update(
        is_card_funded=True, held_open_until=until, held_open_assets=assets
    )
    payment.is_card_funded = True
    payment.held_open_until = until
    payment.held_open_assets = assets


def hold_open(payment_id: uuid.UUID, until: datetime | None, *, shortfall_bps: int = 0) -> None:
    """Hold an intent open until then, or no longer; `shortfall_bps` is what the card may cost the
    store, which counts as paid."""
    rows = Payment.objects.filter(pk=payment_id)
    rows.update(
        held_open_until=until, **({"card_shortfall_bps": shortfall_bps} if shortfall_bps else {})
    )
    if until is None:
        jobs.enqueue("payments.expire_due")


def expect_on_top(payment_id: uuid.UUID, asset_id: str, surcharge_atomic: int) -> None:
    """Expect so much more than the price, for the network's fee."""
    rows = PaymentAddress.objects.filter(payment=payment_id, asset=asset_id)
    rows.update(surcharge_atomic=surcharge_atomic)


def keep_pending(payment_id: uuid.UUID, until: datetime, asset_id: str) -> bool:
    """Hold an intent that nobody has paid open for these coins until then at least; False when it
    isn't pending any more."""
    pending = Payment.objects.filter(pk=payment_id, status=states.PENDING)
    and_these = Func(F("held_open_assets"), Value(asset_id), function="array_append")
    return bool(
        pending.update(
            held_open_until=Greatest("held_open_until", Value(until)), held_open_assets=and_these
        )
    )


def flag_card_refund(payment: Payment) -> None:
    """A person must find out who paid by card and send the coins there."""
    flag(payment, CARD_REFUND)
    attention.refund_by_hand(payment, CARD_REFUND)


def flag_dust_refund(payment: Payment) -> None:
    """Flags a refund worth less than its cost: the merchant decides."""
    flag(payment, DUST_REFUND)
    attention.refund_by_hand(payment, DUST_REFUND)


def flag_own_refund(payment: Payment) -> None:
    """The coins are in the merchant's own wallet, so the merchant sends them back."""
    flag(payment, OWN_REFUND)
    attention.refund_by_hand(payment, OWN_REFUND)


def flag(payment: Payment, why: str) -> None:
    """Keep why the payment needs a person; "" when it doesn't any more."""
    Payment.objects.filter(pk=payment.pk).update(needs_attention=why)
    payment.needs_attention = why


def settle_card_refund(payment: Payment, *, is_sent: bool) -> None:
    """A refund was asked for: one that was sent settles the flag, one that was held back raises
    it."""
    if is_sent and payment.needs_attention in (CARD_REFUND, DUST_REFUND):
        flag(payment, "")
    elif not is_sent and payment.is_card_funded and payment.status in states.REFUNDABLE:
        flag_card_refund(payment)


def is_past_deadline(payment: Payment) -> bool:
    return payment.deadline <= clock.now(payment.store, payment.mode)
