"""Records of watched chains: our addresses, blocks, the deposits in them, and unmatched
transfers."""

from django.db import models
from django.utils.translation import gettext_noop

from apps.core.ids import IdField
from apps.core.models import ADDRESS_LENGTH, AtomicField, OptionalAtomicField


class Address(models.Model):
    """An address of this service, as it is stored. Never given out twice."""

    class Purpose(models.TextChoices):
        DEPOSIT = "deposit"
        HOT = "hot"
        # Of a merchant's own wallet; its index is that of apps.chain.own.wallets.
        OWN = "own"

    address = models.CharField(primary_key=True, max_length=ADDRESS_LENGTH, db_collation="C")
    mode = models.CharField(max_length=4)
    index = models.BigIntegerField()
    purpose = models.CharField(max_length=7, choices=Purpose.choices, default=Purpose.DEPOSIT)
    created_at = models.DateTimeField()
    native_chain = models.ForeignKey(
        "assets.Chain", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    # Until then a contract's coins are looked for in its balance.
    watch_balance_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["mode", "purpose", "index"], name="address_index_once")
        ]
        indexes = [
            models.Index(
                fields=["native_chain", "watch_balance_until", "address"],
                condition=models.Q(native_chain__isnull=False),
                name="address_balance_watched",
            )
        ]


class Head(models.Model):
    """Read position of a chain. `synced_at` is when the watcher was last at the tip;
    `tagged_number` the block that nodes name by the network's `finality_tag`, null where they
    don't tell."""

    chain = models.OneToOneField(
        "assets.Chain", primary_key=True, on_delete=models.PROTECT, related_name="+"
    )
    number = models.BigIntegerField()
    hash = models.CharField(max_length=66)
    genesis_hash = models.CharField(max_length=66, blank=True)
    block_time = models.DateTimeField()
    synced_at = models.DateTimeField()
    tagged_number = models.BigIntegerField(null=True, blank=True)


class Block(models.Model):
    """A block that was read. At each height one is canonical; orphaned ones stay as history."""

    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    number = models.BigIntegerField()
    hash = models.CharField(max_length=66, db_collation="C")
    parent_hash = models.CharField(max_length=66, db_collation="C")
    mined_at = models.DateTimeField()
    is_canonical = models.BooleanField(default=True)
    scanned_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "number"],
                condition=models.Q(is_canonical=True),
                name="block_one_canonical",
            ),
            models.UniqueConstraint(fields=["chain", "hash"], name="block_hash_once"),
        ]


class Deposit(models.Model):
    """Coins that arrived at one of our addresses. `handled_status` is the status the app above has
    acted upon."""

    class Status(models.TextChoices):
        CONFIRMING = "confirming"
        CONFIRMED = "confirmed"
        FAILED = "failed"
        UNMATCHED = "unmatched"

    id = IdField()
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    # Its index is deposit_reference_once.
    address = models.ForeignKey(
        Address, on_delete=models.PROTECT, related_name="deposits", db_index=False
    )
    tx_hash = models.CharField(max_length=66, db_collation="C")
    # -1 for the value of the transaction itself, below that for transfers made inside it.
    log_index = models.IntegerField()
    from_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    amount_atomic = AtomicField()
    block_number = models.BigIntegerField(null=True)
    block_hash = models.CharField(max_length=66, blank=True, db_collation="C")
    # By the first block that has had it since it was last off the chain; of one that was seen
    # waiting before, when it was seen.
    mined_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.CONFIRMING)
    handled_status = models.CharField(max_length=10, blank=True, default="")
    required_confirmations = models.PositiveIntegerField()
    detected_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    is_lost = models.BooleanField(default=False)  # a reorg took it away after it was credited
    # What is left at its address may be worth a sweep.
    is_unswept = models.BooleanField(default=True, db_default=True)
    # At its address, when that was found to be worth none.
    left_atomic = OptionalAtomicField(null=True, blank=True)

    is_simulated = models.BooleanField(default=False)
    simulated_reference = models.CharField(max_length=255, null=True, blank=True)
    simulated_confirmations = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "tx_hash", "log_index"], name="deposit_once"),
            # Whole, so that a wider address builds nothing again; what a chain brought has none.
            models.UniqueConstraint(
                fields=["address", "simulated_reference"], name="deposit_reference_once"
            ),
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="deposit_is_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(is_simulated=True) | models.Q(block_number__isnull=False),
                name="deposit_has_block",
            ),
        ]
        indexes = [
            models.Index(
                fields=["detected_at"],
                condition=~models.Q(status=models.F("handled_status"))
                | models.Q(handled_status=""),
                name="deposit_unhandled",
            ),
            models.Index(
                fields=["chain", "block_number"],
                condition=models.Q(status="confirming"),
                name="deposit_confirming",
            ),
            models.Index(
                fields=["chain", "block_number"],
                condition=models.Q(is_lost=True),
                name="deposit_lost",
            ),
            models.Index(fields=["chain", "block_number"], name="deposit_by_block"),
            models.Index(
                fields=["detected_at"],
                condition=models.Q(status="unmatched", confirmed_at=None),
                name="deposit_unexpected",
            ),
            models.Index(
                fields=["chain", "asset", "address"],
                condition=models.Q(
                    is_unswept=True,
                    is_simulated=False,
                    is_lost=False,
                    status="confirmed",
                    handled_status="confirmed",
                ),
                name="deposit_unswept",
            ),
            models.Index(
                fields=["chain", "asset", "-left_atomic"],
                condition=models.Q(is_unswept=False, left_atomic__gt=0),
                name="deposit_set_aside",
            ),
            models.Index(fields=["from_address", "asset"], name="deposit_by_payer"),
        ]


