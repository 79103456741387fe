from django.apps import AppConfig
from prometheus_client import REGISTRY


class ConsoleConfig(AppConfig):
    name = "apps.console"
    label = "console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.console.figures import Figures  # models exist from here on

        REGISTRY.register(Figures())
