"""Requests to be a platform, and the links by which a sub-merchant fills in what its platform may
not. The accounts are stores.

A live destination that came by a link has a confirmation: what the business's contact heard
it, and what they did.
"""

from django.db import models

from apps.core.ids import IdField
from apps.core.models import Owned


class AccessRequest(models.Model):
    """A store asks to manage others; a person decides. One at a time waits."""

    class Status(models.TextChoices):
        PENDING = "pending"
        APPROVED = "approved"
        REJECTED = "rejected"

    id = IdField()
    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.PENDING)
    reason = models.CharField(max_length=2000, null=True)
    rejection_reason = models.CharField(max_length=500, null=True)
    created_at = models.DateTimeField()
    reviewed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store"],
                condition=models.Q(status="pending"),
                name="access_request_one_pending",
            )
        ]
        indexes = [models.Index(fields=["store", "-created_at"], name="access_request_of_store")]

    def __str__(self) -> str:
        return f"{self.store} ({self.status})"


class OnboardingLink(Owned):
    """A link of a platform (`store`) to the pages of one sub-merchant (`account`). Only the hash of
    its token is kept."""

    class Purpose(models.TextChoices):
        ONBOARDING = "onboarding"
        KYB = "kyb", "KYB"
        PAYOUT_DESTINATION = "payout_destination", "Payout destination"

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    account = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    purpose = models.CharField(max_length=18, choices=Purpose.choices)
    return_url = models.CharField(max_length=2048, null=True)
    token_hash = models.BinaryField(max_length=32, unique=True)
    token_prefix = models.CharField(max_length=10)
    expires_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["account", "-created_at"], name="onboarding_link_of_account")
        ]

    @property
    def has_business_step(self) -> bool:
        return self.purpose != self.Purpose.PAYOUT_DESTINATION

    @property
    def has_payout_step(self) -> bool:
        return self.purpose != self.Purpose.KYB


class DestinationConfirmation(Owned):
    """Email to a business's contact (`store`) about a live destination that a link named. Only a
    keyed hash of the code is kept."""

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    link = models.ForeignKey(OnboardingLink, on_delete=models.PROTECT, related_name="+")
    destination = models.OneToOneField(
        "payouts.Destination", on_delete=models.PROTECT, related_name="+"
    )
    contact = models.CharField(max_length=254, blank=True)  # who heard last; empty: nobody yet
    # Till then the contact can stop it; null: nobody was notified yet.
    waits_until = models.DateTimeField(null=True)
    code_hash = models.BinaryField(max_length=32, null=True)
    code_expires_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)  # of the present code that were wrong
    letters = models.PositiveSmallIntegerField(default=0)
    told_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)
    stopped_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["store", "created_at"],
                condition=models.Q(waits_until=None),
                name="confirmation_untold",
            )
        ]
