"""Number of a platform's merchants. Kept by triggers on stores and verifications, and written by
nobody else."""

from django.db import models


class CountedMerchant(models.Model):
    """A store as the counts have it: its platform, if any, and the kind."""

    store = models.OneToOneField(
        "stores.Store",
        on_delete=models.DO_NOTHING,
        primary_key=True,
        related_name="+",
        db_constraint=False,
    )
    platform_id = models.UUIDField(null=True)
    is_activated = models.BooleanField(default=False)
    is_verified = models.BooleanField(default=False)
    is_pending = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.store_id} of {self.platform_id}"


class MerchantCount(models.Model):
    """A part of what a platform, whose store it is, has: the counts are the sums of its rows, one
    and one more for each change that was made while another was."""

    store = models.ForeignKey(
        "stores.Store", on_delete=models.DO_NOTHING, related_name="+", db_constraint=False
    )
    accounts = models.IntegerField()
    activated = models.IntegerField()
    verified = models.IntegerField()
    pending = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.accounts} of {self.store_id}"
