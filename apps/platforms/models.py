"""Who asked to be a platform, and the links by which a sub-merchant fills in what its platform may not. The accounts are stores."""

import uuid

from django.db import models

from apps.core.models import Owned


class AccessRequest(models.Model):
    """A store asks to manage others; a person decides. One at a time waits."""

    class Status(models.TextChoices):
        PENDING = "pending"
        APPROVED = "approved"
        REJECTED = "rejected"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.PENDING)
    reason = models.CharField(max_length=2000, null=True)
    rejection_reason = models.CharField(max_length=500, null=True)
    created_at = models.DateTimeField()
    reviewed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["store"], condition=models.Q(status="pending"), name="access_request_one_pending")]
        indexes = [models.Index(fields=["store", "-created_at"], name="access_request_of_store")]

    def __str__(self) -> str:
        return f"{self.store} ({self.status})"


class OnboardingLink(Owned):
    """A link of a platform (`store`) to the pages of one sub-merchant (`account`). Only the hash of its token is kept."""

    class Purpose(models.TextChoices):
        ONBOARDING = "onboarding"
        KYB = "kyb"
        PAYOUT_DESTINATION = "payout_destination"

    account = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    purpose = models.CharField(max_length=18, choices=Purpose.choices)
    return_url = models.CharField(max_length=2048, null=True)
    token_hash = models.BinaryField(max_length=32, unique=True)
    token_prefix = models.CharField(max_length=10)
    expires_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["account", "-created_at"], name="onboarding_link_of_account")]

    @property
    def has_business_step(self) -> bool:
        return self.purpose != self.Purpose.PAYOUT_DESTINATION

    @property
    def has_payout_step(self) -> bool:
        return self.purpose != self.Purpose.KYB
