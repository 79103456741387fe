"""Emails of customers that payments name, where an index finds them beneath the policies."""

from django.db import models

from apps.core.models import OwnedQuerySet
from apps.payments.models.payments import Payment

EMAIL_LENGTH = 254  # longer ones are no addresses, and no index takes them


class PaymentEmail(models.Model):
    """`customer_email` of a payment's metadata in small letters. A row of those that name one. Kept
    by triggers on payments, and written by nobody else."""

    payment = models.OneToOneField(
        Payment,
        on_delete=models.DO_NOTHING,
        primary_key=True,
        related_name="+",
        db_constraint=False,
    )
    store = models.ForeignKey(
        "stores.Store",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    mode = models.CharField(max_length=4)
    email = models.CharField(max_length=EMAIL_LENGTH, db_collation="C")
    created_at = models.DateTimeField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["store", "mode", "email", "-created_at"],
                include=["payment"],
                name="payment_email_newest",
            )
        ]

    def __str__(self) -> str:
        return self.email
