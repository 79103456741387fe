from django.apps import AppConfig
from prometheus_client import REGISTRY


class ChainConfig(AppConfig):
    name = "apps.chain"
    label = "chain"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.chain.metrics import ChainCollector  # models exist from here on

        REGISTRY.register(ChainCollector())
