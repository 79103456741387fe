"""Staff's settings of a store's payouts, apart from its caps."""

from typing import ClassVar

from django.db import models

from apps.stores.models.settings import StoreSettings


class PaysNetworkFee(models.TextChoices):
    """Payer of a payout's gas."""

    SERVICE = "service"
    MERCHANT = "merchant"


class PayoutSettings(StoreSettings):
    """A threshold, in cents of the settlement currency, is the worth above which staff look at a
    payout first; null: at none."""

    payout_network_fee = models.CharField(
        max_length=8, choices=PaysNetworkFee.choices, default=PaysNetworkFee.SERVICE
    )
    payout_review_threshold_cents = models.BigIntegerField(null=True, blank=True)
    review_new_destinations = models.BooleanField(default=False)
    # Of a platform: whether it may pay out a sub-merchant's coins to any address.
    platform_may_pay_out = models.BooleanField(default=False)

    terms: ClassVar = (
        "payout_network_fee",
        "payout_review_threshold_cents",
        "review_new_destinations",
        "platform_may_pay_out",
    )
    labels: ClassVar = {
        "payout_network_fee": "Network fee of payouts is paid by",
        "payout_review_threshold_cents": "Payouts are reviewed above",
        "platform_may_pay_out": "May pay out for its sub-merchants",
        "review_new_destinations": "Payouts to new destinations are reviewed",
    }
