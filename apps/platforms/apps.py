from django.apps import AppConfig


class PlatformsConfig(AppConfig):
    name = "apps.platforms"
    label = "platforms"
    default_auto_field = "django.db.models.BigAutoField"
