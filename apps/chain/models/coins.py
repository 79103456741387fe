"""Coins of networks where what was received is spent whole: ours, and the transactions that spend
them, each for many orders."""

from django.db import models

from apps.core.models import ADDRESS_LENGTH, AtomicField


class SpendRecord(models.Model):
    """A transaction of ours that pays orders with coins. All of its candidates take its first coin,
    so that one of them is mined."""

    id = models.BigAutoField(primary_key=True)
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    wallet_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    # Of its first coin.
    first_tx_hash = models.CharField(max_length=66, db_collation="C")
    first_output = models.IntegerField()
    created_at = models.DateTimeField()
    # Since then it is buried, or a person has to say what became of it.
    ended_at = models.DateTimeField(null=True, blank=True)
    mined_as = models.CharField(max_length=66, blank=True, default="", db_collation="C")

    class Meta:
        db_table = "chain_spend"
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "first_tx_hash", "first_output"],
                condition=models.Q(ended_at=None),
                name="spend_first_coin_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["chain", "id"],
                condition=models.Q(ended_at=None),
                name="spend_open",
            )
        ]

    def __str__(self) -> str:
        return f"spend {self.pk}"


class SpendCandidate(models.Model):
    """The exact bytes that may be sent for a spend, with its plan: what each order bears of the
    fee, and the change."""

    id = models.BigAutoField(primary_key=True)
    spend = models.ForeignKey(SpendRecord, on_delete=models.PROTECT, related_name="candidates")
    tx_hash = models.CharField(max_length=66, unique=True, db_collation="C")
    raw = models.TextField()
    plan = models.JSONField()
    fee_atomic = AtomicField()
    signed_at = models.DateTimeField()
    broadcast_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "chain_spendcandidate"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.tx_hash


class CoinRecord(models.Model):
    """An output of ours, as a block has brought it: at a deposit address, whose index is its key's,
    or at a hot wallet. Without a block it isn't there."""

    id = models.BigAutoField(primary_key=True)
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    tx_hash = models.CharField(max_length=66, db_collation="C")
    output = models.IntegerField()
    address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    is_deposit = models.BooleanField()
    amount_atomic = AtomicField()
    block_number = models.BigIntegerField(null=True, blank=True)
    # The block from which on it may be spent.
    usable_from = models.BigIntegerField()
    # The transaction of ours that takes it, and the one of a block that has taken it.
    spend = models.ForeignKey(
        SpendRecord, null=True, blank=True, on_delete=models.PROTECT, related_name="coins"
    )
    spent_by = models.CharField(max_length=66, blank=True, default="", db_collation="C")
    spent_number = models.BigIntegerField(null=True, blank=True)

    class Meta:
        db_table = "chain_coin"
        constraints = [
            models.UniqueConstraint(fields=["chain", "tx_hash", "output"], name="coin_once"),
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="coin_is_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(spent_by="", spent_number=None)
                | ~models.Q(spent_by="") & models.Q(spent_number__isnull=False),
                name="coin_is_spent_in_a_block",
            ),
        ]
        indexes = [
            models.Index(
                fields=["chain", "usable_from"],
                condition=models.Q(spend=None, spent_by=""),
                name="coin_unspent",
            ),
            models.Index(fields=["chain", "block_number"], name="coin_by_block"),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash}:{self.output}"
