"""Records of what waits to be mined: shown to people, never counted, never booked."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.core.models import AtomicField


class SightingRecord(models.Model):
    """A transfer to one of our addresses that no block has yet. The watcher writes them, and a
    deposit is made of a block alone.

    `spends` are the coins that its transaction takes: another one that takes one of them ends it.
    One that `is_private` is mined under another hash, which is `ended_by` then.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting to be mined"
        MINED = "mined", "Mined"
        REPLACED = "replaced", "Replaced by another transaction"
        DROPPED = "dropped", "Dropped by the network"

    id = models.BigAutoField(primary_key=True)
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey(
        "assets.Asset", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    address = models.ForeignKey(
        "chain.Address", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    tx_hash = models.CharField(max_length=66, db_collation="C")
    log_index = models.IntegerField()
    amount_atomic = AtomicField()
    spends = ArrayField(models.CharField(max_length=80, db_collation="C"), default=list)
    is_private = models.BooleanField(default=False)
    is_replaceable = models.BooleanField(default=False)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.WAITING)
    seen_at = models.DateTimeField()
    # No node has had it since, and no block.
    gone_since = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=66, blank=True, default="", db_collation="C")

    class Meta:
        db_table = "chain_sighting"
        constraints = [
            models.UniqueConstraint(fields=["chain", "tx_hash", "log_index"], name="sighting_once"),
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="sighting_is_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(status="waiting", ended_at=None)
                | ~models.Q(status="waiting") & models.Q(ended_at__isnull=False),
                name="sighting_ends_once",
            ),
        ]
        indexes = [
            models.Index(fields=["address", "seen_at"], name="sighting_by_address"),
            models.Index(
                fields=["chain", "seen_at"],
                condition=models.Q(status="waiting"),
                name="sighting_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash}:{self.log_index} {self.status}"
