from django.apps import AppConfig


class SwapsConfig(AppConfig):
    name = "apps.swaps"
    label = "swaps"
    default_auto_field = "django.db.models.BigAutoField"
