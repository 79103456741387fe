"""The plugin as pretix lists it."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from . import __version__


class TillgateApp(AppConfig):
    name = "pretix_tillgate"
    verbose_name = "Tillgate"

    class PretixPluginMeta:
        name = author = "Tillgate"
        version = __version__
        category = "PAYMENT"
        description = _("Take crypto payments on Tillgate's hosted checkout.")
        compatibility = "pretix>=2026.1.0"
        settings_links = (
            (
                (_("Payment"), "Tillgate"),
                "control:event.settings.payment.provider",
                {"provider": "tillgate"},
            ),
        )

    def ready(self) -> None:
        from . import signals  # noqa: F401  receivers, once pretix's models are loaded
