"""E-invoices on their way to buyers through a network."""

from django.db import models

from apps.billing.models.credit import CreditNote
from apps.billing.models.invoices import Invoice
from apps.core.models import Owned


class EInvoiceDelivery(Owned):
    """A finalized invoice, or one of its credit notes, on its way through a network: `content` goes
    as it is in every attempt, under the ID of this row. After a refusal there may be another one
    of the same document; else there is one."""

    class Network(models.TextChoices):
        PEPPOL = "peppol", "Peppol"
        KSEF = "ksef", "KSeF"

    class Status(models.TextChoices):
        QUEUED = "queued"  # the network wasn't asked
        SENDING = "sending"  # the network was asked; what became of it isn't known
        DELIVERED = "delivered"
        REFUSED = "refused"

    invoice = models.ForeignKey(
        Invoice, on_delete=models.PROTECT, related_name="deliveries", db_index=False
    )
    credit_note = models.ForeignKey(
        CreditNote, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    network = models.CharField(max_length=10, choices=Network.choices)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.QUEUED)
    sender = models.CharField(max_length=100)
    receiver = models.CharField(max_length=100)
    # Of the sender.
    country = models.CharField(max_length=2)
    content = models.TextField()
    # What finds the document in a network that knows no ID of ours; the number and the receipt that
    # the network gave it.
    trace = models.CharField(max_length=100, default="", blank=True, db_default="")
    number = models.CharField(max_length=50, default="", blank=True, db_default="")
    receipt = models.TextField(default="", blank=True, db_default="")
    attempts = models.PositiveIntegerField(default=0)
    # The last outage, or the refusal, in the network's words.
    error = models.CharField(max_length=500, default="", blank=True)
    next_attempt_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["invoice", "network"],
                condition=models.Q(credit_note__isnull=True) & ~models.Q(status="refused"),
                name="e_invoice_delivered_once",
            ),
            models.UniqueConstraint(
                fields=["credit_note", "network"],
                condition=models.Q(credit_note__isnull=False) & ~models.Q(status="refused"),
                name="credit_note_delivered_once",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=["queued", "sending"], ended_at__isnull=True)
                | models.Q(
                    status__in=["delivered", "refused"],
                    ended_at__isnull=False,
                    next_attempt_at__isnull=True,
                ),
                name="e_invoice_delivery_ends",
            ),
        ]
        indexes = [
            models.Index(fields=["invoice", "created_at"], name="e_invoice_delivery_of"),
            models.Index(
                fields=["next_attempt_at"],
                condition=models.Q(next_attempt_at__isnull=False),
                name="e_invoice_delivery_due",
            ),
        ]
