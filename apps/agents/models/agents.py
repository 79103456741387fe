"""Limits of software agents (mandates, draws on them, payout caps), and payments that they signed
for stores (x402).

A mandate's spent_atomic is the sum of its settlements that have not failed, and never above its
cap; the database refuses more.
"""

from django.db import models

from apps.core.models import AtomicField, OptionalAtomicField, Owned


class Mandate(Owned):
    """An envelope that a person's rules allowed once, and that the agent draws on."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        EXHAUSTED = "exhausted"
        REVOKED = "revoked"
        EXPIRED = "expired"

    credential = models.ForeignKey(
        "access.AgentCredential", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    mandate_ref = models.CharField(max_length=255)
    scope = models.CharField(max_length=255)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.ACTIVE)
    total_cap_atomic = AtomicField()
    per_call_cap_atomic = OptionalAtomicField(null=True)
    spent_atomic = AtomicField(default=0)
    authorization_provider = models.CharField(max_length=8)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["credential", "mandate_ref"], name="mandate_ref_once_per_credential"
            ),
            models.CheckConstraint(
                condition=models.Q(total_cap_atomic__gt=0), name="mandate_cap_is_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    spent_atomic__gte=0, spent_atomic__lte=models.F("total_cap_atomic")
                ),
                name="mandate_never_overspent",
            ),
            models.CheckConstraint(
                condition=models.Q(per_call_cap_atomic__isnull=True)
                | models.Q(per_call_cap_atomic__gt=0),
                name="mandate_call_cap_is_positive",
            ),
        ]
        indexes = [
            models.Index(fields=["credential", "-created_at"]),
            models.Index(fields=["store", "mode", "-created_at"]),
            models.Index(fields=["-created_at", "-id"], name="mandate_newest_of_all"),
            models.Index(
                fields=["expires_at"],
                condition=models.Q(status__in=["active", "exhausted"]),
                name="mandate_to_expire",
            ),
        ]

    @property
    def remaining_atomic(self) -> int:
        return self.total_cap_atomic - self.spent_atomic


class StatusStep(models.Model):
    """A change of a status."""

    from_status = models.CharField(max_length=9, null=True)
    to_status = models.CharField(max_length=9)
    at = models.DateTimeField()

    class Meta:
        abstract = True
        ordering = ["id"]


class NotedStep(StatusStep):
    """A change of a status with its reason."""

    note = models.CharField(max_length=200, blank=True)

    class Meta(StatusStep.Meta):
        abstract = True


class MandateStep(StatusStep):
    mandate = models.ForeignKey(Mandate, on_delete=models.PROTECT, related_name="steps")


class Settlement(Owned):
    """A draw on a mandate. `is_dispatched` was decided at creation: only then does anything leave
    on the chain."""

    class Status(models.TextChoices):
        PENDING = "pending"
        SUBMITTED = "submitted"
        CONFIRMED = "confirmed"
        FAILED = "failed"

    mandate = models.ForeignKey(Mandate, on_delete=models.PROTECT, related_name="+", db_index=False)
    credential = models.ForeignKey(
        "access.AgentCredential", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PENDING)
    amount_atomic = AtomicField()
    nonce = models.CharField(max_length=255)
    pay_to = models.CharField(max_length=255, null=True)
    payer = models.CharField(max_length=255, null=True)
    requirements = models.JSONField(null=True)
    is_dispatched = models.BooleanField()
    tx_ref = models.CharField(max_length=66, null=True)
    failure_reason = models.CharField(max_length=200, null=True)
    updated_at = models.DateTimeField()
    idempotency_key = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["credential", "idempotency_key"], name="settlement_idempotency_key_once"
            ),
            models.UniqueConstraint(fields=["mandate", "nonce"], name="settlement_nonce_once"),
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gte=0), name="settlement_never_negative"
            ),
        ]
        indexes = [
            models.Index(fields=["credential", "-created_at"]),
            models.Index(fields=["store", "mode", "-created_at"]),
            models.Index(fields=["-created_at", "-id"], name="settlement_newest_of_all"),
            models.Index(
                fields=["created_at"],
                condition=models.Q(status__in=["pending", "submitted"], is_dispatched=True),
                name="settlement_to_dispatch",
            ),
        ]


class SettlementStep(NotedStep):
    settlement = models.ForeignKey(Settlement, on_delete=models.PROTECT, related_name="steps")


class AgentPayoutCap(models.Model):
    """A merchant's payout cap for one credential and asset, per payout and per UTC day; null is no
    cap of its own."""

    credential = models.ForeignKey(
        "access.AgentCredential", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    per_tx_atomic = OptionalAtomicField(null=True)
    daily_atomic = OptionalAtomicField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["credential", "asset"], name="agent_payout_cap_once"),
            models.CheckConstraint(
                condition=models.Q(per_tx_atomic__isnull=False)
                | models.Q(daily_atomic__isnull=False),
                name="agent_payout_cap_caps",
            ),
        ]


class PaymentOffer(Owned):
    """A resource's price over x402: one asset of one intent. An authorization must be for exactly
    this amount and address."""

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    payment = models.OneToOneField("payments.Payment", on_delete=models.PROTECT, related_name="+")
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    pay_to = models.OneToOneField("chain.Address", on_delete=models.PROTECT, related_name="+")
    amount_atomic = AtomicField()
    resource = models.CharField(max_length=2048)
    description = models.CharField(max_length=500, null=True)
    mime_type = models.CharField(max_length=100, null=True)
    timeout_seconds = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="offer_is_positive"
            )
        ]


# Of contracts: a passkey's has some 700.
SIGNATURE_BYTES_MAX = 1500


class SignedPayment(Owned):
    """An authorization that a payer has signed for an offer, distinguished by what the token knows
    it by: the payer and the nonce.

    `answered_at` is when the caller heard of its success, which happens once. One that is
    `is_elsewhere` was carried out by a transaction that isn't ours. One that is `is_of_checkout`
    was signed on the payment's page, by the store's rule for such payments.
    """

    class Status(models.TextChoices):
        VERIFIED = "verified"
        SUBMITTED = "submitted"
        UNKNOWN = "unknown"  # nobody waits for it any more, and its end isn't known yet
        SETTLED = "settled"
        FAILED = "failed"

    offer = models.ForeignKey(PaymentOffer, on_delete=models.PROTECT, related_name="+")
    chain = models.ForeignKey(
        "assets.Chain", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    contract_address = models.CharField(max_length=42, db_collation="C")
    payer = models.CharField(max_length=42, db_collation="C")
    nonce = models.CharField(max_length=66, db_collation="C")
    amount_atomic = AtomicField()
    valid_after = AtomicField()
    valid_before = AtomicField()
    signature = models.CharField(max_length=2 + 2 * SIGNATURE_BYTES_MAX)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.VERIFIED)
    tx_hash = models.CharField(max_length=66, blank=True, default="")
    failure_reason = models.CharField(max_length=200, blank=True, default="")
    is_elsewhere = models.BooleanField(default=False, db_default=False)
    is_of_checkout = models.BooleanField(default=False, db_default=False)
    answered_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "contract_address", "payer", "nonce"], name="signed_payment_once"
            ),
            models.UniqueConstraint(
                fields=["offer"],
                condition=~models.Q(status="failed"),
                name="signed_payment_one_per_offer",
            ),
            models.CheckConstraint(
                condition=models.Q(is_elsewhere=False) | ~models.Q(tx_hash=""),
                name="signed_payment_elsewhere_is_named",
            ),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"]),
            models.Index(
                fields=["updated_at"],
                condition=models.Q(status__in=["verified", "submitted", "unknown"]),
                name="signed_payment_open",
            ),
        ]

    @property
    def on_top_atomic(self) -> int:
        """So much of it is for the network's fee, which the customer pays on top of the price."""
        on_top: int = self.amount_atomic - self.offer.amount_atomic
        return on_top


class SignedPaymentStep(NotedStep):
    signed = models.ForeignKey(SignedPayment, on_delete=models.PROTECT, related_name="steps")
