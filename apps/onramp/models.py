"""Card payments under way, what happened to each, the callbacks that were taken, and the secrets of
the networks.

A session's `status` moves once, from pending. One without a `url` isn't open yet and shown to
nobody.
"""

from django.conf import settings
from django.db import models

from apps.core.ids import IdField
from apps.core.models import ADDRESS_LENGTH, AtomicField, Mode, Owned
from apps.core.money import Fiat
from apps.core.text.regions import in_english
from apps.core.text.words import code_words


class FundingSession(Owned):
    """A customer pays an intent by card: a provider charges the card and sends coins to the
    intent's address."""

    class Status(models.TextChoices):
        PENDING = "pending"
        PAID = "paid"
        EXPIRED = "expired"
        FAILED = "failed"

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    payment = models.ForeignKey(
        "payments.Payment", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    provider = models.CharField(max_length=20)
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.PENDING)
    method_id = models.CharField(max_length=80)
    method_name = models.CharField(max_length=100)
    service_id = models.CharField(max_length=80)
    provider_name = models.CharField(max_length=100)
    amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    destination_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    expected_atomic = AtomicField()
    shortfall_bps = models.PositiveSmallIntegerField(default=0)
    country = models.CharField(max_length=2)
    region = models.CharField(max_length=50, blank=True)
    url = models.CharField(max_length=2048, blank=True)
    provider_txid = models.CharField(max_length=100, null=True)
    expires_at = models.DateTimeField()
    paid_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    next_poll_at = models.DateTimeField()  # by the machine's clock
    is_delivery_due = models.BooleanField(default=False)
    delivery_tx_hash = models.CharField(max_length=66, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_cents__gt=0), name="funding_session_charges_something"
            ),
            models.UniqueConstraint(
                fields=["payment"],
                condition=models.Q(status="pending"),
                name="funding_session_one_pending",
            ),
            models.UniqueConstraint(
                fields=["payment"],
                condition=models.Q(status="paid"),
                name="funding_session_one_paid",
            ),
            models.UniqueConstraint(
                fields=["mode", "provider", "provider_txid"],
                condition=models.Q(provider_txid__isnull=False),
                name="funding_session_txid_once",
            ),
        ]
        indexes = [
            models.Index(fields=["payment", "-created_at"]),
            models.Index(
                fields=["next_poll_at"],
                condition=models.Q(status="pending"),
                name="funding_session_open",
            ),
            models.Index(
                fields=["id"],
                condition=models.Q(is_delivery_due=True),
                name="funding_session_delivery",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider_name} {in_english(Fiat(self.amount_cents, self.currency))}"


class SessionChange(models.Model):
    """A line of a session's history; `source` is who reported it."""

    class Source(models.TextChoices):
        CUSTOMER = "customer"
        CALLBACK = "callback"
        POLL = "poll"
        CLOCK = "clock"
        CARD_PAGE = "card_page", "Card page"

    session = models.ForeignKey(FundingSession, on_delete=models.PROTECT, related_name="changes")
    from_status = models.CharField(max_length=7, null=True)
    to_status = models.CharField(max_length=7)
    source = models.CharField(max_length=9, choices=Source.choices)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]


class Credential(models.Model):
    """A network's key and webhook secret for one mode, of one store or (without one) of all.
    Sealed; nobody reads them back."""

    id = IdField()
    provider = models.CharField(max_length=20)
    mode = models.CharField(max_length=4, choices=Mode.choices)
    store = models.ForeignKey(
        "stores.Store", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    sealed_api_key = models.TextField()
    sealed_webhook_secret = models.TextField(blank=True)
    api_key_hint = models.CharField(max_length=20, blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "mode", "store"],
                condition=models.Q(is_active=True),
                nulls_distinct=False,
                name="onramp_credential_one_active",
            )
        ]

    def __str__(self) -> str:
        return f"{code_words(self.provider)}, {self.mode} mode"

    @property
    def callback_url(self) -> str:
        return f"{settings.API_URL}/api/v2/onramp_callbacks/{self.pk}"

    def place(self, column: str) -> str:
        return f"onramp_credential:{self.pk}:{column}"


class Callback(models.Model):
    """A callback that was taken, by its content: the same one again changes nothing."""

    class Verdict(models.TextChoices):
        APPLIED = "applied"
        NO_CHANGE = "no_change", "No change"
        REFUSED = "refused"
        UNKNOWN = "unknown"

    credential = models.ForeignKey(
        Credential, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    digest = models.CharField(max_length=64)
    session = models.ForeignKey(
        FundingSession, null=True, on_delete=models.PROTECT, related_name="+"
    )
    status = models.CharField(max_length=7)
    verdict = models.CharField(max_length=9, choices=Verdict.choices)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["credential", "digest"], name="onramp_callback_once")
        ]
