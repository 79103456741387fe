from django.apps import AppConfig


class OnrampConfig(AppConfig):
    name = "apps.onramp"
    label = "onramp"
    default_auto_field = "django.db.models.BigAutoField"
