"""Wallets of merchants that their customers' coins go to, and since when an asset goes to which."""

from django.db import models

from apps.core.models import Owned
from apps.stores.models.person_fields import optional_person

CONTENT_MAX = 1000


class OwnWallet(Owned):
    """A merchant's wallet, by what gives addresses of it; the service has no key of it.

    `number` is that of its addresses (apps.chain.own.wallets), `next_index` the first that nobody
    was given. Nothing else of a wallet ever changes.
    """

    class Kind(models.TextChoices):
        KEY = "key", "Extended public key"
        FORWARDER = "forwarder", "Address behind forwarders"

    number = models.BigIntegerField(unique=True)
    family = models.CharField(max_length=10)
    # The one network that its addresses are of; null where they are the same on all of a family.
    chain = models.ForeignKey(
        "assets.Chain", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=9, choices=Kind.choices)
    # An extended public key, a descriptor, or an address.
    content = models.CharField(max_length=CONTENT_MAX)
    fingerprint = models.CharField(max_length=64)
    next_index = models.BigIntegerField(default=0)

    class Meta:
        base_manager_name = "objects"
        constraints = [
            models.UniqueConstraint(fields=["fingerprint"], name="own_wallet_once"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["key", "forwarder"]), name="own_wallet_kind_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(number__gt=0, number__lt=2**31, next_index__lte=2**31),
                name="own_wallet_numbers_fit",
            ),
        ]
        indexes = [models.Index(fields=["store", "mode"], name="own_wallet_of_store")]

    def __str__(self) -> str:
        return f"own wallet {self.number}"


class WalletChoice(Owned):
    """From `active_from` on customers' coins of an asset go to the wallet; without one they are
    held by the service.

    The owners are notified first, by a worker, which alone says when it begins.
    """

    asset = models.ForeignKey(
        "assets.Asset", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    wallet = models.ForeignKey(
        OwnWallet, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asked_by = optional_person()
    told_at = models.DateTimeField(null=True)
    active_from = models.DateTimeField(null=True)
    stopped_at = models.DateTimeField(null=True)
    # Why it doesn't begin yet, for the store.
    waits_for = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        base_manager_name = "objects"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(active_from=None)
                | models.Q(told_at__isnull=False, active_from__gte=models.F("told_at")),
                name="wallet_choice_is_told_first",
            )
        ]
        indexes = [
            models.Index(
                fields=["store", "mode", "asset", "-active_from"], name="wallet_choice_of_asset"
            ),
            models.Index(
                fields=["created_at"],
                condition=models.Q(told_at=None, stopped_at=None),
                name="wallet_choice_untold",
            ),
        ]

    def __str__(self) -> str:
        return f"wallet of {self.asset_id}"
