from django.apps import AppConfig


class StoresConfig(AppConfig):
    name = "apps.stores"
    label = "stores"
    default_auto_field = "django.db.models.BigAutoField"
