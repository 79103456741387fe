"""An order follows its payment: what was paid and refunded is in its payment source, what its owner
has to know in its notes. Whatever is told twice is written once."""

from typing import Any

from django.conf import settings
from django.db.models.signals import post_save
from django.db.transaction import atomic
from django.dispatch import receiver
from django.utils.translation import gettext as _
from oscar.core.loading import get_class, get_model
from payments import PaymentStatus
from payments.signals import status_changed

from .checkout import SOURCE
from .models import Payment

PAID = (PaymentStatus.CONFIRMED, PaymentStatus.REFUNDED)


def paid_status() -> str:
    return getattr(settings, "OSCAR_TILLGATE_PAID_STATUS", "Being processed")


def note(order: Any, text: str) -> None:
    model = get_model("order", "OrderNote")
    order.notes.create(message=text, note_type=model.SYSTEM)


@receiver(status_changed, sender=Payment, dispatch_uid="tillgate_note")
def note_change(sender: type[Payment], instance: Payment, **_kwargs: Any) -> None:
    order = instance.order()
    if order is None:
        return
    if instance.status == PaymentStatus.REJECTED:
        note(order, _("The crypto payment ended unpaid: %s") % instance.message)
    source = _sources(instance).first()
    is_second = source is not None and instance.token not in _debits(source)
    if instance.status == PaymentStatus.CONFIRMED and is_second:
        note(order, _("It was paid twice: refund payment %s, too") % instance.transaction_id)


@receiver(post_save, sender=Payment, dispatch_uid="tillgate_follow")
@atomic
def follow(sender: type[Payment], instance: Payment, **_kwargs: Any) -> None:
    if instance.status not in PAID:
        return
    source = _sources(instance).select_for_update().first()
    if source is None:
        return
    if not _debits(source):
        _pay(source, instance)
    elif instance.token in _debits(source):
        _refund(source, instance)


def _sources(payment: Payment) -> Any:
    return get_model("payment", "Source").objects.filter(
        order__number=payment.order_number,
        source_type__code=SOURCE["code"],
        amount_allocated=payment.total,
        currency=payment.currency,
    )


def _debits(source: Any) -> list[str]:
    rows = source.transactions.filter(txn_type="Debit")
    return list(rows.values_list("reference", flat=True))


def _pay(source: Any, payment: Payment) -> None:
    order = source.order
    source.debit(payment.total, payment.token, _("Paid"))
    if paid_status() in order.available_statuses():
        handler = get_class("order.processing", "EventHandler")()
        handler.handle_order_status_change(order, paid_status(), _("Paid with crypto"))
    else:
        text = _("Paid with crypto, and left in the status %s")
        note(order, text % (order.status or "-"))


def _refund(source: Any, payment: Payment) -> None:
    """Those that are under way count; one that fails later is taken back."""
    difference = payment.total - payment.captured_amount - source.amount_refunded
    if difference > 0:
        source.refund(difference, payment.token, _("Refund"))
    elif difference < 0:
        source.refund(difference, payment.token, _("Refund failed"))
        note(source.order, payment.message or _("A refund failed"))
