"""The app, and what `manage.py check` says of the keys in PAYMENT_VARIANTS."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

PROVIDER = "payments_tillgate.provider.TillgateProvider"
TEST_KEY = "svc_sk_test_"


class TillgateConfig(AppConfig):
    name = "payments_tillgate"
    verbose_name = "Tillgate"

    def ready(self) -> None:
        checks.register(check_keys, checks.Tags.security)


def check_keys(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """A shop's mode is its DEBUG: play money buys nothing where that is off, nor real money where
    it is on."""
    found: list[checks.CheckMessage] = []
    for variant, (provider, options) in settings.PAYMENT_VARIANTS.items():
        is_test = str(options.get("api_key", "")).startswith(TEST_KEY)
        if provider != PROVIDER or is_test == settings.DEBUG:
            continue
        problem = (
            f"The variant {variant} has a test key, and DEBUG is off: customers pay with play money"
            if is_test
            else f"The variant {variant} has a live key, and DEBUG is on: tests move real money"
        )
        found.append(checks.Warning(problem, id="payments_tillgate.W001"))
    return found
