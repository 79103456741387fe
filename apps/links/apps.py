from django.apps import AppConfig


class LinksConfig(AppConfig):
    name = "apps.links"
    label = "links"
    default_auto_field = "django.db.models.BigAutoField"
