"""Events (written with the change they tell of), the endpoints that asked for them, and each
delivery.

A delivery is due at `next_attempt_at` and leased through `claimed_until`. Those that haven't ended
are found in a small table of their own, which is the queue.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from apps.core.models import Owned
from apps.webhooks.reasons import failure_words

RESPONSE_KEPT_BYTES = 1024  # of what a receiver answers


class Event(Owned):
    """Something that happened. `object` is the `data.object` of the envelope; `account` is on a
    platform's copy only."""

    type = models.CharField(max_length=40)
    object = models.JSONField()
    account_id = models.UUIDField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"]),
            BrinIndex(fields=["created_at"], name="event_by_age"),
        ]


class Host(models.Model):
    """A receiver's host that has answered some delivery with 2xx: it wants to be called."""

    name = models.TextField(primary_key=True)
    answered_at = models.DateTimeField()


# The host in a URL, as hosts are compared; an IPv6 address with its brackets.
_HOST = "rtrim(lower(substring(%(expressions)s from '://([[][^]]*[]]|[^/?#:]+)')), '.')"


class Endpoint(Owned):
    """A merchant's receiver."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        DISABLED = "disabled"
        ERROR = "error"

    class Platform(models.TextChoices):
        WOOCOMMERCE = "woocommerce", "WooCommerce"
        PRESTASHOP = "prestashop", "PrestaShop"
        SHOPIFY = "shopify"
        MAGENTO = "magento"
        CUSTOM = "custom"
        N8N = "n8n", "n8n"

    class Format(models.TextChoices):
        """Formats of other services' deliveries that an endpoint may get
        (apps.webhooks.formats)."""

        TILLGATE = "tillgate", "Tillgate"
        BTCPAY = "btcpay", "BTCPay"
        BITPAY = "bitpay", "BitPay"

    url = models.CharField(max_length=2048)
    host = models.GeneratedField(
        expression=models.Func("url", template=_HOST, output_field=models.TextField()),
        output_field=models.TextField(),
        db_persist=True,
    )
    description = models.CharField(max_length=500, blank=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.ACTIVE)
    subscribed_events = ArrayField(models.CharField(max_length=40))
    sealed_secret = models.TextField()
    secret_preview = models.CharField(max_length=15)
    # Whether a platform that acted for the store made the secret, and so knows it already.
    is_secret_of_platform = models.BooleanField(default=False, db_default=False)
    format = models.CharField(
        max_length=8,
        choices=Format.choices,
        default=Format.TILLGATE,
        db_default=Format.TILLGATE.value,
    )
    platform = models.CharField(max_length=11, choices=Platform.choices, null=True, blank=True)
    platform_store_url = models.CharField(max_length=2048, null=True, blank=True)
    metadata = models.JSONField(default=dict)
    api_version = models.CharField(max_length=10)
    verified_at = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)
    # The service has turned the endpoint off and its owners haven't heard yet.
    is_notice_due = models.BooleanField(default=False)

    SECRETS = ("sealed_secret",)

    class Meta:
        base_manager_name = "objects"
        constraints = [
            models.UniqueConstraint(
                fields=["store", "mode"],
                condition=models.Q(platform__isnull=False, deleted_at__isnull=True),
                name="endpoint_one_platform_per_mode",
            ),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"]),
            models.Index(fields=["host"], name="endpoint_of_host"),
            models.Index(
                fields=["updated_at"],
                condition=models.Q(status="error", deleted_at=None),
                name="endpoint_in_error",
            ),
            models.Index(
                fields=["is_notice_due"],
                condition=models.Q(is_notice_due=True),
                name="endpoint_notice_due",
            ),
        ]


class Delivery(Owned):
    """An event on its way to one endpoint. `attempts` counts those that have ended. Its id begins
    with its event's, whenever it was made: both are in one month (decision 430).

    `claimed_until` is the machine's time, every other column store time.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        ATTEMPTING = "attempting"
        DELIVERED = "delivered"
        FAILED = "failed"
        IGNORED = "ignored"

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    # The database refuses to delete an event that has one: pruning doesn't read events for that.
    event = models.ForeignKey(Event, on_delete=models.DO_NOTHING, related_name="+")
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    response_status = models.PositiveSmallIntegerField(null=True)
    response_body = models.TextField(null=True)
    error = models.CharField(max_length=200, null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    delivered_at = models.DateTimeField(null=True)
    is_test = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["endpoint", "-created_at"]),
            BrinIndex(fields=["created_at"], name="delivery_by_age"),
        ]

    @property
    def failure(self) -> str:
        """The error in words."""
        return failure_words(self.error)


class QueuedDelivery(models.Model):
    """A delivery that waits for an attempt or has one under way: few of all there are. Kept by
    triggers on deliveries, and written by nobody else (decision 375)."""

    delivery = models.OneToOneField(
        Delivery,
        on_delete=models.DO_NOTHING,
        primary_key=True,
        related_name="+",
        db_constraint=False,
    )
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    status = models.CharField(max_length=10, choices=Delivery.Status.choices)
    attempts = models.PositiveSmallIntegerField()
    next_attempt_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    # It may be due, as after each change of its delivery: claims read no other, and demote what
    # waits for its time.
    is_ready = models.BooleanField(default=True, db_default=True)

    class Meta:
        indexes = [
            # Walked endpoint by endpoint, so that one with a long queue hides no other.
            models.Index(
                fields=["endpoint", "next_attempt_at"],
                condition=models.Q(status="pending", is_ready=True),
                name="queued_ready",
            ),
            models.Index(
                fields=["next_attempt_at"],
                condition=models.Q(status="pending", is_ready=False),
                name="queued_for_later",
            ),
            models.Index(
                fields=["endpoint", "next_attempt_at"],
                condition=models.Q(status="pending"),
                name="queued_waiting",
            ),
            models.Index(
                fields=["endpoint", "claimed_until"],
                condition=models.Q(status="attempting"),
                name="queued_in_flight",
            ),
        ]


class Attempt(models.Model):
    """An attempt that failed. What the last one brought is on its delivery as well; one that
    arrived is there alone."""

    delivery = models.ForeignKey(
        Delivery, on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    number = models.PositiveSmallIntegerField()
    at = models.DateTimeField()
    response_status = models.PositiveSmallIntegerField(null=True)
    response_body = models.TextField(null=True)
    error = models.CharField(max_length=200, null=True)
    duration_ms = models.PositiveIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["delivery", "-at"], name="attempt_of_delivery"),
            BrinIndex(fields=["at"], name="attempt_by_age"),
        ]
