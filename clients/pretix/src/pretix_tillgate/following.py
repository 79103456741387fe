"""A pretix payment becomes what its payment in Tillgate is. Events only say which one to read: they
come twice, late and out of order."""

from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Min
from pretix.base.models import OrderPayment, OrderRefund, Quota

from .payment import Tillgate, identity

if TYPE_CHECKING:
    from tillgate import models

UNPAID = ("created", "pending", "failed")
CAUGHT_UP = "caught_up_to"
OVERLAP_SECONDS = 30
STRAY = "Coins came late or in another coin: accept them or send them back in Tillgate"


def follow_event(provider: Tillgate, event: "models.WebhookEvent") -> None:
    """Other events, and payments of others, are none of this shop's."""
    told = event.data.object
    if "payment_intent_id" in told and _named(provider, told.get("metadata") or {}):
        follow(provider, told["payment_intent_id"])


def catch_up(provider: Tillgate) -> None:
    """Everything since the newest event known, or the first payment, in the way of deliveries."""
    mine = OrderPayment.objects.filter(provider=provider.identifier, order__event=provider.event)
    began = mine.aggregate(first=Min("created"))["first"].timestamp()
    known = int(provider.settings.get(CAUGHT_UP) or began)
    missed = []
    for event in provider.client().events.list(per_page=100):
        if event.created < known - OVERLAP_SECONDS:
            break
        missed.append(event)
    for event in reversed(missed):
        follow_event(provider, event)
    if missed:
        provider.settings.set(CAUGHT_UP, missed[0].created)


def _named(provider: Tillgate, metadata: dict[str, Any]) -> OrderPayment | None:
    """The payment whose mark is in the metadata."""
    number = str(metadata.get("pretix", "")).partition(" ")[0]
    mine = OrderPayment.objects.filter(provider=provider.identifier, order__event=provider.event)
    found = mine.filter(pk=number).first() if number.isdecimal() else None
    return found if found and provider.mark(found) == metadata["pretix"] else None


def follow(provider: Tillgate, remote_id: str) -> None:
    client = provider.client()
    remote = client.payments.retrieve(remote_id)
    found = _named(provider, remote.metadata)
    if found is None or remote.livemode == found.order.testmode:
        return
    with transaction.atomic():
        payment = OrderPayment.objects.select_for_update(of=("self",)).get(pk=found.pk)
        _bring(payment, remote)
        if payment.info_data.get("id") == remote.id:
            _bring_refunds(payment, remote, list(client.refunds.list(remote.id)))


def _bring(payment: OrderPayment, remote: "models.PaymentIntentDetail") -> None:
    asked = (Decimal(remote.settlement_amount), remote.settlement_currency)
    if asked != (payment.amount, payment.order.event.currency):
        _remember(payment, note=f"{remote.reference} is of another amount, and doesn't count")
        return
    is_paid = _is_paid(payment, remote)
    followed = payment.info_data.get("id")
    is_next = remote.renewal_of == followed and remote.status == "processing"
    if not followed or (payment.state in UNPAID and (is_paid or is_next)):
        _remember(payment, **identity(remote))
    elif remote.id != followed:
        return
    paid = f"{remote.amount_paid} {remote.settlement_currency}"
    _remember(
        payment, status=remote.status, reason=remote.state_reason, paid=paid, note=_note(remote)
    )
    if is_paid and payment.state != "refunded":
        # Sold out meanwhile: the payment counts, and the organizer decides about the order.
        with suppress(Quota.QuotaExceededException):
            payment.confirm()
    elif remote.status == "processing" and payment.state in UNPAID:
        payment.state = OrderPayment.PAYMENT_STATE_PENDING
        payment.save(update_fields=["state"])
    elif remote.status in ("expired", "failed", "refunded") and payment.state in UNPAID:
        payment.fail(info=payment.info)


def _is_paid(payment: OrderPayment, remote: "models.PaymentIntentDetail") -> bool:
    """Completed once, even if refunded since; or late, and accepted in full."""
    was_completed = any(event.to_status == "completed" for event in remote.payment_events)
    return was_completed or Decimal(remote.accepted_late_amount) >= payment.amount


def _note(remote: "models.PaymentIntentDetail") -> str:
    if any(one.undecided for one in (*remote.transactions, *remote.late_deposits)):
        return STRAY
    is_short = Decimal(remote.amount_paid) < Decimal(remote.settlement_amount)
    return "See the payment in Tillgate" if remote.status == "completed" and is_short else ""


def _bring_refunds(
    payment: OrderPayment, remote: "models.PaymentIntentDetail", sent: list["models.Refund"]
) -> None:
    """Refunds begun here are done once confirmed; those begun in Tillgate are recorded."""
    known = {one.info_data.get("id"): one for one in payment.refunds.all()}
    for one in sent:
        refund = known.get(one.id)
        if refund and refund.state == OrderRefund.REFUND_STATE_TRANSIT:
            if one.status == "confirmed":
                refund.done()
            elif one.status == "failed":
                refund.state = OrderRefund.REFUND_STATE_FAILED
                refund.save(update_fields=["state"])
        elif not refund and one.status == "confirmed" and payment.state == "confirmed":
            worth = _worth(payment, remote, one)
            payment.create_external_refund(worth, info=f'{{"id": "{one.id}"}}')


def _worth(
    payment: OrderPayment, remote: "models.PaymentIntentDetail", sent: "models.Refund"
) -> Decimal:
    """Coins at the rate that was locked for the payment."""
    due = {
        address.supported_asset.asset_id: int(address.crypto_amount_atomic)
        for address in remote.payment_addresses
    }
    worth = payment.amount * int(sent.amount_atomic) / (due.get(sent.asset_id) or 1)
    return min(payment.amount, worth.quantize(Decimal("0.01")))


def _remember(payment: OrderPayment, **values: str | None) -> None:
    payment.info_data = {**payment.info_data, **values}
    payment.save(update_fields=["info"])
