"""Staff's settings of a store's agents: the authorization provider, and whether draws are sent."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_noop

from apps.stores.models.settings import StoreSettings


class AuthorizationProvider(models.TextChoices):
    """The provider that authorizes an agent's acts."""

    NONE = "none"
    POLICY = "policy"
    HTTP = "http", "HTTP"


class CheckoutSignatures(models.TextChoices):
    """The rule of a store for payments by signature at the checkout: off, or who bears the gas of
    carrying them out."""

    OFF = "off", gettext_noop("Off")
    STORE = "store", gettext_noop("The store pays the network fee")
    CUSTOMER = "customer", gettext_noop("The customer pays the network fee on top")


class AgentSettings(StoreSettings):
    """`authorization_policy` has the rules of POLICY, `authorization_url` is whom HTTP asks."""

    authorization_provider = models.CharField(
        max_length=8, choices=AuthorizationProvider.choices, default=AuthorizationProvider.NONE
    )
    authorization_url = models.URLField(max_length=2048, blank=True)
    authorization_policy = models.JSONField(default=dict, blank=True)
    x402_dispatch = models.BooleanField(default=False)
    checkout_signatures = models.CharField(
        max_length=8,
        choices=CheckoutSignatures.choices,
        default=CheckoutSignatures.OFF,
        db_default=CheckoutSignatures.OFF,
    )

    takes_two: ClassVar[tuple[str, ...]] = (
        "x402_dispatch",
        "authorization_provider",
        "authorization_url",
        "authorization_policy",
    )
    labels: ClassVar = {
        "daily_issuance_cap_atomic": "Most that mandates of a day add up to (atomic units)",
        "max_mandate_cap_atomic": "Highest limit of a mandate (atomic units)",
        "checkout_signatures": "Payments by signature at the checkout",
        "x402_dispatch": "Send agents’ x402 payments on-chain",
    }