class PayerRecord(models.Model):
    """An address that coins came from: whether somebody's key can move what is sent back to it.
    Addresses that nobody asked about have no row."""

    class Kind(models.TextChoices):
        ACCOUNT = "account", gettext_noop("An account with a key")
        CONTRACT = "contract", "A contract"
        UNPROVEN = "unproven", gettext_noop("Nothing shows that it has a key")
        OURS = "ours", gettext_noop("An address of this service")
        SHARED = "shared", gettext_noop("A wallet that pays for many people")

    id = models.BigAutoField(primary_key=True)
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    tx_hash = models.CharField(max_length=66, db_collation="C")  # of the deposit that was looked at
    checked_at = models.DateTimeField()

    class Meta:
        db_table = "chain_payer"
        constraints = [
            models.UniqueConstraint(fields=["chain", "address"], name="payer_once"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["account", "contract", "unproven", "ours", "shared"]),
                name="payer_kind_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.chain_id} {self.address}: {self.kind}"


class UnmatchedTransfer(models.Model):
    """A transfer to one of our addresses that no payment expects: a wrong token or chain. For
    staff; never credited by itself.

    `store` is whose payment the address was made for, where that is known.
    """

    store = models.ForeignKey(
        "stores.Store", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey("assets.Asset", null=True, on_delete=models.PROTECT, related_name="+")
    contract_address = models.CharField(max_length=42, blank=True)
    address = models.ForeignKey(Address, on_delete=models.PROTECT, related_name="+")
    tx_hash = models.CharField(max_length=66, db_collation="C")
    log_index = models.IntegerField()
    from_address = models.CharField(max_length=ADDRESS_LENGTH)
    amount_atomic = AtomicField()
    block_number = models.BigIntegerField()
    reason = models.CharField(max_length=100)
    detected_at = models.DateTimeField()

    class Outcome(models.TextChoices):
        """Staff's decision about it. The books are changed by corrections alone, never by this."""

        CREDITED = "credited", gettext_noop("Credited to the store")
        RETURNED = "returned", gettext_noop("Returned to the sender")
        KEPT = "kept", gettext_noop("Kept by the service")
        IGNORED = "ignored", gettext_noop("Nothing to do")

    resolved_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(
        max_length=8, choices=Outcome.choices, blank=True, default="", db_default=""
    )
    outcome_reason = models.CharField(max_length=500, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "tx_hash", "log_index"], name="unmatched_transfer_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["store", "-detected_at"],
                condition=models.Q(store__isnull=False),
                name="unmatched_of_store",
            ),
            models.Index(
                fields=["detected_at"], condition=models.Q(resolved_at=None), name="unmatched_open"
            ),
        ]

    def __str__(self) -> str:
        return f"transfer {self.tx_hash}"


class BalanceCheck(models.Model):
    """The last look at an open address that held or sent native coins, which finds what contracts
    sent it."""

    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    address = models.ForeignKey(Address, on_delete=models.PROTECT, related_name="+")
    block_number = models.BigIntegerField()
    balance_atomic = AtomicField(default=0)
    sent_count = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "address"], name="balance_check_once")
        ]


class AddressLook(models.Model):
    """The last block after which the deposits of an address explained what it held: nothing else
    had come to it by `looked_until`. No payment expires without it."""

    address = models.OneToOneField(
        Address, primary_key=True, on_delete=models.PROTECT, related_name="look"
    )
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    block_number = models.BigIntegerField()
    looked_until = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["chain", "block_number"], name="look_by_block"),
            models.Index(fields=["looked_until"], name="look_by_time"),
        ]


class AddressToLook(models.Model):
    """An address that somebody wants compared with the books now. The watcher of its chain looks,
    and deletes the row."""

    address = models.OneToOneField(
        Address, primary_key=True, on_delete=models.PROTECT, related_name="+"
    )
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey(
        "assets.Asset", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asked_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["chain", "asked_at"], name="address_to_look_due")]


class UnexplainedBalance(models.Model):
    """Coins at an address of which no block that was read tells. Open until a block explains them,
    or an operator accepts them with a reason."""

    address = models.ForeignKey(Address, on_delete=models.PROTECT, related_name="+", db_index=False)
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey(
        "assets.Asset", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    block_number = models.BigIntegerField()  # at which it was seen
    amount_atomic = AtomicField()
    found_at = models.DateTimeField()
    looked_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)
    accepted_reason = models.CharField(max_length=500, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["address", "asset"],
                condition=models.Q(settled_at=None),
                name="unexplained_once",
            ),
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="unexplained_is_positive"
            ),
        ]
        indexes = [
            models.Index(
                fields=["found_at"], condition=models.Q(settled_at=None), name="unexplained_open"
            ),
            models.Index(fields=["asset", "address"], name="unexplained_by_asset"),
        ]

    def __str__(self) -> str:
        return f"balance of {self.address_id}"


class BlockToRead(models.Model):
    """A block that was read and is to be read again, because something in it is not booked. The
    watcher deletes it when that is done."""

    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    number = models.BigIntegerField()
    asked_at = models.DateTimeField()
    tried_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "number"], name="block_to_read_once")
        ]
