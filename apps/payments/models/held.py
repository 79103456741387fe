"""Refunds of a rejected payment to senders whom nobody has shown to have a key: held until it is
known where they can go."""

from django.db import models
from django.utils.translation import gettext_noop

from apps.core.ids import IdField
from apps.core.models import ADDRESS_LENGTH, AtomicField, Owned
from apps.payments.models.outgoing import Refund
from apps.payments.models.payments import Payment


class HeldRefund(Owned):
    """The share of one sender in one asset of a rejected payment. A row a sender; its refund, when
    there is one, names it (`Refund.held`)."""

    class Status(models.TextChoices):
        CHECKING = "checking", gettext_noop("The sender is being checked")
        WAITING = "waiting", gettext_noop("Waits for an address")
        SENT = "sent", gettext_noop("A refund was created")
        CLOSED = "closed", gettext_noop("Dealt with by the merchant")

    class Why(models.TextChoices):
        CONTRACT = "contract", gettext_noop("A smart contract sent it")
        UNPROVEN = "unproven", gettext_noop("Nothing shows whose address sent it")
        NOBODY = "nobody", gettext_noop("Its sender can’t be traced")
        OURS = "ours", gettext_noop("It came from an address of this service")
        SHARED = "shared", gettext_noop("A wallet that pays for many people sent it")
        REFUSED = "refused", gettext_noop("The address that paid doesn’t accept it")

    class Proof(models.TextChoices):
        PAYER = "payer", gettext_noop("The sender has a key")
        EMAIL = "email", gettext_noop("The link that was emailed to the customer")
        SIGNATURE = "signature", gettext_noop("A message signed by the sender")

    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="+", db_index=False)
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    payer_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    amount_atomic = AtomicField()
    reason = models.CharField(max_length=18, choices=Refund.Reason.choices)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.CHECKING)
    why = models.CharField(max_length=8, choices=Why.choices, blank=True, default="")
    destination_address = models.CharField(max_length=ADDRESS_LENGTH, null=True, db_collation="C")
    proof = models.CharField(max_length=9, choices=Proof.choices, blank=True, default="")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="held_refund_is_positive"
            ),
            models.UniqueConstraint(
                fields=["payment", "asset", "payer_address"], name="held_refund_once"
            ),
            models.CheckConstraint(
                condition=~models.Q(status="sent")
                | (models.Q(destination_address__isnull=False) & ~models.Q(proof="")),
                name="held_refund_sent_somewhere",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="waiting") | ~models.Q(why=""),
                name="held_refund_waits_for_a_reason",
            ),
        ]
        indexes = [
            models.Index(
                fields=["mode", "created_at"],
                condition=models.Q(status="checking"),
                name="held_refund_checking",
            ),
            models.Index(
                fields=["store", "mode", "-created_at"],
                condition=models.Q(status="waiting"),
                name="held_refund_waiting",
            ),
        ]


class RefundLink(models.Model):
    """A link in an email to a payment's customer, with which an address is given once. Its token is
    kept as a digest alone."""

    id = IdField()
    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    mode = models.CharField(max_length=4)
    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="+")
    token_digest = models.CharField(max_length=64, unique=True, db_collation="C")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")),
                name="refund_link_expires",
            )
        ]


class RefundAddress(Owned):
    """An address that somebody entered on the payment's page without proof. Nothing is sent to it
    unless the merchant confirms it."""

    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="+", db_index=False)
    address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["payment", "address"], name="refund_address_once")
        ]
