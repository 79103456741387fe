from django.apps import AppConfig


class HostedConfig(AppConfig):
    name = "apps.hosted"
    label = "hosted"
    default_auto_field = "django.db.models.BigAutoField"
