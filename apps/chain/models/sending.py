"""Outgoing coins: hot wallets, holds, transactions and the bytes that were signed for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Cast, Concat

from apps.chain.reasons import Reason
from apps.core.ids import IdField
from apps.core.models import ADDRESS_LENGTH, AtomicField

if TYPE_CHECKING:
    from apps.chain.encoding.transactions import Delegation


class HotWallet(models.Model):
    """A wallet that coins of a chain leave from: a signing lane. Its row is the lock of its nonces;
    while halted nothing is signed with it or sent.

    The first of a chain has number 0 and is named as the chain is, the others `chain:number`.
    """

    id = models.GeneratedField(
        expression=models.Case(
            models.When(number=0, then=models.F("chain_id")),
            default=Concat("chain_id", models.Value(":"), Cast("number", models.CharField())),
        ),
        output_field=models.CharField(max_length=30),
        db_persist=True,
        primary_key=True,
    )
    # Its index is hot_wallet_lane_once.
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    number = models.PositiveSmallIntegerField(default=0, db_default=0)
    address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    next_nonce = models.BigIntegerField()
    halted_at = models.DateTimeField(null=True, blank=True)
    halted_reason = models.CharField(max_length=200, blank=True)
    # Of a halt that may end by itself.
    halted_code = models.CharField(
        max_length=25, blank=True, default="", db_default="", choices=Reason.choices
    )
    # Since then something waits that it has too little for.
    short_since = models.DateTimeField(null=True, blank=True)
    # Of several wallets of a chain, one that can't pay for gas: it sends nothing, and nothing
    # waits for it.
    without_gas_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "number"], name="hot_wallet_lane_once"),
            models.UniqueConstraint(fields=["chain", "address"], name="hot_wallet_address_once"),
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """The database makes the key of a new one, which Django looks for before it is there."""
        self.__dict__.setdefault("id", None)
        super().save(*args, **kwargs)


class SendingHold(models.Model):
    """Staff have stopped signing: of a chain, of an asset, or of everything. Two lift it
    (apps.chain.sending.holds)."""

    chain = models.ForeignKey("assets.Chain", null=True, on_delete=models.PROTECT, related_name="+")
    asset = models.ForeignKey("assets.Asset", null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    placed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    placed_at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True, blank=True)
    lift_reason = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(chain=None) | models.Q(asset=None),
                name="sending_hold_of_one_kind",
            ),
            models.UniqueConstraint(
                fields=["chain", "asset"],
                condition=models.Q(lifted_at=None),
                nulls_distinct=False,
                name="sending_hold_once",
            ),
        ]

    def __str__(self) -> str:
        return f"hold on {self.asset_id or self.chain_id or 'all sending'}"


class OutgoingTransaction(models.Model):
    """A transfer that an app above asked for, by purpose and reference. The `handled_…` columns are
    what that app has acted upon.

    They stay when a reorg undoes the transaction: what was done for it isn't done again when it is
    mined again.
    """

    class Status(models.TextChoices):
        REQUESTED = "requested"
        SIGNED = "signed"
        SUBMITTED = "submitted"
        CONFIRMED = "confirmed"
        FAILED = "failed"  # it moved nothing and never will
        REVIEW = "review"  # only a person may say what became of it

    class Purpose(models.TextChoices):
        REFUND = "refund"
        PAYOUT = "payout"
        SETTLEMENT = "settlement"
        TEST_PAYMENT = "test_payment", "Test payment"
        SWAP = "swap"
        APPROVAL = "approval"  # lets the exchange take the tokens of a swap; moves nothing
        SWEEP = "sweep"  # the only one that leaves a deposit address
        SWEEP_GAS = "sweep_gas", "Gas for a sweep"
        # Carries out the sweeps of many addresses, which are its parts, and pays their gas.
        SWEEP_BATCH = "sweep_batch", "Batch of sweeps"
        JOIN = "join", "Joining of coins"  # stays in the hot wallet, and costs its fee
        COLD = "cold", "Cold storage"
        WITHDRAWAL = "withdrawal"  # the operator's earnings
        X402 = "x402", "x402"  # carries out what a payer has signed; moves nothing of ours

    class WaitsFor(models.TextChoices):
        FUNDS = "funds"  # the hot wallet is short of it
        SWEEP = "sweep"  # it is on its way from deposit addresses
        NETWORK = "network"  # gas is dearer than the ceiling, or the chain can't tell
        TOKEN = "token"  # its token moves nothing for us for now  # noqa: S105  # no password

    id = IdField()
    mode = models.CharField(max_length=4)
    # For whom; null is the service itself. Its index is outgoing_by_store.
    store = models.ForeignKey(
        "stores.Store",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    chain = models.ForeignKey("assets.Chain", on_delete=models.PROTECT, related_name="+")
    asset = models.ForeignKey(
        "assets.Asset", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    purpose = models.CharField(max_length=12, choices=Purpose.choices)
    reference = models.CharField(max_length=100)
    to_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    amount_atomic = AtomicField()
    # Of a call at `to_address`; empty for a plain transfer.
    call_data = models.TextField(blank=True, default="")
    receives_asset = models.ForeignKey(
        "assets.Asset", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    received_atomic = AtomicField(default=0)  # what its receipt says that the hot wallet got
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.REQUESTED)
    handled_status = models.CharField(max_length=9, blank=True, default="")
    handled_fee_atomic = AtomicField(default=0)
    handled_received_atomic = AtomicField(default=0)
    # How often a reorg has taken it back after it was final.
    undone_count = models.PositiveSmallIntegerField(default=0)
    # Why it waits, failed or needs a person, for people.
    reason = models.CharField(max_length=200, blank=True)
    # For code.
    reason_code = models.CharField(
        max_length=25, blank=True, default="", db_default="", choices=Reason.choices
    )
    waits_for = models.CharField(
        max_length=7, choices=WaitsFor.choices, blank=True, default="", db_default=""
    )
    not_before = models.DateTimeField(null=True, blank=True)  # when what waits is looked at again
    # To who paid it in, which no daily cap counts.
    goes_back = models.BooleanField(default=False, db_default=False)
    from_address = models.CharField(max_length=ADDRESS_LENGTH, blank=True, db_collation="C")
    nonce = models.BigIntegerField(null=True, blank=True)
    gas_limit = models.BigIntegerField(null=True, blank=True)
    # The transaction that pays it with coins; of a network that has them, in place of a nonce.
    spend = models.ForeignKey(
        "chain.SpendRecord",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="orders",
        db_index=False,
    )
    # Of a sweep, the transaction of the hot wallet that carries it out with others. Its nonce then
    # is that of its address's delegation, if it needed one.
    batch = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="parts",
        db_index=False,
    )
    # The mined candidate, else the newest.
    tx_hash = models.CharField(max_length=66, blank=True, db_collation="C")
    # Since then its nonce is used and no node has a receipt of it.
    unknown_since = models.DateTimeField(null=True, blank=True)
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True, default="", db_collation="C")
    # In the chain's native coin; paid also when it was reverted.
    network_fee_atomic = AtomicField(default=0)
    # chain.approvals.
    approval = models.CharField(
        max_length=100, blank=True, default="", db_default="", db_collation="C"
    )
    requested_at = models.DateTimeField()
    signed_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Of a batch, what its addresses sign; while the signer works, and only in the signed bytes.
    delegations: Sequence["Delegation"] = ()
    signed_call: str = ""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["purpose", "reference"], name="outgoing_once"),
            models.UniqueConstraint(
                fields=["chain", "from_address", "nonce"],
                condition=models.Q(nonce__isnull=False),
                name="outgoing_nonce_once",
            ),
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="outgoing_is_positive"
            ),
            models.CheckConstraint(
                condition=~models.Q(status__in=["signed", "submitted", "confirmed"])
                | models.Q(nonce__isnull=False)
                | models.Q(spend__isnull=False)
                | models.Q(batch__isnull=False),
                name="outgoing_signed_has_nonce",
            ),
            models.UniqueConstraint(
                fields=["chain", "from_address"],
                condition=models.Q(
                    purpose="sweep",
                    undone_count=0,
                    status__in=["requested", "signed", "submitted", "review"],
                ),
                name="outgoing_one_sweep_per_address",
            ),
        ]
        indexes = [
            models.Index(
                fields=["chain", "requested_at"],
                condition=models.Q(status__in=["requested", "signed", "submitted"]),
                name="outgoing_open",
            ),
            models.Index(
                fields=["purpose", "finished_at"],
                condition=~models.Q(status=models.F("handled_status")),
                name="outgoing_unhandled",
            ),
            models.Index(fields=["asset", "signed_at"], name="outgoing_by_asset"),
            models.Index(
                fields=["spend"],
                condition=models.Q(spend__isnull=False),
                name="outgoing_by_spend",
            ),
            models.Index(
                fields=["batch"],
                condition=models.Q(batch__isnull=False),
                name="outgoing_in_batch",
            ),
            models.Index(
                fields=["chain", "block_number"],
                condition=models.Q(status__in=["confirmed", "failed"]),
                name="outgoing_final",
            ),
            models.Index(
                fields=["chain", "id"],
                condition=models.Q(undone_count__gt=0),
                name="outgoing_undone",
            ),
            models.Index(fields=["store", "asset", "signed_at"], name="outgoing_by_store"),
            models.Index(
                fields=["to_address", "asset"],
                condition=models.Q(goes_back=True),
                name="outgoing_gone_back",
            ),
            models.Index(
                fields=["store", "mode", "-requested_at"],
                condition=models.Q(status="review"),
                name="outgoing_in_review",
            ),
            models.Index(
                fields=["requested_at"],
                condition=models.Q(status="review"),
                name="outgoing_reviews",
            ),
            models.Index(
                fields=["chain", "from_address"],
                condition=models.Q(purpose="sweep"),
                name="outgoing_sweeps",
            ),
            models.Index(
                fields=["chain", "to_address"],
                condition=models.Q(purpose="sweep_gas"),
                name="outgoing_sweep_gas",
            ),
        ]


class Obstacle(models.Model):
    """Something that keeps coins from moving, which isn't for us to remove: the token's issuer, or
    what gas costs. Looked at again until it is gone; then it is kept as over.

    The holder is a hot wallet's or a deposit address; empty is the coin as a whole.
    """

    class Kind(models.TextChoices):
        TOKEN = "token", "The token moves for nobody"
        WALLET = "wallet", "The token refuses our hot wallet"
        ADDRESS = "address", "The token refuses a deposit address"
        GAS = "gas", "Sweeps cost too much"

    asset = models.ForeignKey(
        "assets.Asset", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    holder = models.CharField(max_length=ADDRESS_LENGTH, blank=True, default="", db_collation="C")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    # What waits for it: addresses, and coins. Of a wallet or of the whole token nothing is counted.
    addresses = models.PositiveIntegerField(default=0)
    amount_atomic = AtomicField(default=0)
    # What sweeping one of them would cost now, in the same coins.
    cost_atomic = AtomicField(default=0)
    found_at = models.DateTimeField()
    looked_at = models.DateTimeField()
    next_look_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["asset", "holder", "kind"], name="obstacle_once"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.asset_id} {self.holder}".strip()


class GasLeft(models.Model):
    """A chain's native coin that sweeps have left at a deposit address, as the records say: mostly
    gas that was sent ahead."""

    address = models.ForeignKey(
        "chain.Address", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    amount_atomic = AtomicField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["address", "chain"], name="gas_left_once"),
        ]
        indexes = [models.Index(fields=["chain", "-amount_atomic"], name="gas_left_most")]

    def __str__(self) -> str:
        return f"{self.amount_atomic} at {self.address_id}"


class SignedTransaction(models.Model):
    """The exact bytes that may be broadcast for an outgoing transaction. All of one transaction's
    share its nonce: one can be mined."""

    outgoing = models.ForeignKey(
        OutgoingTransaction, on_delete=models.PROTECT, related_name="candidates"
    )
    tx_hash = models.CharField(max_length=66, unique=True, db_collation="C")
    raw = models.TextField()
    max_fee_wei = AtomicField()
    priority_fee_wei = AtomicField()
    signed_at = models.DateTimeField()
    broadcast_at = models.DateTimeField(null=True, blank=True)
    # How often nodes have refused it, and the last one's words.
    refused_count = models.IntegerField(default=0, db_default=0)
    refusal = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        ordering = ["id"]


class UndoneTransaction(models.Model):
    """An own transaction before a reorg undid it: a line of its history."""

    outgoing = models.ForeignKey(
        OutgoingTransaction, on_delete=models.PROTECT, related_name="undone"
    )
    status = models.CharField(max_length=9)
    tx_hash = models.CharField(max_length=66, db_collation="C")
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66, blank=True, db_collation="C")
    network_fee_atomic = AtomicField()
    found_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]


class UnknownTransaction(models.Model):
    """A transaction of a hot wallet that no record of ours asked for, as a restored backup
    doesn't know what was sent after it.

    Until a person has said what it was (`settled_at`), nothing that would do the same is signed.
    """

    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    from_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    nonce = models.BigIntegerField()
    tx_hash = models.CharField(max_length=66, unique=True, db_collation="C")
    to_address = models.CharField(max_length=ADDRESS_LENGTH, blank=True, db_collation="C")
    value_atomic = AtomicField()
    data = models.TextField(db_collation="C")
    found_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "from_address", "nonce"], name="unknown_nonce_once"
            )
        ]
