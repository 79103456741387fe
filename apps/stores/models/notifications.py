"""Notifications of a store's people, and each person's channels."""

from django.conf import settings
from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from apps.core.models import Owned


class Notification(Owned):
    """Something that has happened to a store, recorded once: by kind and subject. Written in the
    transaction of what happened."""

    kind = models.CharField(max_length=30)
    subject = models.CharField(max_length=100)
    title = models.CharField(max_length=200)
    text = models.CharField(max_length=500, blank=True)
    path = models.CharField(max_length=300)
    # as text that the title has too, "€24.90" or "0.5 ETH"; empty: none
    amount = models.CharField(max_length=100, blank=True, default="", db_default="")
    told_at = models.DateTimeField(null=True)  # its emails were queued; null: not yet

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store", "mode", "kind", "subject"], name="notification_once"
            )
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="notification_of_store"),
            BrinIndex(fields=["created_at"], name="notification_by_age"),
            models.Index(
                fields=["created_at"],
                condition=models.Q(told_at=None),
                name="notification_waiting",
            ),
        ]


class NotificationChoice(models.Model):
    """A person's channels for one kind and store, by email and in the dashboard; without a row or a
    choice, the table of kinds decides."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=30)
    choice = models.CharField(max_length=11)  # of emails; empty: none was made
    is_shown = models.BooleanField(null=True)  # in the dashboard; null: no choice was made

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store", "user", "kind"], name="notification_choice_once"
            )
        ]
