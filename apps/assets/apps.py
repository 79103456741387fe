from django.apps import AppConfig


class AssetsConfig(AppConfig):
    name = "apps.assets"
    label = "assets"
    default_auto_field = "django.db.models.BigAutoField"
