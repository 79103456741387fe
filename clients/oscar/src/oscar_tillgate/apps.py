"""The app. Orders follow their payments by signals."""

from django.apps import AppConfig


class OscarTillgateConfig(AppConfig):
    name = "oscar_tillgate"
    verbose_name = "Tillgate"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import following  # noqa: F401
