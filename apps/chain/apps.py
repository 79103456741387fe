from django.apps import AppConfig


class ChainConfig(AppConfig):
    name = "apps.chain"
    label = "chain"
    default_auto_field = "django.db.models.BigAutoField"
